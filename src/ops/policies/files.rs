//! Files of policies and of tests of them: found at the paths that a command is given, and read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::files::{FileKind, Files, reason};
use base::source::SourceFile;

use crate::setup::root::Root;

/// The summary where files of policies cannot be found or read.
const UNREADABLE: &str = "Failed to read policies";

/// The files with this ending at a path, in the order of their names: the path itself, or all in the folder and in the folders below
/// it, but for hidden ones. None is an error.
pub fn find(root: &Root, path: &Path, ending: &str) -> Result<Vec<PathBuf>, Diagnostic> {
    let kind = root.metadata(path).map_err(|error| unreadable(path, &reason(&error)))?.kind;
    if kind != FileKind::Directory {
        return match path.to_string_lossy().ends_with(ending) {
            true => Ok(vec![path.to_path_buf()]),
            false => Err(unreadable(path, &format!("its name does not end in {ending:?}"))),
        };
    }
    let mut found = Vec::new();
    let mut open = vec![path.to_path_buf()];
    let mut seen = BTreeSet::new();
    while let Some(folder) = open.pop() {
        let place = root.path(&folder);
        // A link may lead to a folder above it.
        if !seen.insert(std::fs::canonicalize(&place).unwrap_or(place)) {
            continue;
        }
        let entries = root.list(&folder).map_err(|error| unreadable(&folder, &reason(&error)))?;
        for entry in entries.into_iter().filter(|entry| !entry.name.starts_with('.')) {
            let inside = if folder == Path::new(".") { PathBuf::from(&entry.name) } else { folder.join(&entry.name) };
            if entry.is_dir {
                open.push(inside);
            } else if entry.name.ends_with(ending) {
                found.push(inside);
            }
        }
    }
    if found.is_empty() {
        return Err(unreadable(path, &format!("there is no file *{ending} in it")));
    }
    found.sort();
    Ok(found)
}

/// The texts of the files with this ending at the paths, each once.
pub fn read(root: &Root, paths: &[PathBuf], ending: &str) -> (Vec<Arc<SourceFile>>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut files: Vec<PathBuf> = Vec::new();
    for path in paths {
        match find(root, path, ending) {
            Ok(found) => files.extend(found),
            Err(problem) => diagnostics.push(problem),
        }
    }
    let mut seen = BTreeSet::new();
    files.retain(|file| seen.insert(file.clone()));
    let mut sources = Vec::new();
    for file in &files {
        match source(root, file) {
            Ok(source) => sources.push(source),
            Err(problem) => diagnostics.push(problem),
        }
    }
    (sources, diagnostics)
}

/// The text of a file.
pub fn source(root: &Root, file: &Path) -> Result<Arc<SourceFile>, Diagnostic> {
    match root.read_to_string(file) {
        Ok(text) => Ok(SourceFile::new(file.display().to_string(), text)),
        Err(error) => {
            let detail = format!("The file {} cannot be read: {}.", file.display(), reason(&error));
            Err(Diagnostic::error(UNREADABLE, detail))
        }
    }
}

fn unreadable(path: &Path, why: &str) -> Diagnostic {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    Diagnostic::error(UNREADABLE, format!("The policies at {} cannot be used: {why}.", path.display()))
}

#[cfg(test)]
mod tests {
    use base::dialect::Dialect;

    use super::*;

    const ENDING: &str = ".policy.hcl";

    #[test]
    fn files_are_found_in_folders_and_read_once() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        };
        for name in
            ["b.policy.hcl", "a/z.policy.hcl", "a/t.policytest.hcl", ".hidden/x.policy.hcl", "main.tf", "empty/x"]
        {
            put(name);
        }
        let root = Root::of(Dialect::default(), dir.path()).unwrap();
        let found = |path: &str| {
            let found = find(&root, Path::new(path), ENDING).map_err(|problem| problem.detail);
            found.map(|all| all.iter().map(|it| it.to_string_lossy().replace('\\', "/")).collect::<Vec<String>>())
        };
        assert_eq!(found(".").unwrap(), ["a/z.policy.hcl", "b.policy.hcl"]);
        assert_eq!(found("a").unwrap(), ["a/z.policy.hcl"]);
        assert_eq!(found("b.policy.hcl").unwrap(), ["b.policy.hcl"]);
        let errors = [
            ("empty", "The policies at empty cannot be used: there is no file *.policy.hcl in it."),
            ("main.tf", "The policies at main.tf cannot be used: its name does not end in \".policy.hcl\"."),
            ("none", "The policies at none cannot be used: no such file or directory."),
        ];
        for (path, expected) in errors {
            assert_eq!(found(path).unwrap_err(), expected);
        }
        let (sources, problems) = read(&root, &["a".into(), ".".into(), "none".into()], ENDING);
        let names: Vec<String> = sources.iter().map(|source| source.name().replace('\\', "/")).collect();
        assert_eq!((names, problems.len()), (vec!["a/z.policy.hcl".to_owned(), "b.policy.hcl".to_owned()], 1));
    }
}
