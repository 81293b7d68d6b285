//! The root folder of a command: where its configuration, its lock file and its data are.
//!
//! Relative paths of a command start there. The folder of the process may be another one; it never changes while a command runs.

use std::io;
use std::path::{Path, PathBuf};

use base::dialect::Dialect;
use base::env;
use base::files::{ConfigFiles, DiskIn, Entry, Files, Metadata};

/// A folder, and the dialect that configurations in it are read in. Without a folder: that of the process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Root {
    folder: PathBuf,
    dialect: Dialect,
}

impl Root {
    /// The folder of the process.
    pub fn here(dialect: Dialect) -> Root {
        Root { folder: PathBuf::new(), dialect }
    }

    /// Another folder, by its real name.
    pub fn of(dialect: Dialect, dir: &Path) -> io::Result<Root> {
        // On Windows the standard library gives `\\?\` paths, which are not equal to others and which programs do not accept.
        dunce::canonicalize(dir).map(|folder| Root { folder, dialect })
    }

    /// The place of a path that starts here; absolute ones stay as they are.
    pub fn path(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }

    /// The folder under the name that users see.
    pub fn dir(&self) -> PathBuf {
        if self.is_here() { env::working_dir().unwrap_or_default() } else { self.folder.clone() }
    }

    /// The folder under its real name, of which there is one.
    pub fn real_dir(&self) -> PathBuf {
        if self.is_here() { std::env::current_dir().unwrap_or_default() } else { self.folder.clone() }
    }

    /// Where programs are started. Empty: in the folder of the process.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn is_here(&self) -> bool {
        self.folder.as_os_str().is_empty()
    }
}

/// The files as the command names them.
impl Files for Root {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        DiskIn(&self.folder).read(path)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        DiskIn(&self.folder).metadata(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        DiskIn(&self.folder).list(path)
    }
}

impl ConfigFiles for Root {
    fn dialect(&self) -> Dialect {
        self.dialect
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_start_in_the_root_and_errors_name_them_as_given() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "x").unwrap();
        let root = Root::of(Dialect::default(), dir.path()).unwrap();
        assert_eq!(root.read_to_string(Path::new("a")).unwrap(), "x");
        assert_eq!(root.read_to_string(&dir.path().join("a")).unwrap(), "x");
        assert_eq!(root.list(Path::new(".")).unwrap().len(), 1);
        assert_eq!(root.read(Path::new("b")).unwrap_err().to_string(), "open b: no such file or directory");
        assert_eq!(root.path(Path::new(".terraform")), root.dir().join(".terraform"));
        assert_eq!(Root::here(Dialect::default()).path(Path::new("a")), Path::new("a"));
    }
}
