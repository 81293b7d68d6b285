//! The root folder of a command: where its configuration, its lock file and its data are.
//!
//! Relative paths of a command start there. The folder of the process may be another one; it never changes while a command runs.

use std::io;
use std::path::{Path, PathBuf};

use base::env;
use base::files::{DiskIn, Entry, Files, Metadata};

/// Empty: the folder of the process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Root(PathBuf);

impl Root {
    /// The folder of the process.
    pub fn here() -> Root {
        Root::default()
    }

    /// Another folder, by its real name.
    pub fn of(dir: &Path) -> io::Result<Root> {
        // On Windows the standard library gives `\\?\` paths, which are not equal to others and which programs do not accept.
        dunce::canonicalize(dir).map(Root)
    }

    /// The place of a path that starts here; absolute ones stay as they are.
    pub fn path(&self, path: &Path) -> PathBuf {
        self.0.join(path)
    }

    /// The folder under the name that users see.
    pub fn dir(&self) -> PathBuf {
        if self.is_here() { env::working_dir().unwrap_or_default() } else { self.0.clone() }
    }

    /// The folder under its real name, of which there is one.
    pub fn real_dir(&self) -> PathBuf {
        if self.is_here() { std::env::current_dir().unwrap_or_default() } else { self.0.clone() }
    }

    /// Where programs are started. Empty: in the folder of the process.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    fn is_here(&self) -> bool {
        self.0.as_os_str().is_empty()
    }
}

/// The files as the command names them.
impl Files for Root {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        DiskIn(&self.0).read(path)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        DiskIn(&self.0).metadata(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        DiskIn(&self.0).list(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_start_in_the_root_and_errors_name_them_as_given() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "x").unwrap();
        let root = Root::of(dir.path()).unwrap();
        assert_eq!(root.read_to_string(Path::new("a")).unwrap(), "x");
        assert_eq!(root.read_to_string(&dir.path().join("a")).unwrap(), "x");
        assert_eq!(root.list(Path::new(".")).unwrap().len(), 1);
        assert_eq!(root.read(Path::new("b")).unwrap_err().to_string(), "open b: no such file or directory");
        assert_eq!(root.path(Path::new(".terraform")), root.dir().join(".terraform"));
        assert_eq!(Root::here().path(Path::new("a")), Path::new("a"));
    }
}
