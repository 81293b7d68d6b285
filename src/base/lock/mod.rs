//! File locks, of the same kinds as those of Terraform and OpenTofu, so that the programs exclude each other.
//!
//! Owns the system calls. Never opens a file: the caller holds one handle for as long as the lock is needed, and closing
//! it releases the lock. On systems without open-file-description locks any other handle of the same file that this
//! process closes releases it too, so callers read and write through the handle that they locked.

use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(target_os = "linux")]
#[path = "open_file.rs"]
mod system;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "posix.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;

/// What an attempt to lock found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    Locked,
    /// Another process holds it.
    Busy,
}

/// Tries to lock the whole file, exclusively, without waiting. The file must be open for writing.
pub fn try_lock(file: &File) -> io::Result<Attempt> {
    system::try_lock(file)
}

pub fn unlock(file: &File) -> io::Result<()> {
    system::unlock(file)
}

/// Whether the path still leads to the open file. A lock on a file that was removed excludes no other process.
#[cfg(unix)]
pub fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

#[cfg(windows)]
pub fn is_at(file: &File, path: &Path) -> bool {
    system::is_at(file, path)
}

/// Whether the error says that this file system does not lock.
pub fn has_no_locks(error: &io::Error) -> bool {
    #[cfg(unix)]
    let known = matches!(error.raw_os_error(), Some(libc::ENOLCK | libc::ENOSYS | libc::EOPNOTSUPP));
    #[cfg(not(unix))]
    let known = false;
    known || error.kind() == io::ErrorKind::Unsupported
}

#[cfg(all(test, any(target_os = "linux", windows)))]
mod tests {
    use super::*;

    #[test]
    fn two_handles_exclude_each_other_and_a_third_one_closed_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let open = || File::options().read(true).write(true).create(true).truncate(false).open(&path).unwrap();
        let (first, second) = (open(), open());
        assert_eq!(try_lock(&first).unwrap(), Attempt::Locked);
        drop(open());
        assert_eq!(try_lock(&second).unwrap(), Attempt::Busy);
        unlock(&first).unwrap();
        assert_eq!(try_lock(&second).unwrap(), Attempt::Locked);
    }

    /// Renamed instead of removed: some systems keep the name of a removed file until it is closed.
    #[test]
    fn a_path_does_not_lead_to_the_file_that_had_it_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let file = File::create(&path).unwrap();
        assert!(is_at(&file, &path));
        std::fs::rename(&path, dir.path().join("other")).unwrap();
        assert!(!is_at(&file, &path));
        std::fs::write(&path, "").unwrap();
        assert!(!is_at(&file, &path));
    }
}
