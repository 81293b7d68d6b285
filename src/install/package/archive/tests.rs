//! Archives of every kind, good and bad, written byte by byte.

use std::collections::BTreeSet;
use std::fs;

use proptest::prelude::*;

use super::*;

const PROGRAM: &str = "terraform-provider-foo_v1.0.0";
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;

/// An entry as the archive's bytes say, sense or not.
#[derive(Clone, Debug)]
struct Made {
    name: Vec<u8>,
    /// With the bits of the kind; None: made on a system that knows none.
    mode: Option<u32>,
    method: u16,
    flags: u16,
    content: Vec<u8>,
    /// What the archive says that the content's length and checksum are, where that is not the truth.
    length: Option<u32>,
    crc: Option<u32>,
}

fn entry(name: &str, mode: u32, content: &str) -> Made {
    let (name, content) = (name.into(), content.into());
    Made { name, mode: Some(mode), method: 8, flags: 0x800, content, length: None, crc: None }
}

fn file(name: &str) -> Made {
    entry(name, FILE | 0o755, "x")
}

fn program() -> Made {
    entry(PROGRAM, FILE | 0o755, "#!")
}

fn zip_of(entries: &[Made]) -> Vec<u8> {
    let (mut out, mut list) = (Vec::new(), Vec::new());
    for made in entries {
        let packed = match made.method {
            8 => {
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(&made.content).unwrap();
                encoder.finish().unwrap()
            }
            _ => made.content.clone(),
        };
        let mut crc = flate2::Crc::new();
        crc.update(&made.content);
        let mut common = Vec::new();
        for number in [20, made.flags, made.method, 0, 0x21] {
            common.extend(number.to_le_bytes());
        }
        let length = made.length.unwrap_or(made.content.len() as u32);
        for number in [made.crc.unwrap_or(crc.sum()), packed.len() as u32, length] {
            common.extend(number.to_le_bytes());
        }
        common.extend((made.name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        let start = out.len() as u32;
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(&made.name);
        out.extend(packed);
        list.extend(b"PK\x01\x02");
        list.extend([20, if made.mode.is_some() { 3 } else { 0 }]);
        list.extend(common);
        list.extend([0; 6]);
        list.extend((made.mode.unwrap_or(0) << 16).to_le_bytes());
        list.extend(start.to_le_bytes());
        list.extend(&made.name);
    }
    let (start, count) = (out.len() as u32, entries.len() as u16);
    out.extend(&list);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend((list.len() as u32).to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

/// A folder with `a.zip`, and what staging it to `out/v/linux` gave.
fn staged(bytes: &[u8], limits: &Limits) -> (tempfile::TempDir, Result<Staged, PackageError>) {
    let dir = tempfile::tempdir().unwrap();
    let (archive, target) = (dir.path().join("a.zip"), dir.path().join("out/v/linux"));
    fs::write(&archive, bytes).unwrap();
    let result = stage(&archive, &target, &Provider::default_for("foo"), limits, &Stop::new());
    (dir, result)
}

/// Every path below a folder.
fn below(dir: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if fs::symlink_metadata(&path).unwrap().is_dir() {
                folders.push(path.clone());
            }
            found.insert(path);
        }
    }
    found
}

/// Recorded from the reference's lock files.
#[test]
fn hashes_are_those_that_lock_files_hold() {
    let folder = |name: &str| entry(name, 0o040_755, "");
    let cases: Vec<(Vec<Made>, &str)> = vec![
        (vec![program()], "h3cEd1xB2ZzV3IgoIv3d79U+5JsQVf20HR/6tglNw0M="),
        (
            vec![program(), entry("d/e/f.txt", FILE | 0o600, "x"), folder("d/"), folder("empty/")],
            "LVGdlwbsILDOwcaNrR+d7PoQ4oIkbvK3HxkehMtaxSg=",
        ),
        (
            vec![entry(&format!("./{PROGRAM}"), FILE | 0o755, "#!"), entry("./d/./g", FILE | 0o755, "y")],
            "fG9gwnyokvhNdWQEnudCBdthjTYS84BSlY4fXr6JTFY=",
        ),
        (vec![program(), entry("d//g", FILE | 0o755, "y")], "fG9gwnyokvhNdWQEnudCBdthjTYS84BSlY4fXr6JTFY="),
        (vec![program(), entry("d\\g", FILE | 0o755, "y")], "Iqwp7O5niyTpI2+HLLbSRw6901dQ2JOXaTICzUfcKZU="),
        (vec![program(), entry("lnk", LINK | 0o777, PROGRAM)], "zD+h6Nlwv+k2VCHjwSPfKgExDEWx6djyIhk/xadndi8="),
        (vec![program(), file("a..b")], "KHFcZkicyF7RsAOgxrlVubRQwZaymvTQVmPJPymkUHo="),
        (vec![program(), file("hé")], "YKzTWISj6d3D0RKHmMB1NeAFeETPv/DkrQ9KEiPuPtk="),
    ];
    for (entries, expected) in cases {
        let (dir, result) = staged(&zip_of(&entries), &Limits::default());
        let unpacked = result.unwrap().finish().unwrap();
        assert_eq!(unpacked.hashes.unpacked.value(), expected);
        assert_eq!(hash::of_dir(&unpacked.dir).unwrap(), unpacked.hashes.unpacked);
        assert_eq!(hashes_of(&dir.path().join("a.zip")).unwrap(), unpacked.hashes);
        assert_eq!(unpacked.executable, dir.path().join("out/v/linux").join(PROGRAM));
        assert!(below(dir.path()).iter().all(|path| !fs::symlink_metadata(path).unwrap().is_symlink()));
    }
}

/// As the reference's `providers mirror` has them in its index: over the entries' own names, those of folders too.
#[test]
fn the_archive_s_own_hash_is_over_its_names() {
    let entries = [program(), entry("d/", 0o040_755, ""), entry("d/./g", FILE | 0o644, "y")];
    let (_dir, result) = staged(&zip_of(&entries), &Limits::default());
    let hashes = result.unwrap().hashes().clone();
    let sum = |content: &str| hex(&Sha256::digest(content));
    let line = |name: &str, content: &str| (name.to_owned(), sum(content));
    assert_eq!(hashes.archive, hash::combine(vec![line(PROGRAM, "#!"), line("d/", ""), line("d/./g", "y")]));
    assert_eq!(hashes.unpacked, hash::combine(vec![line(PROGRAM, "#!"), line("d/g", "y")]));
}

#[test]
fn bad_archives_are_refused_and_leave_nothing() {
    let good = zip_of(&[program(), file("README")]);
    let flipped = {
        let mut bytes = good.clone();
        let at = 30 + PROGRAM.len() + 1;
        bytes[at] ^= 0x55;
        bytes
    };
    let zip = |more: Made| zip_of(&[program(), more]);
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("garbage", b"no archive at all, but quite some text".repeat(9), "zip: not a valid zip file: "),
        ("nothing", vec![], "zip: not a valid zip file: "),
        ("cut short", good[..good.len() / 2].to_vec(), "zip: not a valid zip file: "),
        ("without the end", good[..good.len() - 4].to_vec(), "zip: not a valid zip file: "),
        ("bytes changed", flipped, "the entry \"terraform-provider-foo_v1.0.0\": "),
        ("wrong checksum", zip(Made { crc: Some(1), ..file("a") }), "zip: checksum error"),
        ("longer than said", zip(Made { length: Some(0), ..file("a") }), "larger than its declared uncompressed size"),
        ("shorter than said", zip(Made { length: Some(9), ..file("a") }), "not as long as the archive says"),
        ("empty", zip_of(&[]), "empty archive"),
        ("up", zip(file("../evil")), "entry contains '..': "),
        ("up, inside", zip(file("d/../h")), "entry contains '..': "),
        ("absolute", zip(file("/tmp/evil")), "is an absolute path"),
        ("no name", zip(file(".")), "has no name"),
        ("line break", zip(file("a\nb")), "has a name that cannot be a file's"),
        ("zero byte", zip(file("a\0b")), "has a name that cannot be a file's"),
        ("not UTF-8", zip(Made { name: vec![b'a', 0xff], flags: 0, ..file("") }), "is not UTF-8"),
        ("link out", zip(entry("l", LINK | 0o777, "/etc/passwd")), "is a link that leads out of the package"),
        ("link up", zip(entry("d/l", LINK | 0o777, "a/../../../x")), "is a link that leads out of the package"),
        ("program by link", zip_of(&[entry(PROGRAM, LINK | 0o777, "x"), file("x")]), "could not find executable file"),
        (
            "below a link",
            zip_of(&[program(), entry("l", LINK | 0o777, "d"), file("l/x")]),
            "\"l\" is a file and a folder",
        ),
        ("pipe", zip(entry("p", 0o010_644, "")), "neither a file nor a folder"),
        ("device", zip(entry("p", 0o060_644, "")), "neither a file nor a folder"),
        ("twice", zip_of(&[program(), file("a"), file("a")]), "two entries of the same name"),
        ("twice, written otherwise", zip_of(&[program(), file("a"), file("./a")]), "it has two entries for \"a\""),
        ("by case", zip_of(&[program(), file("A"), file("a")]), "\"A\" and \"a\" are one name on some systems"),
        (
            "folder by case",
            zip_of(&[program(), file("D/a"), file("d/b")]),
            "\"D\" and \"d\" are one name on some systems",
        ),
        ("file, then folder", zip_of(&[program(), file("a"), file("a/b")]), "\"a\" is a file and a folder"),
        ("folder, then file", zip_of(&[program(), file("a/b"), file("a")]), "\"a\" is a folder and a file"),
        ("encrypted", zip(Made { flags: 0x801, ..file("a") }), "is encrypted"),
        ("bzip2", zip(Made { method: 12, ..file("a") }), "zip: unsupported compression algorithm"),
        ("lzma", zip(Made { method: 14, ..file("a") }), "zip: unsupported compression algorithm"),
        (
            "no program",
            zip_of(&[file("README")]),
            "could not find executable file starting with terraform-provider-foo",
        ),
        ("another's", zip_of(&[file("terraform-provider-foobar")]), "could not find executable file"),
        ("in a folder", zip_of(&[file("bin/terraform-provider-foo")]), "could not find executable file"),
    ];
    for (case, bytes, expected) in cases {
        let (dir, result) = staged(&bytes, &Limits::default());
        let error = result.expect_err(case).to_string();
        assert!(error.contains(expected), "{case}: {error}");
        assert!(error.contains("could not find") || error.contains("a.zip"), "{case}: {error}");
        let left: Vec<_> = below(dir.path()).into_iter().filter(|path| !path.is_dir()).collect();
        assert_eq!(left, [dir.path().join("a.zip")], "{case}");
    }
}

#[test]
fn bombs_are_refused_before_anything_is_written() {
    let zip = zip_of(&[program(), entry("zeros", FILE, &"\0".repeat(3 << 20))]);
    let try_with = |limits: &Limits| staged(&zip, limits).1.map(drop).map_err(|e| e.to_string());
    assert_eq!(try_with(&Limits { bytes: (3 << 20) + 2, entries: 2 }), Ok(()));
    let error = try_with(&Limits { bytes: 3 << 20, entries: 2 }).unwrap_err();
    assert!(error.ends_with("it holds 4 MiB, and may hold 3 MiB (see TERRANE_PROVIDER_SIZE_LIMIT)"), "{error}");
    let error = try_with(&Limits { bytes: 4 << 20, entries: 1 }).unwrap_err();
    assert!(error.ends_with("it has 2 entries, and may have 1"), "{error}");
    // Said to be larger than its bytes can be.
    let lie = zip_of(&[program(), Made { length: Some(3 << 30), ..file("a") }]);
    let error = staged(&lie, &Limits::default()).1.unwrap_err().to_string();
    assert!(error.contains("which no package of programs does"), "{error}");
}

#[cfg(unix)]
#[test]
fn modes_are_made_safe() {
    use std::os::unix::fs::PermissionsExt;
    let entries = [
        Made { mode: None, ..program() },
        entry("tool", FILE | 0o6777, "x"),
        entry("data", FILE | 0o666, "x"),
        entry("none", FILE, "x"),
        entry("d/", 0o040_777, ""),
    ];
    let (_dir, result) = staged(&zip_of(&entries), &Limits::default());
    let unpacked = result.unwrap().finish().unwrap();
    let mode = |name: &str| fs::metadata(unpacked.dir.join(name)).unwrap().permissions().mode() & 0o7777;
    // The user's umask may take more away.
    for (name, at_most, at_least) in [
        (PROGRAM, 0o755, 0o700),
        ("tool", 0o755, 0o700),
        ("data", 0o644, 0o600),
        ("none", 0o644, 0o600),
        ("d", 0o755, 0o700),
    ] {
        let mode = mode(name);
        assert!(mode & !at_most == 0 && mode & at_least == at_least, "{name}: {mode:o}");
    }
}

#[test]
fn a_large_file_among_small_ones_is_whole() {
    let large: String =
        (0..400_000).map(|i: u32| char::from(b'a' + (i.wrapping_mul(2_654_435_761) >> 27) as u8 % 26)).collect();
    let entries = [
        file("a"),
        entry(PROGRAM, FILE | 0o755, &large),
        Made { method: 0, ..entry("z", FILE, &large) },
        entry("e", FILE, ""),
    ];
    let (_dir, result) = staged(&zip_of(&entries), &Limits::default());
    let unpacked = result.unwrap().finish().unwrap();
    for name in [PROGRAM, "z"] {
        assert!(fs::read_to_string(unpacked.dir.join(name)).unwrap() == large);
    }
    assert_eq!(hash::of_dir(&unpacked.dir).unwrap(), unpacked.hashes.unpacked);
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (archive, stop) = (dir.path().join("a.zip"), Stop::new());
    fs::write(&archive, zip_of(&[program()])).unwrap();
    stop.stop();
    let result = stage(&archive, &dir.path().join("out/t"), &Provider::default_for("foo"), &Limits::default(), &stop);
    assert!(matches!(result, Err(PackageError::Stopped)));
    assert_eq!(below(&dir.path().join("out")), BTreeSet::new());
}

#[test]
fn a_staged_package_is_gone_unless_it_is_finished() {
    let (dir, result) = staged(&zip_of(&[program()]), &Limits::default());
    let version = dir.path().join("out/v");
    assert_eq!(fs::read_dir(&version).unwrap().count(), 1);
    drop(result.unwrap());
    assert_eq!(fs::read_dir(&version).unwrap().count(), 0);
}

fn any_name() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![Just("a"), Just("b"), Just(".."), Just("."), Just(""), Just("A"), Just("é"), Just(PROGRAM)];
    (proptest::collection::vec(part, 1..5), any::<bool>()).prop_map(|(parts, slash)| {
        let name = parts.join("/");
        if slash { format!("{name}/").into_bytes() } else { name.into_bytes() }
    })
}

fn any_entry() -> impl Strategy<Value = Made> {
    let mode = prop_oneof![Just(FILE | 0o755), Just(LINK | 0o777), Just(0o040_755), Just(0), Just(0o7777)];
    (any_name(), mode, prop_oneof![Just(0u16), Just(8)], "[a-z./]{0,40}").prop_map(|(name, mode, method, content)| {
        Made { name, mode: Some(mode), method, flags: 0, content: content.into_bytes(), length: None, crc: None }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Any bytes: an error or a package that has the reported hash; nothing outside, no links.
    #[test]
    fn nothing_leaves_the_folder(
        entries in proptest::collection::vec(any_entry(), 0..5),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in proptest::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        let mut bytes = zip_of(&[vec![program()], entries].concat());
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let limits = Limits { bytes: 1 << 20, entries: 10 };
        let (dir, result) = staged(&bytes, &limits);
        if let Ok(staged) = result {
            let unpacked = staged.finish().unwrap();
            prop_assert_eq!(hash::of_dir(&unpacked.dir).unwrap(), unpacked.hashes.unpacked);
        }
        let target = dir.path().join("out/v/linux");
        for path in below(dir.path()) {
            let kind = fs::symlink_metadata(&path).unwrap().file_type();
            prop_assert!(kind.is_dir() || kind.is_file());
            prop_assert!(kind.is_dir() || path.starts_with(&target) || path.ends_with("a.zip"));
        }
    }
}
