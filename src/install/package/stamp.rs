//! What was hashed when: so that a package of hundreds of megabytes is not read again at every command.
//!
//! A stamp is believed only while every file of the package is the same one, of the same size, unchanged in time.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::base::atomic;
use crate::base::files::named;
use crate::model::deps::Hash;

use super::hash;

/// The name of the file below `.terraform`.
pub const STAMP_FILE: &str = "package-hashes.json";

/// The hashes of packages by their folder. The format has a version: another one is forgotten, never read.
pub struct Stamps {
    path: PathBuf,
    known: Mutex<Known>,
}

struct Known {
    packages: BTreeMap<String, Stamp>,
    changed: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Stamp {
    h1: String,
    files: Vec<FileStamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct FileStamp {
    name: String,
    size: u64,
    modified_ns: u64,
    changed_ns: i64,
    inode: u64,
    device: u64,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    version: u32,
    packages: BTreeMap<String, Stamp>,
}

const VERSION: u32 = 1;

impl Stamps {
    /// The stamps of a working directory; a file that cannot be read counts as empty.
    pub fn load(data_dir: &Path) -> Stamps {
        let path = data_dir.join(STAMP_FILE);
        let saved = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Saved>(&bytes).ok());
        let packages = saved.filter(|s| s.version == VERSION).map(|s| s.packages).unwrap_or_default();
        Stamps { path, known: Mutex::new(Known { packages, changed: false }) }
    }

    /// The hash of the package in a folder: remembered if nothing changed since, otherwise computed.
    pub fn hash_of(&self, dir: &Path) -> io::Result<Hash> {
        let real = fs::canonicalize(dir).map_err(|e| named(e, "find", dir))?;
        let key = real.to_string_lossy().into_owned();
        let files = look_at(&real)?;
        if let Some(stamp) = self.known().packages.get(&key)
            && stamp.files == files
            && let Ok(hash) = Hash::parse(&stamp.h1)
        {
            return Ok(hash);
        }
        let hash = hash::of_dir(&real)?;
        // What changed while it was read is not remembered.
        if look_at(&real)? == files {
            let mut known = self.known();
            known.packages.insert(key, Stamp { h1: hash.to_string(), files });
            known.changed = true;
        }
        Ok(hash)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the stamps if there are new ones. They are only a help: failing to keep them is no error.
    pub fn save(&self) {
        let known = self.known();
        if !known.changed {
            return;
        }
        let saved = Saved { version: VERSION, packages: known.packages.clone() };
        let Ok(text) = serde_json::to_vec(&saved) else { return };
        if self.path.parent().is_some_and(|p| fs::create_dir_all(p).is_ok()) {
            let _ = atomic::write(&self.path, &text);
        }
    }
}

fn look_at(dir: &Path) -> io::Result<Vec<FileStamp>> {
    let names = hash::files_below(dir)?;
    names
        .iter()
        .map(|name| {
            let path = dir.join(name);
            let metadata = fs::metadata(&path).map_err(|e| named(e, "stat", &path))?;
            let modified = metadata.modified().ok().and_then(|m| m.duration_since(UNIX_EPOCH).ok());
            let (changed_ns, inode, device) = identity(&metadata);
            Ok(FileStamp {
                name: name.to_string_lossy().into_owned(),
                size: metadata.len(),
                modified_ns: modified.map_or(0, |d| d.as_nanos() as u64),
                changed_ns,
                inode,
                device,
            })
        })
        .collect()
}

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> (i64, u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.ctime().wrapping_mul(1_000_000_000).wrapping_add(metadata.ctime_nsec()), metadata.ino(), metadata.dev())
}

#[cfg(not(unix))]
fn identity(_metadata: &fs::Metadata) -> (i64, u64, u64) {
    (0, 0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let (package, data) = (dir.path().join("p"), dir.path().join("data"));
        fs::create_dir_all(&package).unwrap();
        fs::write(package.join("a"), "one").unwrap();
        let stamps = Stamps::load(&data);
        let first = stamps.hash_of(&package).unwrap();
        stamps.save();
        let again = Stamps::load(&data);
        assert_eq!(again.hash_of(&package).unwrap(), first);
        assert!(!again.known().changed, "the stamp was believed");
        fs::write(package.join("a"), "two").unwrap();
        assert_ne!(again.hash_of(&package).unwrap(), first);
    }
}
