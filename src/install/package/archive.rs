//! Unpacking a package: into a folder beside its place, renamed when it is whole.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::base::files::named;

/// Unpacks an archive to `target`, which takes the place of what was there. Entries that would leave the folder, and
/// links, are refused.
pub fn unpack(archive: &Path, target: &Path) -> io::Result<()> {
    let parent = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(|e| named(e, "create", parent))?;
    let temporary = tempfile::Builder::new()
        .prefix(".unpacking-")
        .tempdir_in(parent)
        .map_err(|e| named(e, "create a folder in", parent))?;
    extract(archive, temporary.path())?;
    replace(temporary.path(), target)?;
    // What was renamed away cannot be removed again.
    let _ = temporary.keep();
    Ok(())
}

fn extract(path: &Path, folder: &Path) -> io::Result<()> {
    let bad = |what: String| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", path.display()));
    let file = File::open(path).map_err(|e| named(e, "open", path))?;
    let mut archive = zip::ZipArchive::new(io::BufReader::new(file)).map_err(|e| bad(e.to_string()))?;
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).map_err(|e| bad(e.to_string()))?;
        let Some(name) = entry.enclosed_name() else { return Err(bad("an entry leads outside of the package".into())) };
        let place = folder.join(&name);
        if entry.is_dir() {
            fs::create_dir_all(&place).map_err(|e| named(e, "create", &place))?;
            continue;
        }
        if entry.is_symlink() {
            return Err(bad(format!("{} is a link, which packages may not hold", name.display())));
        }
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).map_err(|e| named(e, "create", parent))?;
        }
        let mut out = File::create(&place).map_err(|e| named(e, "create", &place))?;
        io::copy(&mut entry, &mut out).map_err(|e| named(e, "write", &place))?;
        set_mode(&place, entry.unix_mode())?;
    }
    Ok(())
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    // Archives made on systems without such bits say nothing; a provider must be executable.
    let mode = mode.map_or(0o755, |m| m & 0o777);
    fs::set_permissions(path, fs::Permissions::from_mode(mode & !0o022))
        .map_err(|e| named(e, "change the mode of", path))
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: Option<u32>) -> io::Result<()> {
    Ok(())
}

/// Moves a folder to its place; what is there (a link, a folder) goes first.
pub(super) fn replace(from: &Path, target: &Path) -> io::Result<()> {
    remove(target)?;
    fs::rename(from, target).map_err(|e| named(e, "rename to", target))
}

/// Removes a folder with everything in it, or a link without what it leads to; nothing there is fine.
pub(super) fn remove(target: &Path) -> io::Result<()> {
    let result = match fs::symlink_metadata(target) {
        Ok(m) if m.is_dir() => fs::remove_dir_all(target),
        Ok(_) => fs::remove_file(target),
        Err(_) => return Ok(()),
    };
    result.map_err(|e| named(e, "remove", target))
}
