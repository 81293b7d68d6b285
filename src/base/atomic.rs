//! Writing files so that a crash leaves the old content or the new, never a mixture.
//!
//! Every writer of the program goes through here, except the one who must keep a file's inode because others lock it.
//! Knows nothing of what the files mean.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::files::named;
use super::lock::is_at;

/// Names of the files that are being written. Each is locked by its writer; an unlocked one is left from a killed run.
const PREFIX: &str = ".terrane-";
const SUFFIX: &str = ".tmp";

/// Mode bits of a new file when the caller has no opinion; the user's umask takes from them.
pub const DEFAULT_MODE: u32 = 0o666;

/// Replaces the file's content: a temporary file beside it, synced, renamed, the folder synced. The permissions of a
/// file that exists are kept, a new one gets [`DEFAULT_MODE`]; a symbolic link is followed, not replaced. After an error a new
/// file is not there; one that existed has the old content, or the new one if only its name could not be synced.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    write_with(path, DEFAULT_MODE, |file| file.write_all(content))
}

/// As [`write()`], for one of many files of the user's that are rewritten at once, such as by a formatter: nothing is
/// synced. A killed program leaves the old content or the new; after a power failure it is up to the file system.
pub fn write_content(path: &Path, content: &[u8]) -> io::Result<()> {
    let replaced = renamed(&link_target(path), DEFAULT_MODE, false, |file| file.write_all(content));
    replaced.map_err(|e| named(e, "write", path))
}

/// As [`write()`], for content that only its owner may read when the file is new.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    write_with(path, 0o600, |file| file.write_all(content))
}

/// As [`write()`], for content that only its owner may read: a file with other permissions does not keep them, and a symbolic link is
/// replaced, not followed.
pub fn replace_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let attempt = || -> io::Result<()> {
        let mut temporary = temporary_beside(path, 0o600)?;
        temporary.write_all(content)?;
        temporary.as_file().sync_all()?;
        temporary.persist(path).map_err(|e| e.error)?;
        sync_directory(directory_of(path))
    };
    attempt().map_err(|e| named(e, "write", path))
}

/// As [`write_content`], for content that only its owner may read when the file is new.
pub fn write_private_content(path: &Path, content: &[u8]) -> io::Result<()> {
    let replaced = renamed(&link_target(path), 0o600, false, |file| file.write_all(content));
    replaced.map_err(|e| named(e, "write", path))
}

/// As [`write()`], with the content streamed by `fill` and the mode bits of a new file given.
pub fn write_with(path: &Path, mode: u32, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let target = link_target(path);
    replace(&target, mode, fill).map_err(|e| named(e, "write", path))
}

/// Whether [`write()`] can replace the file, as far as that can be known before: its folder takes new files, and it is no folder
/// and no named pipe itself. Leaves nothing behind. The error has the path.
pub fn check_writable(path: &Path) -> io::Result<()> {
    let target = link_target(path);
    let is_folder = target.is_dir() || target.to_string_lossy().ends_with(std::path::is_separator);
    let attempt = || -> io::Result<()> {
        match std::fs::metadata(&target) {
            _ if is_folder => Err(io::ErrorKind::IsADirectory.into()),
            Ok(existing) if is_pipe(&existing) => Err(io::Error::other("it is a named pipe, which may have no reader")),
            Ok(existing) if !existing.is_file() => Ok(()),
            _ => temporary_beside(&target, 0o600)?.close().map_err(without_path),
        }
    };
    attempt().map_err(|e| named(e, "write", path))
}

#[cfg(unix)]
fn is_pipe(existing: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    existing.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &std::fs::Metadata) -> bool {
    false
}

/// Gives a temporary file, which only its owner may use, the mode of other new files.
pub fn readable(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The process's mask cannot be asked for without changing it for a moment, in every thread.
        file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// Makes a file durable under a name that must not exist yet; None if it does.
pub fn create_new(path: &Path, mode: u32, content: &[u8]) -> io::Result<Option<()>> {
    let attempt = || -> io::Result<()> {
        let mut temporary = temporary_beside(path, mode)?;
        temporary.write_all(content)?;
        temporary.as_file().sync_all()?;
        temporary.persist_noclobber(path).map_err(|e| e.error)?;
        sync_new_name(path)
    };
    match attempt() {
        Ok(()) => Ok(Some(())),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(e) => Err(named(e, "create", path)),
    }
}

/// Makes the names in a folder durable. Systems that cannot sync folders need not.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        match File::open(path).and_then(|d| d.sync_all()) {
            Err(e) if e.kind() == io::ErrorKind::InvalidInput => Ok(()),
            other => other.map_err(|e| named(e, "sync", path)),
        }
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(())
    }
}

/// The folder that holds the file: `.` for a bare name.
pub fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn replace(target: &Path, mode: u32, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let is_new = !target.exists();
    renamed(target, mode, true, fill)?;
    if is_new { sync_new_name(target) } else { sync_directory(directory_of(target)) }
}

/// Makes the name of a new file durable. After an error the file is not there: what was reported as failed must not be found
/// by the next command.
fn sync_new_name(path: &Path) -> io::Result<()> {
    sync_directory(directory_of(path)).inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })
}

/// Fills a temporary file and renames it. What is there and is no file is written to instead.
fn renamed(target: &Path, mode: u32, sync: bool, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let existing = std::fs::metadata(target).ok();
    if existing.as_ref().is_some_and(|existing| !existing.is_file() && !existing.is_dir()) {
        // A device or a pipe, such as /dev/null, takes the content and stays what it is.
        return fill(&mut File::options().write(true).open(target)?);
    }
    let mut temporary = temporary_beside(target, mode)?;
    if let Some(existing) = existing {
        temporary.as_file().set_permissions(existing.permissions())?;
    }
    fill(temporary.as_file_mut())?;
    if sync {
        temporary.as_file().sync_all()?;
    }
    temporary.persist(target).map_err(|e| e.error)?;
    Ok(())
}

fn temporary_beside(target: &Path, mode: u32) -> io::Result<tempfile::NamedTempFile> {
    let directory = directory_of(target);
    sweep_once(directory);
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = mode;
    // Another process may sweep a file that is not locked yet: then the next one is tried.
    for _ in 0..100 {
        let file = builder.tempfile_in(directory).map_err(without_path)?;
        match file.as_file().try_lock() {
            Err(TryLockError::Error(_)) => return Ok(file),
            Ok(()) if is_at(file.as_file(), file.path()) => return Ok(file),
            _ => {}
        }
    }
    Err(io::Error::other("other programs remove every new file"))
}

/// The system's error alone: the name of the temporary file says nothing to a user.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    let alone = text.split_once(" at path ").map_or(text.as_str(), |(alone, _)| alone);
    io::Error::new(error.kind(), alone)
}

/// Removes what killed runs left in a folder, the first time that this process writes there. Errors are of no
/// consequence: the next run tries again.
fn sweep_once(directory: &Path) {
    static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let mut swept = SWEPT.lock().unwrap_or_else(|e| e.into_inner());
    if swept.get_or_insert_default().insert(directory.to_path_buf()) {
        sweep(directory);
    }
}

fn sweep(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        if File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn link_target(path: &Path) -> PathBuf {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::reason;

    #[test]
    fn errors_do_not_name_the_temporary_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("missing/file");
        let error = write(&path, b"x").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let system = std::fs::write(&path, "").unwrap_err();
        assert_eq!(error.to_string(), format!("write {}: {}", path.display(), reason(&system)));
    }

    #[test]
    fn checks_before_a_write_leave_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("folder")).unwrap();
        std::fs::write(at("old"), "old").unwrap();
        let cases = [
            ("old", None),
            ("new", None),
            ("missing/f", Some(io::ErrorKind::NotFound)),
            ("folder", Some(io::ErrorKind::IsADirectory)),
            ("new/", Some(io::ErrorKind::IsADirectory)),
        ];
        for (name, expected) in cases {
            assert_eq!(check_writable(&at(name)).err().map(|e| e.kind()), expected, "{name}");
        }
        assert_eq!(std::fs::read(at("old")).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn replaces_and_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_are_written_to_and_stay() {
        use std::os::unix::fs::FileTypeExt;
        let dir = tempfile::tempdir().unwrap();
        let (pipe, link) = (dir.path().join("pipe"), dir.path().join("link"));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [pipe.clone(), link] {
            assert!(check_writable(&path).unwrap_err().to_string().contains("it is a named pipe"));
            let reader = std::thread::spawn({
                let pipe = pipe.clone();
                move || std::fs::read(pipe).unwrap()
            });
            write(&path, b"content").unwrap();
            assert_eq!(reader.join().unwrap(), b"content");
            assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
        }
    }

    #[test]
    fn a_failed_write_keeps_the_old_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        write(&path, b"old").unwrap();
        let error = write_with(&path, 0o666, |f| f.write_all(b"half").and(Err(io::Error::other("disk full"))));
        assert_eq!(error.unwrap_err().to_string(), format!("write {}: disk full", path.display()));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn keeps_permissions_and_follows_links() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("f"), dir.path().join("l"));
        write_private(&path, b"1").unwrap();
        std::os::unix::fs::symlink("f", &link).unwrap();
        write(&link, b"2").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&path).unwrap(), b"2");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn replaced_private_files_keep_neither_permissions_nor_links() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("f"), dir.path().join("l"));
        std::fs::write(&path, "1").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink("f", &link).unwrap();
        for replaced in [&link, &path] {
            replace_private(replaced, b"2").unwrap();
            let metadata = std::fs::symlink_metadata(replaced).unwrap();
            assert!(metadata.is_file() && metadata.permissions().mode() & 0o777 == 0o600, "{replaced:?}");
            assert_eq!(std::fs::read(replaced).unwrap(), b"2");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn files_of_killed_runs_are_swept_and_others_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let left = dir.path().join(".terrane-abc123.tmp");
        let writing = dir.path().join(".terrane-def456.tmp");
        let other = dir.path().join(".terrane-notes");
        for path in [&left, &writing, &other] {
            std::fs::write(path, b"half").unwrap();
        }
        let lock = File::open(&writing).unwrap();
        lock.try_lock().unwrap();
        write(&dir.path().join("f"), b"one").unwrap();
        assert!(!left.exists() && writing.exists() && other.exists());
    }

    #[test]
    fn create_new_refuses_an_existing_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert_eq!(create_new(&path, 0o600, b"1").unwrap(), Some(()));
        assert_eq!(create_new(&path, 0o600, b"2").unwrap(), None);
        assert_eq!(std::fs::read(&path).unwrap(), b"1");
    }
}
