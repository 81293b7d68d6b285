//! A key of the user on this machine, for copies of states that must not be readable where they are stored.
//!
//! It is outside of working directories, so that a copy of one (a cache, an archive, a commit) does not have it.

use std::io;
use std::path::{Path, PathBuf};

use base::atomic;
use base::files::named;
use encryption::SealedFrames;
use gotext::hex::hex;

/// The file of the key. It is made when it is first needed.
#[derive(Clone, Debug)]
pub struct UserKey {
    path: PathBuf,
}

impl UserKey {
    pub fn at(path: PathBuf) -> UserKey {
        UserKey { path }
    }

    /// Encrypts a copy; the key is made if there is none.
    pub fn seal(&self, plain: &[u8]) -> io::Result<Vec<u8>> {
        if !self.path.exists() {
            let frames = SealedFrames::new().map_err(io::Error::other)?;
            let folder = atomic::directory_of(&self.path);
            std::fs::create_dir_all(folder).map_err(|e| named(e, "mkdir", folder))?;
            // Another process may make it at the same time: the first one counts.
            atomic::create_new(&self.path, 0o600, hex(frames.key()).as_bytes())?;
        }
        self.frames()?.seal(0, plain).map_err(io::Error::other)
    }

    pub fn open(&self, sealed: Vec<u8>) -> io::Result<Vec<u8>> {
        let path = self.path.display();
        let missing = |e: io::Error| match e.kind() {
            io::ErrorKind::NotFound => {
                io::Error::other(format!("it is encrypted with the key in {path}, which is not there"))
            }
            _ => e,
        };
        let opened = self.frames().map_err(missing)?.open(0, sealed);
        opened.map_err(|_| io::Error::other(format!("it is encrypted with another key than the one in {path}")))
    }

    fn frames(&self) -> io::Result<SealedFrames> {
        let text = read(&self.path)?;
        let pairs = text.trim().as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap_or_default());
        let key: Option<Vec<u8>> = pairs.map(|pair| u8::from_str_radix(pair, 16).ok()).collect();
        match key.filter(|key| key.len() == 32) {
            Some(key) => Ok(SealedFrames::of_key(&key)),
            None => Err(io::Error::other(format!("{} holds no key", self.path.display()))),
        }
    }
}

fn read(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path).map_err(|e| {
        let kind = e.kind();
        io::Error::new(kind, named(e, "open", path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_with_the_same_file_only() {
        let dir = tempfile::tempdir().unwrap();
        let key = UserKey::at(dir.path().join("a/key"));
        let sealed = key.seal(b"secret").unwrap();
        assert!(!sealed.windows(6).any(|part| part == b"secret"));
        assert_ne!(sealed, key.seal(b"secret").unwrap());
        assert_eq!(key.open(sealed.clone()).unwrap(), b"secret");
        let other = UserKey::at(dir.path().join("b/key"));
        assert!(other.open(sealed.clone()).unwrap_err().to_string().ends_with("b/key, which is not there"));
        other.seal(b"").unwrap();
        assert!(other.open(sealed.clone()).unwrap_err().to_string().contains("with another key"));
        std::fs::write(dir.path().join("b/key"), "é").unwrap();
        assert!(other.open(sealed).unwrap_err().to_string().ends_with("holds no key"));
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_reads_the_key() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        UserKey::at(path.clone()).seal(b"").unwrap();
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
