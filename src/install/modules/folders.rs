//! Folders of packages: finding the one inside that is meant, replacing and copying them.

use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::{fmt, fs};

use base::files::named;

/// Why there is no folder inside a package: its name, or the pattern for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubFolderError {
    Missing(String),
    Ambiguous(String),
}

impl fmt::Display for SubFolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SubFolderError::Missing(folder) => write!(f, "subdir {folder:?} not found"),
            SubFolderError::Ambiguous(folder) => write!(f, "subdir {folder:?} matches multiple paths"),
        }
    }
}

impl std::error::Error for SubFolderError {}

/// The folder inside a package, whose name may be a pattern that only one fits.
pub fn sub_folder(package: &Path, folder: &str) -> Result<PathBuf, SubFolderError> {
    let mut found = vec![package.to_owned()];
    for part in folder.split('/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        for dir in &found {
            if !part.contains(['*', '?', '[']) {
                let path = dir.join(part);
                next.extend(fs::symlink_metadata(&path).is_ok().then_some(path));
                continue;
            }
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if matches(part.as_bytes(), name.as_bytes()) {
                    next.push(entry.path());
                }
            }
        }
        found = next;
    }
    match found.len() {
        0 => Err(SubFolderError::Missing(folder.to_owned())),
        1 => Ok(found.swap_remove(0)),
        _ => Err(SubFolderError::Ambiguous(folder.to_owned())),
    }
}

/// `*`, `?` and `[a-z]`.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        let step = match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
                continue;
            }
            Some(b'?') => Some(1),
            Some(b'[') => class(&pattern[p..], name[n]),
            Some(byte) if *byte == name[n] => Some(1),
            _ => None,
        };
        match (step, star) {
            (Some(length), _) => {
                p += length;
                n += 1;
            }
            (None, Some((at, from))) => {
                (p, n) = (at + 1, from + 1);
                star = Some((at, from + 1));
            }
            (None, None) => return false,
        }
    }
    pattern[p..].iter().all(|b| *b == b'*')
}

/// How long a class is if the byte is in it.
fn class(pattern: &[u8], byte: u8) -> Option<usize> {
    let end = pattern.iter().skip(1).position(|b| *b == b']')? + 1;
    let (negated, inner) = match pattern[1..end].split_first() {
        Some((b'^', rest)) => (true, rest),
        _ => (false, &pattern[1..end]),
    };
    let mut inside = false;
    let mut i = 0;
    while i < inner.len() {
        match inner.get(i..i + 3) {
            Some([low, b'-', high]) => {
                inside |= (*low..=*high).contains(&byte);
                i += 3;
            }
            _ => {
                inside |= inner[i] == byte;
                i += 1;
            }
        }
    }
    (inside != negated).then_some(end + 1)
}

/// Puts a folder in its place. What is there goes to `attic` first, so that the place is empty for no longer than a rename.
pub fn replace(from: &Path, place: &Path, attic: &Path) -> io::Result<()> {
    if fs::symlink_metadata(place).is_ok() {
        fs::rename(place, attic).map_err(|e| named(e, "remove", place))?;
        remove(attic)?;
    }
    fs::rename(from, place).map_err(|e| named(e, "rename to", place))
}

/// Removes a folder with everything in it, or a link without what it leads to; nothing there is fine.
pub fn remove(path: &Path) -> io::Result<()> {
    let result = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => return Ok(()),
    };
    result.map_err(|e| named(e, "remove", path))
}

/// What of a folder is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyScope {
    /// Everything but the records of version control.
    Package,
    /// Nothing whose name begins with a dot: the user's own folder may hold much that is none of a module's business.
    Visible,
}

/// What a folder holds, by paths relative to it; folders before what is in them. Links are links, but for the folder itself.
struct Listing {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
    links: Vec<PathBuf>,
}

fn list(from: &Path, what: CopyScope) -> io::Result<Listing> {
    let mut listing = Listing { folders: vec![PathBuf::new()], files: Vec::new(), links: Vec::new() };
    let mut next = 0;
    while let Some(folder) = listing.folders.get(next).cloned() {
        next += 1;
        let source = from.join(&folder);
        for entry in fs::read_dir(&source).map_err(|e| named(e, "open", &source))? {
            let entry = entry.map_err(|e| named(e, "read", &source))?;
            let name = entry.file_name();
            let hidden = name.as_encoded_bytes().starts_with(b".");
            if is_history(&name.to_string_lossy()) || (hidden && what == CopyScope::Visible) {
                continue;
            }
            let kind = entry.file_type().map_err(|e| named(e, "stat", &entry.path()))?;
            let list = match () {
                () if kind.is_dir() => &mut listing.folders,
                () if kind.is_symlink() => &mut listing.links,
                () => &mut listing.files,
            };
            list.push(folder.join(&name));
        }
    }
    Ok(listing)
}

/// Copies what is in a folder to another one, which is made if need be. Links are copied as links.
pub fn copy(from: &Path, to: &Path, what: CopyScope) -> io::Result<()> {
    let listing = list(from, what)?;
    listing.make_folders(to)?;
    for name in &listing.files {
        let place = to.join(name);
        fs::copy(from.join(name), &place).map_err(|e| named(e, "write", &place))?;
    }
    listing.make_links(from, to)
}

impl Listing {
    fn make_folders(&self, to: &Path) -> io::Result<()> {
        fs::create_dir_all(to).map_err(|e| named(e, "create", to))?;
        for name in self.folders.iter().skip(1) {
            let place = to.join(name);
            match fs::create_dir(&place) {
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(named(e, "create", &place)),
                _ => {}
            }
        }
        Ok(())
    }

    fn make_links(&self, from: &Path, to: &Path) -> io::Result<()> {
        for name in &self.links {
            let place = to.join(name);
            copy_link(&from.join(name), &place).map_err(|e| named(e, "create", &place))?;
        }
        Ok(())
    }
}

/// A package that is copied to several places: configuration, which only this program reads, is the same file in all of
/// them; other files are kept in memory, since most modules are small.
pub struct Image {
    from: PathBuf,
    listing: Listing,
    /// One for each file: whether it may be run, and its bytes; None for configuration.
    contents: Vec<Option<(bool, Vec<u8>)>>,
}

/// Larger folders are copied from the disk.
const LARGEST_IMAGE: u64 = 32 << 20;

impl Image {
    /// None: the folder is too large.
    pub fn of(from: &Path, what: CopyScope) -> io::Result<Option<Image>> {
        let listing = list(from, what)?;
        let (mut contents, mut size) = (Vec::with_capacity(listing.files.len()), 0);
        for name in &listing.files {
            if what == CopyScope::Package && is_configuration(&name.to_string_lossy()) {
                contents.push(None);
                continue;
            }
            let path = from.join(name);
            let metadata = fs::metadata(&path).map_err(|e| named(e, "stat", &path))?;
            size += metadata.len();
            if size > LARGEST_IMAGE {
                return Ok(None);
            }
            let content = fs::read(&path).map_err(|e| named(e, "read", &path))?;
            contents.push(Some((is_executable(&metadata), content)));
        }
        Ok(Some(Image { from: from.to_owned(), listing, contents }))
    }

    pub fn write(&self, to: &Path) -> io::Result<()> {
        self.listing.make_folders(to)?;
        for (name, content) in self.listing.files.iter().zip(&self.contents) {
            let place = to.join(name);
            let written = match content {
                Some((executable, content)) => write_new(&place, *executable, content),
                None => share(&self.from.join(name), &place),
            };
            written.map_err(|e| named(e, "write", &place))?;
        }
        self.listing.make_links(&self.from, to)
    }
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &fs::Metadata) -> bool {
    false
}

/// One file under two names, or its copy where the disk does not have that.
fn share(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(|_| ()))
}

/// Files that a module is made of, and that only programs like this one read.
pub fn is_configuration(name: &str) -> bool {
    [".tf", ".tf.json", ".tofu", ".tofu.json"].iter().any(|end| name.ends_with(end))
}

fn write_new(path: &Path, executable: bool, content: &[u8]) -> io::Result<()> {
    let mut options = fs::File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(if executable { 0o777 } else { 0o666 });
    }
    #[cfg(not(unix))]
    let _ = executable;
    options.open(path)?.write_all(content)
}

/// The records of version control, which are no part of a package.
pub fn is_history(name: &str) -> bool {
    name == ".git" || name == ".hg"
}

#[cfg(unix)]
fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    let leads = fs::read_link(from)?;
    match std::os::unix::fs::symlink(&leads, to) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(to)?;
            std::os::unix::fs::symlink(&leads, to)
        }
        other => other,
    }
}

#[cfg(not(unix))]
fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to).map(|_| ())
}

/// A path without links: relative as long as none of them leads to an absolute one.
pub fn without_links(path: &Path) -> io::Result<PathBuf> {
    let mut left: Vec<PathBuf> = path.components().rev().map(|c| PathBuf::from(c.as_os_str())).collect();
    let mut done = PathBuf::new();
    let mut links = 0;
    while let Some(part) = left.pop() {
        match part.components().next() {
            Some(Component::CurDir) | None => continue,
            Some(Component::ParentDir) => {
                match done.components().next_back() {
                    Some(Component::Normal(_)) => {
                        done.pop();
                    }
                    Some(Component::RootDir) => {}
                    _ => done.push(".."),
                }
                continue;
            }
            Some(_) => {}
        }
        let here = done.join(&part);
        let metadata = fs::symlink_metadata(&here).map_err(|e| named(e, "lstat", &here))?;
        if !metadata.is_symlink() {
            done = here;
            continue;
        }
        links += 1;
        if links > 255 {
            return Err(io::Error::other("EvalSymlinks: too many links"));
        }
        let leads = fs::read_link(&here).map_err(|e| named(e, "readlink", &here))?;
        if leads.is_absolute() {
            done = PathBuf::new();
        }
        left.extend(leads.components().rev().map(|c| PathBuf::from(c.as_os_str())));
    }
    Ok(if done.as_os_str().is_empty() { PathBuf::from(".") } else { done })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_by_pattern() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["repo-1a2b/sub", "other/sub", "other/sup"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        let found =
            |folder: &str| sub_folder(dir.path(), folder).map(|p| p.strip_prefix(dir.path()).unwrap().to_owned());
        assert_eq!(found("repo-*/s?b"), Ok("repo-1a2b/sub".into()));
        assert_eq!(found("other/su[a-c]"), Ok("other/sub".into()));
        assert_eq!(found(""), Ok("".into()));
        assert_eq!(found("*"), Err(SubFolderError::Ambiguous("*".to_owned())));
        assert_eq!(found("gone/x"), Err(SubFolderError::Missing("gone/x".to_owned())));
    }

    #[cfg(unix)]
    #[test]
    fn copies_and_links() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        fs::create_dir_all(from.join("d/.git")).unwrap();
        fs::write(from.join("d/.hidden"), "h").unwrap();
        fs::write(from.join("d/f"), "f").unwrap();
        fs::write(from.join("d/f.tf"), "f").unwrap();
        symlink("d/f", from.join("l")).unwrap();
        symlink(&from, dir.path().join("absolute")).unwrap();
        let (all, visible) = (dir.path().join("all"), dir.path().join("visible"));
        copy(&dir.path().join("absolute"), &all, CopyScope::Package).unwrap();
        copy(&from, &visible, CopyScope::Visible).unwrap();
        let image = Image::of(&from, CopyScope::Package).unwrap().unwrap();
        image.write(&dir.path().join("image")).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("image/l")).unwrap(), "f");
        use std::os::unix::fs::MetadataExt;
        let links = |name: &str| fs::metadata(dir.path().join("image/d").join(name)).unwrap().nlink();
        assert_eq!((links("f"), links("f.tf")), (1, 2), "only configuration is shared");
        assert_eq!(fs::read_to_string(all.join("l")).unwrap(), "f");
        assert!(all.join("d/.hidden").exists() && !all.join("d/.git").exists());
        assert!(visible.join("d/f").exists() && !visible.join("d/.hidden").exists());
        let real = without_links(&dir.path().join("absolute/./d/../d")).unwrap();
        assert_eq!(real, from.join("d"));
        assert!(without_links(&from.join("nope")).is_err());
    }
}
