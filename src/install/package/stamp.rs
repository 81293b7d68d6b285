//! What was hashed when: so that a package of hundreds of megabytes is not read again at every command.
//!
//! A stamp is believed only while every file of the package is the same one (device and inode), of the same size, and
//! neither its content nor its metadata has changed in time. Two times when that would not show are left out: a file that changed
//! within the clock's grain before it was hashed is not stamped, and what was written shortly before the machine went
//! down is hashed again, because the files need not have reached the disk.
//!
//! Stamps are kept in the working directory. Those of a shared cache are kept beside the package as well, for other
//! working directories; they are used only if no other user, except the administrator, could have written them or
//! replaced the package, because otherwise the lock file's hashes would protect nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fs, io};

use base::atomic;
use base::files::named;
use model::deps::Hash;
use serde::{Deserialize, Serialize};

use super::hash;
use super::temporary::beside;

/// The name of the file below `.terraform`.
pub const STAMP_FILE: &str = "package-hashes.json";

/// How the names of stamps beside packages end.
const BESIDE: &str = "stamp.json";

/// What the clock of a file system may not tell apart.
const GRAIN: Duration = Duration::from_millis(20);

/// After this time the system has written a file to the disk by itself.
const SETTLED: Duration = Duration::from_secs(300);

/// The hashes of packages by their folder. The format has a version: another one is forgotten, never read.
pub struct Stamps {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: BTreeMap<String, Stamp>,
    changed: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Stamp {
    h1: String,
    files: Vec<FileStamp>,
    /// The hash before the files changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    /// The start of the machine in which files were written that may not have reached the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    boot: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct FileStamp {
    name: String,
    size: u64,
    modified_ns: u64,
    changed_ns: i64,
    inode: u64,
    device: u64,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    version: u32,
    packages: BTreeMap<String, Stamp>,
}

/// A stamp beside its package.
#[derive(Serialize, Deserialize)]
struct SavedBeside {
    version: u32,
    #[serde(flatten)]
    stamp: Stamp,
    /// The `zh:` hash of the archive that the package was unpacked from, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    archive: Option<String>,
}

const VERSION: u32 = 2;

impl Stamps {
    /// The stamps of a working directory; a file that cannot be read counts as empty.
    pub fn load(data_dir: &Path) -> Stamps {
        let path = data_dir.join(STAMP_FILE);
        let saved = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Saved>(&bytes).ok());
        let known = saved.filter(|s| s.version == VERSION).map(|s| s.packages).unwrap_or_default();
        Stamps { path, state: Mutex::new(State { known, changed: false }) }
    }

    /// The hash of the package in a folder: remembered if nothing changed since, otherwise computed.
    pub fn hash_of(&self, dir: &Path) -> io::Result<Hash> {
        let started = SystemTime::now();
        let (real, files) = look_at(dir)?;
        if let Some(hash) = self.remembered(&real, &files) {
            return Ok(hash);
        }
        let hash = hash::of_dir(&real)?;
        // What changed while it was read is not remembered, nor what may have.
        let quiet = age(&files, started).is_some_and(|age| age > GRAIN);
        if quiet && look_at(&real)?.1 == files {
            self.remember(&real, Stamp::new(&hash, files));
        }
        Ok(hash)
    }

    /// The hash of a package if it need not be read for that.
    pub fn known(&self, dir: &Path) -> Option<Hash> {
        let (real, files) = look_at(dir).ok()?;
        self.remembered(&real, &files)
    }

    /// The hashes that a package had before its files changed, as far as they are remembered.
    pub fn was(&self, dir: &Path) -> Vec<Hash> {
        let Ok(real) = fs::canonicalize(dir) else { return Vec::new() };
        let state = self.state();
        let stamp = state.known.get(&key(&real));
        stamp
            .into_iter()
            .flat_map(|stamp| stamp.before.iter().chain([&stamp.h1]))
            .filter_map(|h1| Hash::parse(h1).ok())
            .collect()
    }

    /// Remembers the hash of a package that was unpacked just now, by the hash of what was written.
    pub fn note(&self, dir: &Path, hash: &Hash) {
        if let Ok((real, files)) = look_at(dir) {
            self.remember(&real, Stamp::new(hash, files));
        }
    }

    /// Writes the stamps if there are new ones. They are only a help: failing to keep them is no error.
    pub fn save(&self) {
        let mut state = self.state();
        if !std::mem::take(&mut state.changed) {
            return;
        }
        state.known.retain(|dir, _| Path::new(dir).is_dir());
        let saved = Saved { version: VERSION, packages: state.known.clone() };
        let Ok(text) = serde_json::to_vec(&saved) else { return };
        if self.path.parent().is_some_and(|p| fs::create_dir_all(p).is_ok()) {
            let _ = atomic::write(&self.path, &text);
        }
    }

    fn remembered(&self, real: &Path, files: &[FileStamp]) -> Option<Hash> {
        if let Some(hash) = self.state().known.get(&key(real)).and_then(|stamp| stamp.still_holds(files)) {
            return Some(hash);
        }
        let stamp = read_beside(real)?.stamp;
        let hash = stamp.still_holds(files)?;
        self.remember(real, stamp);
        Some(hash)
    }

    fn remember(&self, real: &Path, mut stamp: Stamp) {
        let mut state = self.state();
        let old = state.known.get(&key(real));
        stamp.before = old.and_then(|old| if old.h1 == stamp.h1 { old.before.clone() } else { Some(old.h1.clone()) });
        state.known.insert(key(real), stamp);
        state.changed = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the hash of a package of a shared cache beside it, with that of its archive. Failing to is no error.
pub(super) fn write_beside(dir: &Path, hash: &Hash, archive: Option<&Hash>) {
    let Ok((real, files)) = look_at(dir) else { return };
    let archive = archive.map(Hash::to_string);
    let saved = SavedBeside { version: VERSION, stamp: Stamp::new(hash, files), archive };
    if let Ok(text) = serde_json::to_vec(&saved) {
        let _ = atomic::write_with(&beside(&real, BESIDE), 0o644, |file| io::Write::write_all(file, &text));
    }
}

/// The hashes of a package of a shared cache and of the archive that it was unpacked from, if they are known and hold.
pub(super) fn origin(dir: &Path) -> Option<(Hash, Hash)> {
    let (real, files) = look_at(dir).ok()?;
    let saved = read_beside(&real)?;
    Some((saved.stamp.still_holds(&files)?, Hash::parse(&saved.archive?).ok()?))
}

fn read_beside(real: &Path) -> Option<SavedBeside> {
    let path = beside(real, BESIDE);
    let bytes = fs::read(&path).ok()?;
    let nobody_else = [&path, real, real.parent()?].into_iter().all(only_ours);
    let saved: SavedBeside = serde_json::from_slice(&bytes).ok()?;
    (nobody_else && saved.version == VERSION).then_some(saved)
}

/// Whether only this user and the administrator may change the content of a path.
#[cfg(unix)]
fn only_ours(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: asks for a number, and cannot fail.
    let us = unsafe { libc::geteuid() };
    fs::symlink_metadata(path)
        .is_ok_and(|m| !m.is_symlink() && (m.uid() == us || m.uid() == 0) && m.mode() & 0o022 == 0)
}

#[cfg(not(unix))]
fn only_ours(_path: &Path) -> bool {
    false
}

impl Stamp {
    fn new(hash: &Hash, files: Vec<FileStamp>) -> Stamp {
        let settled = age(&files, SystemTime::now()).is_some_and(|age| age > SETTLED);
        let boot = if settled { None } else { boot().map(str::to_owned) };
        Stamp { h1: hash.to_string(), files, before: None, boot }
    }

    fn still_holds(&self, files: &[FileStamp]) -> Option<Hash> {
        let same_boot = self.boot.as_deref().is_none_or(|written| boot() == Some(written));
        if same_boot && self.files == files { self.hash() } else { None }
    }

    fn hash(&self) -> Option<Hash> {
        Hash::parse(&self.h1).ok()
    }
}

/// What names this start of the machine, where the system has a name for it.
pub(super) fn boot() -> Option<&'static str> {
    static BOOT: OnceLock<Option<String>> = OnceLock::new();
    let read = || fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned());
    BOOT.get_or_init(|| if cfg!(target_os = "linux") { read() } else { None }).as_deref()
}

/// The time since the last change of any of the files; None if a clock was set back. Where the system tells when a file
/// itself changed, what programs say of its content does not count: that may be any time.
fn age(files: &[FileStamp], now: SystemTime) -> Option<Duration> {
    let changed = |file: &FileStamp| match u64::try_from(file.changed_ns) {
        Ok(ns) if ns > 0 => ns,
        _ => file.modified_ns,
    };
    let newest = files.iter().map(changed).max()?;
    now.duration_since(UNIX_EPOCH + Duration::from_nanos(newest)).ok()
}

fn key(real: &Path) -> String {
    real.to_string_lossy().into_owned()
}

/// The package's folder without links, and its files.
fn look_at(dir: &Path) -> io::Result<(PathBuf, Vec<FileStamp>)> {
    let real = fs::canonicalize(dir).map_err(|e| named(e, "find", dir))?;
    let names = hash::files_below(&real)?;
    let look = |name: &PathBuf| {
        let path = real.join(name);
        let metadata = fs::metadata(&path).map_err(|e| named(e, "stat", &path))?;
        let modified = metadata.modified().ok().and_then(|m| m.duration_since(UNIX_EPOCH).ok());
        let (changed_ns, inode, device) = identity(&metadata);
        Ok(FileStamp {
            name: name.to_string_lossy().into_owned(),
            size: metadata.len(),
            modified_ns: modified.map_or(0, |d| d.as_nanos() as u64),
            changed_ns,
            inode,
            device,
        })
    };
    let files = names.iter().map(look).collect::<io::Result<_>>()?;
    Ok((real, files))
}

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> (i64, u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.ctime().wrapping_mul(1_000_000_000).wrapping_add(metadata.ctime_nsec()), metadata.ino(), metadata.dev())
}

#[cfg(not(unix))]
fn identity(_metadata: &fs::Metadata) -> (i64, u64, u64) {
    (0, 0, 0)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    /// A package whose one file is old enough to be stamped, at `p` below the folder.
    fn package(dir: &Path) -> PathBuf {
        let package = dir.join("p");
        fs::create_dir_all(&package).unwrap();
        fs::write(package.join("a"), "one").unwrap();
        wait_for_next_tick(&package.join("a"));
        package
    }

    /// Waits until the clock has moved on from a file's last change.
    fn wait_for_next_tick(file: &Path) {
        let changed = fs::metadata(file).map(|m| (m.ctime() as u64, m.ctime_nsec() as u32)).unwrap();
        let changed = UNIX_EPOCH + Duration::new(changed.0, changed.1);
        while changed.elapsed().unwrap_or_default() <= GRAIN {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn a_stamp_is_believed_until_something_changes() {
        let dir = tempfile::tempdir().unwrap();
        let (package, data) = (package(dir.path()), dir.path().join("data"));
        let file = package.join("a");
        let stamps = Stamps::load(&data);
        let first = stamps.hash_of(&package).unwrap();
        stamps.save();
        assert_eq!(Stamps::load(&data).known(&package), Some(first.clone()));
        type Change = fn(&Path);
        let changes: &[(&str, Change)] = &[
            ("same size, time set back", |file| {
                let old = fs::metadata(file).unwrap().modified().unwrap();
                fs::write(file, "two").unwrap();
                fs::File::options().write(true).open(file).unwrap().set_modified(old).unwrap();
            }),
            ("another file of that name", |file| {
                fs::write(file.with_extension("new"), "one").unwrap();
                fs::rename(file.with_extension("new"), file).unwrap();
            }),
            ("mode", |file| fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap()),
            ("another file", |file| fs::write(file.with_file_name("b"), "").unwrap()),
            ("gone", |file| fs::remove_file(file).unwrap()),
        ];
        for (case, change) in changes {
            change(&file);
            let stamps = Stamps::load(&data);
            assert_eq!(stamps.known(&package), None, "{case}");
            assert_eq!(stamps.hash_of(&package).unwrap(), hash::of_dir(&package).unwrap());
            assert!(stamps.was(&package).contains(&first), "{case}");
        }
    }

    #[test]
    fn the_change_time_counts_not_the_modification_time() {
        let at = |changed_ns, modified_ns| FileStamp {
            name: String::new(),
            size: 0,
            modified_ns,
            changed_ns,
            inode: 0,
            device: 0,
        };
        let now = UNIX_EPOCH + Duration::from_nanos(1000);
        for (files, expected) in [
            (vec![at(400, 5000), at(900, 0)], Some(100)),
            (vec![at(0, 300)], Some(700)),
            (vec![at(1001, 0)], None),
            (vec![], None),
        ] {
            assert_eq!(age(&files, now), expected.map(Duration::from_nanos), "{files:?}");
        }
    }

    /// A program that unpacked it may have given a file a time to come.
    #[test]
    fn future_times_keep_a_stamp_valid() {
        let dir = tempfile::tempdir().unwrap();
        let package = package(dir.path());
        let later = SystemTime::now() + Duration::from_secs(3600);
        fs::File::options().write(true).open(package.join("a")).unwrap().set_modified(later).unwrap();
        wait_for_next_tick(&package.join("a"));
        let stamps = Stamps::load(&dir.path().join("data"));
        stamps.hash_of(&package).unwrap();
        assert!(stamps.known(&package).is_some());
    }

    #[test]
    fn files_written_before_a_reboot_are_hashed_again() {
        let dir = tempfile::tempdir().unwrap();
        let (package, data) = (package(dir.path()), dir.path().join("data"));
        let stamps = Stamps::load(&data);
        stamps.note(&package, &hash::of_dir(&package).unwrap());
        stamps.save();
        assert!(Stamps::load(&data).known(&package).is_some());
        let saved = fs::read_to_string(data.join(STAMP_FILE)).unwrap();
        let other = saved.replace(boot().unwrap_or("\"files\""), "another");
        fs::write(data.join(STAMP_FILE), other).unwrap();
        assert!(Stamps::load(&data).known(&package).is_none());
    }

    #[test]
    fn a_stamp_beside_a_package_counts_only_if_no_other_user_can_write_there() {
        let dir = tempfile::tempdir().unwrap();
        let package = package(dir.path());
        let known = || Stamps::load(&dir.path().join("data")).known(&package);
        let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        mode(dir.path(), 0o755);
        mode(&package, 0o755);
        assert_eq!(known(), None);
        write_beside(&package, &hash::of_dir(&package).unwrap(), None);
        let stamp = dir.path().join("p.stamp.json");
        assert_eq!(known(), Some(hash::of_dir(&package).unwrap()));
        for path in [dir.path(), &package, &stamp] {
            let before = fs::metadata(path).unwrap().permissions().mode();
            mode(path, 0o777);
            assert_eq!(known(), None, "{}", path.display());
            mode(path, before);
        }
        assert!(known().is_some());
        fs::write(package.join("a"), "two").unwrap();
        assert_eq!(known(), None);
    }

    #[test]
    fn damaged_stamps_are_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let package = package(dir.path());
        for text in ["", "{", "[]", "{\"version\":1,\"packages\":{}}", "{\"version\":2}"] {
            fs::write(dir.path().join(STAMP_FILE), text).unwrap();
            fs::write(dir.path().join("p.stamp.json"), text).unwrap();
            assert_eq!(Stamps::load(dir.path()).known(&package), None);
        }
    }
}
