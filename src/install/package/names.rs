//! The names in an archive: each may be there once, on any system.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The names so far, of files and folders.
#[derive(Default)]
pub struct Names(BTreeMap<String, (PathBuf, bool)>);

/// Why an entry cannot be there beside the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameConflict {
    /// The second entry is a folder, or is in one, where the first is a file.
    FileThenFolder(PathBuf),
    FolderThenFile(PathBuf),
    /// Two files of one name.
    Twice(PathBuf),
    /// Names that differ by case only.
    Case(PathBuf, PathBuf),
}

impl fmt::Display for NameConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameConflict::FileThenFolder(path) => write!(f, "{path:?} is a file and a folder"),
            NameConflict::FolderThenFile(path) => write!(f, "{path:?} is a folder and a file"),
            NameConflict::Twice(path) => write!(f, "it has two entries for {path:?}"),
            NameConflict::Case(first, second) => write!(f, "{first:?} and {second:?} are one name on some systems"),
        }
    }
}

impl std::error::Error for NameConflict {}

impl Names {
    /// Adds an entry with the folders that it is in.
    pub fn add(&mut self, path: &Path, is_dir: bool) -> Result<(), NameConflict> {
        for folder in path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()) {
            self.insert(folder, true)?;
        }
        if path.as_os_str().is_empty() { Ok(()) } else { self.insert(path, is_dir) }
    }

    fn insert(&mut self, path: &Path, is_dir: bool) -> Result<(), NameConflict> {
        let key = path.to_string_lossy().to_lowercase();
        match self.0.get(&key) {
            Some((same, true)) if is_dir && same == path => Ok(()),
            Some((same, _)) if same == path && is_dir => Err(NameConflict::FileThenFolder(path.to_owned())),
            Some((same, true)) if same == path => Err(NameConflict::FolderThenFile(path.to_owned())),
            Some((same, false)) if same == path => Err(NameConflict::Twice(path.to_owned())),
            Some((other, _)) => Err(NameConflict::Case(other.clone(), path.to_owned())),
            None => {
                self.0.insert(key, (path.to_owned(), is_dir));
                Ok(())
            }
        }
    }
}
