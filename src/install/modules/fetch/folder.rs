//! Folders and files of this machine, by their absolute path.

use std::io;
use std::path::{Path, PathBuf};

use base::files::named;

use super::address::Address;
use super::{FetchError, Fetched};

/// Makes `target` lead to the folder.
pub fn link(address: &Address, target: &Path) -> Result<Fetched, FetchError> {
    let path = local_path(address);
    let metadata = std::fs::metadata(&path)
        .map_err(|e| FetchError::new(format!("source path error: {}", named(e, "stat", &path))))?;
    if !metadata.is_dir() {
        return Err(FetchError::new("source path must be a directory"));
    }
    symlink(&path, target).map_err(|e| named(e, "create", target))?;
    Ok(Fetched::Link)
}

/// The archive.
pub fn file(address: &Address) -> Result<PathBuf, FetchError> {
    let path = local_path(address);
    match std::fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() => Err(FetchError::new("source path must be a file")),
        Ok(_) => Ok(path),
        Err(e) => Err(FetchError::new(format!("source path error: {}", named(e, "stat", &path)))),
    }
}

fn local_path(address: &Address) -> PathBuf {
    PathBuf::from(address.path())
}

#[cfg(unix)]
fn symlink(path: &Path, target: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(path, target)
}

#[cfg(windows)]
fn symlink(path: &Path, target: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(path, target)
}
