//! Compares whole archives with those of archive 2.8.0, recorded in `golden.tsv`: case, size of the output file, the
//! first eight bytes of its SHA-256 (`-`: no file), error (`-`: none).

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use super::{ArchiveRequest, ArchiveSource, Output, create};

const KINDS: [&str; 2] = ["zip", "tar.gz"];

struct Recording {
    outputs: HashMap<&'static str, &'static str>,
    wrong: Vec<String>,
    cases: usize,
}

impl Recording {
    fn new() -> Recording {
        let outputs = include_str!("golden.tsv").lines().filter_map(|line| line.split_once('\t')).collect();
        Recording { outputs, wrong: Vec::new(), cases: 0 }
    }

    fn check(&mut self, id: &str, kind: &str, mode: &str, source: ArchiveSource) {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("out");
        let request = ArchiveRequest {
            kind: kind.to_owned(),
            output_path: output.to_str().unwrap().to_owned(),
            file_mode: Some(mode.to_owned()),
            source,
        };
        let error = match create(&request) {
            Ok(_) => "-".to_owned(),
            Err(failure) => {
                assert_eq!(failure.summary, "Archive creation error");
                // The recording has neither the operation nor the tests' folder.
                let detail = failure.detail.trim_start_matches("error creating archive: ");
                let detail = detail.split_once(": ").map_or(detail, |(_, rest)| rest);
                detail.replace(&*tree_prefix(&request), "")
            }
        };
        let found = match Output::of_file(&output) {
            Ok(written) => format!("{}\t{}\t{error}", written.size, &written.sha256[..16]),
            Err(_) => format!("0\t-\t{error}"),
        };
        self.cases += 1;
        if self.outputs.get(id) != Some(&found.as_str()) {
            self.wrong.push(format!("{id}: {found}; {:?}", self.outputs.get(id)));
        }
    }
}

fn tree_prefix(request: &ArchiveRequest) -> String {
    let path = match &request.source {
        ArchiveSource::Directory { path, .. } | ArchiveSource::File(path) => path,
        ArchiveSource::Contents(_) => return "\0".to_owned(),
    };
    format!(
        "{}/",
        Path::new(path).ancestors().find(|p| p.join("tree").exists() && p.join("other").exists()).unwrap().display()
    )
}

fn contents(pairs: &[(&str, &str)]) -> ArchiveSource {
    ArchiveSource::Contents(
        pairs.iter().map(|(name, content)| (name.to_string(), content.to_string())).collect::<BTreeMap<_, _>>(),
    )
}

#[test]
fn contents_have_the_bytes_of_the_reference() {
    let names = [
        "a.txt".to_owned(),
        "dir/".to_owned(),
        format!("long/{}/b.txt", "n".repeat(90)),
        "n".repeat(101),
        format!("{}f", "p/".repeat(120)),
        "é".repeat(60),
        "é.txt".to_owned(),
        "a\\b".to_owned(),
        "a~b".to_owned(),
        "/abs/x".to_owned(),
        "../up".to_owned(),
        String::new(),
        format!("{}/tail/{}", "q".repeat(99), "r".repeat(100)),
        format!("é/{}/t", "s".repeat(120)),
    ];
    let mut recording = Recording::new();
    for kind in KINDS {
        for (i, name) in names.iter().enumerate() {
            for content in ["", "salt"] {
                for mode in ["", "0666", "-1", "04000000", "0x7fffffff"] {
                    if mode.is_empty() || (kind == "tar.gz" && i <= 3) {
                        let id = format!("content {kind} {i} {} {mode}", content.len());
                        recording.check(&id, kind, mode, contents(&[(name, content)]));
                    }
                }
            }
        }
        let several = contents(&[("b", "2"), ("B", "1"), ("a/b", "3"), ("é", "4")]);
        recording.check(&format!("several {kind}"), kind, "", several);
    }
    assert_eq!(recording.wrong, Vec::<String>::new());
    assert_eq!(recording.cases, 90);
}

/// Text that repeats near the maximum match distance, so that the output depends on the portions.
fn far(size: usize) -> String {
    let mut number = 0x9e37_79b9_7f4a_7c15_u64;
    let mut out: Vec<u8> = Vec::with_capacity(size);
    while out.len() < size {
        if out.len() >= 32766 {
            out.push(out[out.len() - 32766]);
            continue;
        }
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        out.push(b' ' + ((number >> 32) % 95) as u8);
    }
    String::from_utf8(out).unwrap()
}

#[test]
fn portions_are_those_of_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("far");
    fs::create_dir(&path).unwrap();
    let mut contents = BTreeMap::new();
    for (i, size) in [230_000, 97_777, 65_000, 33_000, 32_500].into_iter().enumerate() {
        contents.insert(i.to_string(), far(size));
        fs::write(path.join(i.to_string()), far(size)).unwrap();
    }
    let path = path.to_str().unwrap().to_owned();
    let mut recording = Recording::new();
    for kind in KINDS {
        recording.check(&format!("far contents {kind}"), kind, "", ArchiveSource::Contents(contents.clone()));
        let source =
            ArchiveSource::Directory { path: path.clone(), excludes: Vec::new(), exclude_symlink_directories: false };
        recording.check(&format!("far files {kind}"), kind, "0644", source);
    }
    assert_eq!(recording.wrong, Vec::<String>::new());
}

/// The tree that the recording was made from.
#[cfg(unix)]
fn make_tree(root: &Path) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    for folder in ["tree/sub/deep", "tree/void", "other"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    let names = ["tree/a", "tree/b.txt", "tree/sub/c.txt", "tree/sub/deep/d", "tree/z", "other/o"];
    let modes = [0o4755, 0o3640, 0o644, 0o644, 0o444, 0o644];
    for (i, (name, mode)) in names.iter().zip(modes).enumerate() {
        fs::write(root.join(name), name.repeat(i * 3000)).unwrap();
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    symlink("../../other", root.join("tree/sub/link")).unwrap();
    symlink("b.txt", root.join("tree/y")).unwrap();
    symlink("tree", root.join("root")).unwrap();
}

#[cfg(unix)]
#[test]
fn files_and_directories_have_the_bytes_of_the_reference() {
    let cases: [(&str, &str, &[&str], bool); 13] = [
        ("tree", "", &[], false),
        ("tree", "", &[], true),
        ("root", "", &[], false),
        ("root", "", &[], true),
        ("tree/", "0644", &["sub/deep", "z"], false),
        ("./tree", "rw", &[], false),
        ("tree", "020000000644", &["**/*.txt"], false),
        ("tree", "", &["*", "[a"], false),
        ("tree", "", &["", "sub/link/**"], false),
        ("tree/void", "", &[], false),
        ("tree", "", &["{a,b*}", "s?b"], false),
        ("none", "", &[], false),
        ("tree/a", "", &[], false),
    ];
    let folder = tempfile::tempdir().unwrap();
    make_tree(folder.path());
    let full = |path: &str| format!("{}/{path}", folder.path().display());
    let mut recording = Recording::new();
    for kind in KINDS {
        for (i, (path, mode, excludes, exclude_symlink_directories)) in cases.into_iter().enumerate() {
            let excludes = excludes.iter().map(|pattern| pattern.to_string()).collect();
            let source = ArchiveSource::Directory { path: full(path), excludes, exclude_symlink_directories };
            recording.check(&format!("directory {kind} {i}"), kind, mode, source);
        }
        for (i, path) in ["tree/a", "tree/y", "tree/b.txt", "other/o", "none"].into_iter().enumerate() {
            recording.check(&format!("file {kind} {i}"), kind, "", ArchiveSource::File(full(path)));
        }
    }
    assert_eq!(recording.wrong, Vec::<String>::new());
    assert_eq!(recording.cases, 36);
}

#[cfg(unix)]
#[test]
fn cyclic_links_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a"), "a").unwrap();
    std::os::unix::fs::symlink(".", root.join("loop")).unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let request = ArchiveRequest {
        kind: "zip".to_owned(),
        output_path: path(&folder.path().join("out")),
        file_mode: None,
        source: ArchiveSource::Directory {
            path: path(&root),
            excludes: Vec::new(),
            exclude_symlink_directories: false,
        },
    };
    let failure = create(&request).unwrap_err();
    assert!(failure.detail.ends_with("loop leads to a directory that contains it"), "{}", failure.detail);
}

#[test]
fn errors_name_the_step_that_failed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let attempt = |kind: &str, output: &str| {
        let output_path = folder.path().join(output).to_str().unwrap().to_owned();
        create(&ArchiveRequest { kind: kind.to_owned(), output_path, file_mode: None, source: contents(&[("a", "b")]) })
    };
    assert_eq!(attempt("zip", "new/folder/o.zip").unwrap().size, 123);
    let failure = attempt("rar", "o.rar").unwrap_err();
    assert_eq!(failure.summary, "Archive creation error");
    assert_eq!(failure.detail, "error creating archive: archive type not supported: rar");
    let failure = attempt("zip", "file/sub/o.zip").unwrap_err();
    assert_eq!(failure.summary, "Output path error");
}
