//! Installs packages atomically: created under a temporary name beside the final path, then renamed.
//!
//! A temporary folder is locked while it is in use, which distinguishes it from those of killed runs.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use base::atomic::directory_of;
use base::files::named;

/// How the names of folders begin that are being made.
pub const PREFIX: &str = ".unpacking-";

/// A folder that is being made. Dropped, it is gone with everything in it.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    /// Locked while the folder is ours; None where folders cannot be locked.
    _lock: Option<File>,
}

impl Temporary {
    /// An empty folder beside the target, whose parents are made. What killed runs left there goes.
    pub fn beside(target: &Path) -> io::Result<Temporary> {
        let parent = directory_of(target);
        folders(parent)?;
        sweep(parent);
        // A concurrent sweep may remove a folder that is not locked yet; then another one is tried.
        for _ in 0..100 {
            let mut builder = tempfile::Builder::new();
            builder.prefix(PREFIX);
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755));
            let made = builder.tempdir_in(parent).map_err(|e| named(e, "create a folder in", parent))?.keep();
            match lock(&made) {
                Lock::Ours(lock) if made.is_dir() => return Ok(Temporary { path: made, _lock: Some(lock) }),
                Lock::Impossible => return Ok(Temporary { path: made, _lock: None }),
                Lock::Ours(_) | Lock::Theirs => {}
            }
        }
        Err(named(io::Error::other("other programs remove every new folder"), "create a folder in", parent))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the folder to the target.
    pub fn replace(self, target: &Path) -> io::Result<()> {
        replace(&self.path, target)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What cannot be removed now is swept later.
        let _ = remove(&self.path);
    }
}

enum Lock {
    Ours(File),
    Theirs,
    Impossible,
}

fn lock(folder: &Path) -> Lock {
    match File::open(folder).map(|handle| (handle.try_lock(), handle)) {
        Ok((Ok(()), handle)) => Lock::Ours(handle),
        Ok((Err(TryLockError::WouldBlock), _)) => Lock::Theirs,
        Ok((Err(TryLockError::Error(_)), _)) => Lock::Impossible,
        Err(e) if e.kind() == io::ErrorKind::NotFound => Lock::Theirs,
        Err(_) => Lock::Impossible,
    }
}

/// Moves what is at `from` (a folder, a link) to the target in one step; what is there is gone afterwards.
pub(super) fn replace(from: &Path, target: &Path) -> io::Result<()> {
    let Err(first) = fs::rename(from, target) else { return Ok(()) };
    if fs::symlink_metadata(target).is_err() {
        return Err(named(first, "rename to", target));
    }
    if exchange(from, target).is_err() {
        // Systems that cannot exchange two names leave none for an instant.
        let aside = Temporary::beside(target)?;
        let old = aside.path().join("old");
        fs::rename(target, &old).map_err(|e| named(e, "rename", target))?;
        if let Err(e) = fs::rename(from, target) {
            let _ = fs::rename(&old, target);
            return Err(named(e, "rename to", target));
        }
        return Ok(());
    }
    // The old one is there now; what cannot be removed is swept later.
    let _ = remove(from);
    Ok(())
}

#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    let (one, other) = (CString::new(one.as_os_str().as_bytes())?, CString::new(other.as_os_str().as_bytes())?);
    // SAFETY: both are strings with an end that outlive the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::AT_FDCWD,
            one.as_ptr(),
            libc::AT_FDCWD,
            other.as_ptr(),
            libc::RENAME_EXCHANGE,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(not(target_os = "linux"))]
fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Removes a folder with everything in it, or a link without what it leads to; nothing there is fine.
pub(super) fn remove(target: &Path) -> io::Result<()> {
    let result = match fs::symlink_metadata(target) {
        Ok(m) if m.is_dir() => fs::remove_dir_all(target),
        Ok(_) => fs::remove_file(target),
        Err(_) => return Ok(()),
    };
    match result {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(named(e, "remove", target)),
        _ => Ok(()),
    }
}

/// Makes a folder and its parents; those that are made can be written by their owner only.
pub(super) fn folders(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o755);
    builder.create(path).map_err(|e| named(e, "create", &first_missing(path)))
}

/// The outermost folder of a path that does not exist, as an absolute path: the one that could not be made.
fn first_missing(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let missing = path.ancestors().take_while(|folder| fs::symlink_metadata(folder).is_err()).last();
    missing.unwrap_or(&path).to_path_buf()
}

/// Removes what killed runs left in a folder. What others are making just now stays.
pub fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let left = entry.file_name().to_string_lossy().starts_with(PREFIX);
        // The lock is held until the folder is gone, so that no process takes it for a new one.
        if left && let Lock::Ours(_lock) = lock(&entry.path()) {
            let _ = remove(&entry.path());
        }
    }
}

/// A file beside the folder of a package, named after it.
pub(super) fn beside(dir: &Path, ending: &str) -> PathBuf {
    let mut name = dir.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    dir.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn existing_files_and_folders_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("h/t");
        let put = |content: &str| {
            let folder = Temporary::beside(&target).unwrap();
            fs::write(folder.path().join("f"), content).unwrap();
            folder.replace(&target).unwrap();
            assert_eq!(fs::read_to_string(target.join("f")).unwrap(), content);
            assert_eq!(names(&dir.path().join("h")), ["t"]);
        };
        put("nothing there");
        put("a folder there");
        remove(&target).unwrap();
        fs::write(&target, "").unwrap();
        put("a file there");
        #[cfg(unix)]
        {
            remove(&target).unwrap();
            let elsewhere = dir.path().join("elsewhere");
            fs::create_dir(&elsewhere).unwrap();
            fs::write(elsewhere.join("f"), "kept").unwrap();
            std::os::unix::fs::symlink(&elsewhere, &target).unwrap();
            put("a link there");
            assert_eq!(fs::read_to_string(elsewhere.join("f")).unwrap(), "kept");
        }
    }

    #[test]
    fn unused_temporary_folders_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Temporary::beside(&dir.path().join("t")).unwrap();
        assert_eq!(names(dir.path()).len(), 1);
        drop(folder);
        assert!(names(dir.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn leftovers_of_killed_runs_are_swept_and_open_ones_stay() {
        let dir = tempfile::tempdir().unwrap();
        let version = dir.path().join("h/n/t/1.0.0");
        let left = version.join(".unpacking-left");
        let leave = || fs::create_dir_all(left.join("d")).unwrap();
        leave();
        let own = Temporary::beside(&version.join("linux_amd64")).unwrap();
        assert!(!left.exists());
        leave();
        fs::create_dir(version.join("linux_arm64")).unwrap();
        sweep(&version);
        let own_name = own.path().file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(names(&version), [own_name, "linux_arm64".to_owned()]);
    }
}
