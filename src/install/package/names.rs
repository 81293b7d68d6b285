//! The names in an archive: each may be there once, on any system.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The names so far, of files and folders.
#[derive(Default)]
pub struct Names(BTreeMap<String, (PathBuf, bool)>);

impl Names {
    /// Adds an entry with the folders that it is in. Errors: it cannot be there beside the others.
    pub fn add(&mut self, path: &Path, is_dir: bool) -> Result<(), String> {
        for folder in path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()) {
            self.insert(folder, true)?;
        }
        if path.as_os_str().is_empty() { Ok(()) } else { self.insert(path, is_dir) }
    }

    fn insert(&mut self, path: &Path, is_dir: bool) -> Result<(), String> {
        let key = path.to_string_lossy().to_lowercase();
        match self.0.get(&key) {
            Some((same, true)) if is_dir && same == path => Ok(()),
            Some((same, _)) if same == path && is_dir => Err(format!("{path:?} is a file and a folder")),
            Some((same, true)) if same == path => Err(format!("{path:?} is a folder and a file")),
            Some((same, false)) if same == path => Err(format!("it has two entries for {path:?}")),
            Some((other, _)) => Err(format!("{other:?} and {path:?} are one name on some systems")),
            None => {
                self.0.insert(key, (path.to_owned(), is_dir));
                Ok(())
            }
        }
    }
}
