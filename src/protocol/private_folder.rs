//! Temporary folders that only this user may enter.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

/// A new folder, removed with all that is in it when the value is dropped.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    is_kept: bool,
}

impl PrivateFolder {
    /// A folder in `parent` whose name begins with `prefix`. Fails rather than take a folder that exists.
    pub fn create(parent: &Path, prefix: &str) -> io::Result<PrivateFolder> {
        let path = parent.join(format!("{prefix}{}", random_name()?));
        private_builder().create(&path)?;
        Ok(PrivateFolder { path, is_kept: false })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder is not removed.
    pub fn keep(&mut self) {
        self.is_kept = true;
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Makes folders that only their owner may enter.
#[cfg(unix)]
fn private_builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Makes folders with the access rules of their parent: on Windows, the temporary folder of a user is private.
#[cfg(not(unix))]
fn private_builder() -> DirBuilder {
    DirBuilder::new()
}

/// Sixteen hexadecimal digits from the random numbers of the system.
pub fn random_name() -> io::Result<String> {
    let mut bytes = [0; 8];
    getrandom::getrandom(&mut bytes).map_err(|_| io::Error::other("the system gave no random numbers"))?;
    Ok(format!("{:016x}", u64::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_private_and_go_with_their_values() {
        let parent = PrivateFolder::create(&std::env::temp_dir(), "parent").unwrap();
        let mut kept = PrivateFolder::create(parent.path(), "kept").unwrap();
        kept.keep();
        let gone = PrivateFolder::create(parent.path(), "gone").unwrap();
        fs::write(gone.path().join("file"), "").unwrap();
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(gone.path()).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o700);
        }
        let paths = [kept.path().to_owned(), gone.path().to_owned(), parent.path().to_owned()];
        drop((kept, gone));
        assert_eq!(paths.each_ref().map(|path| path.exists()), [true, false, true]);
        drop(parent);
        assert!(!paths[2].exists());
        assert!(PrivateFolder::create(&paths[2], "x").is_err(), "the parent is missing");
    }
}
