//! Making an unpacked package available in another folder: a link where the system has them, otherwise a copy.

use std::path::Path;
use std::{fs, io};

use base::files::named;

use super::hash;
use super::temporary::{Temporary, folders, replace};

/// Links `target` to the package in `source`, and atomically replaces an existing one.
pub fn link(source: &Path, target: &Path) -> io::Result<()> {
    // Absolute, but with its links: what a mirror calls the package is what the link says.
    let source = std::path::absolute(source).map_err(|e| named(e, "find", source))?;
    let real = fs::canonicalize(&source).map_err(|e| named(e, "find", &source))?;
    let is_itself = fs::symlink_metadata(target).is_ok_and(|m| m.is_dir())
        && fs::canonicalize(target).is_ok_and(|target| target == real);
    if is_itself {
        let why = format!("cannot install existing provider directory {} to itself", target.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let made = Temporary::beside(target)?;
    let link = made.path().join("link");
    if symlink(&source, &link).is_ok() {
        return replace(&link, target);
    }
    copy_into(&source, made.path())?;
    made.replace(target)
}

/// Copies the package in `source` to `target`, and atomically replaces an existing one.
pub fn copy(source: &Path, target: &Path) -> io::Result<()> {
    let made = Temporary::beside(target)?;
    copy_into(source, made.path())?;
    made.replace(target)
}

#[cfg(unix)]
fn symlink(source: &Path, target: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(source, target)
}

#[cfg(not(unix))]
fn symlink(_source: &Path, _target: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn copy_into(source: &Path, folder: &Path) -> io::Result<()> {
    for name in hash::files_below(source)? {
        let place = folder.join(&name);
        if let Some(parent) = place.parent() {
            folders(parent)?;
        }
        let from = source.join(&name);
        fs::copy(&from, &place).map_err(|e| named(e, "copy", &from))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_replaces_existing_files_and_folders() {
        let dir = tempfile::tempdir().unwrap();
        let (source, other, target) = (dir.path().join("s"), dir.path().join("o"), dir.path().join("d/t"));
        for (folder, content) in [(&source, "one"), (&other, "two")] {
            fs::create_dir_all(folder.join("sub")).unwrap();
            fs::write(folder.join("sub/f"), content).unwrap();
        }
        let content = || fs::read_to_string(target.join("sub/f")).unwrap();
        link(&source, &target).unwrap();
        assert_eq!(content(), "one");
        link(&other, &target).unwrap();
        assert_eq!(content(), "two");
        copy(&source, &target).unwrap();
        assert_eq!(content(), "one");
        link(&other, &target).unwrap();
        assert_eq!(content(), "two");
        assert_eq!(fs::read_dir(dir.path().join("d")).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(source.join("sub/f")).unwrap(), "one");
    }

    #[test]
    fn a_package_is_not_linked_to_itself() {
        let dir = tempfile::tempdir().unwrap();
        let package = dir.path().join("p");
        fs::create_dir(&package).unwrap();
        let error = link(&dir.path().join("./p"), &package).unwrap_err().to_string();
        assert!(error.contains("to itself"), "{error}");
        assert!(link(&dir.path().join("gone"), &package).is_err());
        assert!(package.is_dir());
    }
}
