//! Locks that keep two processes from working on the same states of tests.
//!
//! A lock is a file that exists only while it is held. The system drops the lock of a process that dies; the file that it leaves says
//! nothing, and the next holder removes it. Never waits.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use base::lock::{Attempt, has_no_locks, is_at, try_lock};

/// A lock that is held until it is dropped.
pub struct HeldLock {
    path: PathBuf,
    file: File,
}

impl HeldLock {
    /// None: another process holds it.
    pub fn take(path: &Path) -> io::Result<Option<HeldLock>> {
        loop {
            let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
            match try_lock(&file) {
                // Its holder removed the file in between.
                Ok(Attempt::Locked) if !is_at(&file, path) => {}
                Ok(Attempt::Busy) => return Ok(None),
                Ok(Attempt::Locked) => return Ok(Some(HeldLock { path: path.to_owned(), file })),
                Err(error) if has_no_locks(&error) => return Ok(Some(HeldLock { path: path.to_owned(), file })),
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // While the lock is held: a process that has opened the file notices that it is gone.
        let _ = std::fs::remove_file(&self.path);
        let _ = base::lock::unlock(&self.file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_excludes_others_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let held = HeldLock::take(&path).unwrap().unwrap();
        if cfg!(target_os = "linux") {
            assert!(HeldLock::take(&path).unwrap().is_none());
        }
        drop(held);
        assert!(!path.exists());
        // What a killed process leaves.
        std::fs::write(&path, "").unwrap();
        assert!(HeldLock::take(&path).unwrap().is_some());
        assert!(!path.exists());
    }
}
