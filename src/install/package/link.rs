//! Making an unpacked package available in another folder: a link where the system has them, otherwise a copy.

use std::fs;
use std::io;
use std::path::Path;

use crate::base::files::named;

use super::{archive, hash};

/// Makes `target` lead to the package in `source`.
pub fn link(source: &Path, target: &Path) -> io::Result<()> {
    let parent = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(|e| named(e, "create", parent))?;
    // Absolute, but with its links: what a mirror calls the package is what the link says.
    let source = std::path::absolute(source).map_err(|e| named(e, "find", source))?;
    archive::remove(target)?;
    if symlink(&source, target).is_ok() {
        return Ok(());
    }
    copy(&source, target)
}

#[cfg(unix)]
fn symlink(source: &Path, target: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(source, target)
}

#[cfg(not(unix))]
fn symlink(_source: &Path, _target: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn copy(source: &Path, target: &Path) -> io::Result<()> {
    for name in hash::files_below(source)? {
        let place = target.join(&name);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).map_err(|e| named(e, "create", parent))?;
        }
        fs::copy(source.join(&name), &place).map_err(|e| named(e, "write", &place))?;
    }
    Ok(())
}
