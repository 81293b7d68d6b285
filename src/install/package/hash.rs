//! The `h1:` hash of a package, over the names and contents of its files; from a folder and from an archive the same.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use base::files::named;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gotext::hex::hex;
use model::deps::hash::{Hash, Scheme};
use sha2::{Digest, Sha256};

/// The `h1:` hashes of an archive. The two differ only for archives with entries for folders or with names like `./a`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// Over the files as they are unpacked: what lock files hold.
    pub unpacked: Hash,
    /// Over the entries of the archive: what network mirrors say of it.
    pub archive: Hash,
}

/// The hash of everything below a folder; links are followed. Large files are read by several threads side by side.
pub fn of_dir(dir: &Path) -> io::Result<Hash> {
    let names = files_below(dir)?;
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, io::Result<String>)>> = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(names.len()).max(1);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(name) = names.get(i) else { return };
                    let sum = of_file(&dir.join(name));
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((i, sum));
                }
            });
        }
    });
    let mut sums = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    sums.sort_by_key(|(i, _)| *i);
    let lines: io::Result<Vec<(String, String)>> =
        sums.into_iter().map(|(i, sum)| Ok((slashed(&names[i]), sum?))).collect();
    Ok(combine(lines?))
}

/// The hex SHA-256 of a file.
pub fn of_file(path: &Path) -> io::Result<String> {
    sha256_of_file(path).map(|sum| hex(&sum))
}

/// The SHA-256 of a file.
pub fn sha256_of_file(path: &Path) -> io::Result<[u8; 32]> {
    let mut file = File::open(path).map_err(|e| named(e, "open", path))?;
    sha256(&mut file).map_err(|e| named(e, "read", path))
}

fn sha256(reader: &mut dyn Read) -> io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().into()),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// The hash of files by their names and the hex SHA-256 of each.
pub fn combine(mut lines: Vec<(String, String)>) -> Hash {
    lines.sort();
    let mut hasher = Sha256::new();
    for (name, sum) in lines {
        hasher.update(format!("{sum}  {name}\n"));
    }
    Hash::new(Scheme::H1, &STANDARD.encode(hasher.finalize()))
}

pub(super) fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|c| c.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// Every file below a folder, relative to it.
pub(super) fn files_below(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let here = dir.join(&folder);
        for entry in std::fs::read_dir(&here).map_err(|e| named(e, "open", &here))? {
            let entry = entry.map_err(|e| named(e, "read", &here))?;
            let relative = folder.join(entry.file_name());
            if entry.file_type().map_err(|e| named(e, "stat", &entry.path()))?.is_dir() {
                folders.push(relative);
            } else {
                found.push(relative);
            }
        }
    }
    // A line of the sum holds one name.
    if let Some(name) = found.iter().find(|name| name.as_os_str().as_encoded_bytes().contains(&b'\n')) {
        let why = io::Error::other("file names with line breaks are not supported");
        return Err(named(why, "hash", &dir.join(name)));
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from the reference's lock file for a package with this one file.
    #[test]
    fn a_folder_has_the_hash_that_lock_files_hold() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("terraform-provider-foo_v2.1.0"), "#!/bin/sh\n").unwrap();
        assert_eq!(of_dir(dir.path()).unwrap().as_str(), "h1:rYc35L4t00nH87OdZn9QaXYXNC1TkfJfonfZ5ssDAwU=");
    }
}
