//! What a package's content adds up to, so that a change is noticed: when it is fetched, and when it is used again.
//!
//! The sum is the `h1:` of provider packages over every file but the records of version control; a link counts as where it
//! leads. What an installed package was made of is kept beside it, because people let programs write into modules: files
//! that came later do not matter, unless they are configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use base::atomic;
use base::files::named;
use gotext::hex::hex;
use model::deps::Hash;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::folders::{is_configuration, is_history};
use crate::package::hash;

/// What is done about checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksums {
    /// Checked, and recorded when they are new.
    Record,
    Verify,
    Off,
}

impl Checksums {
    /// By the setting's text; anything else than the known words counts as not set.
    pub fn parse(text: &str) -> Checksums {
        match text {
            "off" | "0" | "false" => Checksums::Off,
            "verify" => Checksums::Verify,
            _ => Checksums::Record,
        }
    }
}

/// A package's files and their sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    pub hash: Hash,
    pub files: BTreeSet<String>,
}

/// Adds up everything in a package's folder.
pub fn of_folder(dir: &Path) -> io::Result<Content> {
    let files = files_below(dir)?;
    let hash = sum(dir, &files)?;
    Ok(Content { hash, files })
}

/// The sum of a package that was made of `known` files, with any configuration that has appeared since.
pub fn of_installed(dir: &Path, known: &BTreeSet<String>) -> io::Result<Hash> {
    let mut files: BTreeSet<String> = files_below(dir)?.into_iter().filter(|name| is_configuration(name)).collect();
    files.extend(known.iter().cloned());
    sum(dir, &files)
}

fn sum(dir: &Path, files: &BTreeSet<String>) -> io::Result<Hash> {
    let mut lines = Vec::with_capacity(files.len());
    for name in files {
        let path = dir.join(name);
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                // A file that is gone changes the sum.
                lines.push((name.clone(), "gone".to_owned()));
                continue;
            }
            Err(e) => return Err(named(e, "stat", &path)),
        };
        let digest = if metadata.is_symlink() {
            let leads = fs::read_link(&path).map_err(|e| named(e, "readlink", &path))?;
            hex(&Sha256::digest(format!("link:{}", leads.display())))
        } else {
            let content = fs::read(&path).map_err(|e| named(e, "read", &path))?;
            hex(&Sha256::digest(&content))
        };
        lines.push((name.clone(), digest));
    }
    Ok(hash::combine(lines))
}

/// Every file and link below a folder by its path with slashes; links are not followed.
fn files_below(dir: &Path) -> io::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![(dir.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|e| named(e, "open", &folder))? {
            let entry = entry.map_err(|e| named(e, "read", &folder))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_history(&name) {
                continue;
            }
            let kind = entry.file_type().map_err(|e| named(e, "stat", &entry.path()))?;
            match kind.is_dir() {
                true => folders.push((entry.path(), format!("{prefix}{name}/"))),
                false => drop(found.insert(format!("{prefix}{name}"))),
            }
        }
    }
    Ok(found)
}

/// The name of the file below the folder of modules that says what installed packages were made of.
const RECORD_FILE: &str = "packages.json";
const RECORD_VERSION: u32 = 1;

/// What was installed where, by the module's key. The format has a version: another one is forgotten, never read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Installed {
    pub packages: BTreeMap<String, InstalledModule>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstalledModule {
    pub hash: String,
    pub files: BTreeSet<String>,
}

#[derive(Serialize, Deserialize)]
struct SavedChecksums {
    version: u32,
    packages: BTreeMap<String, InstalledModule>,
}

impl Installed {
    fn path(modules_dir: &Path) -> PathBuf {
        modules_dir.join(RECORD_FILE)
    }

    /// A file that cannot be read counts as empty: its packages are then checked whole.
    pub fn load(modules_dir: &Path) -> Installed {
        let saved = fs::read(Installed::path(modules_dir))
            .ok()
            .and_then(|bytes| serde_json::from_slice::<SavedChecksums>(&bytes).ok());
        Installed { packages: saved.filter(|s| s.version == RECORD_VERSION).map(|s| s.packages).unwrap_or_default() }
    }

    pub fn save(&self, modules_dir: &Path) -> io::Result<()> {
        let saved = SavedChecksums { version: RECORD_VERSION, packages: self.packages.clone() };
        let text = serde_json::to_vec(&saved).map_err(io::Error::other)?;
        atomic::write(&Installed::path(modules_dir), &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_the_sum() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("main.tf", "a");
        write("d/f", "b");
        write(".git/HEAD", "x");
        let content = of_folder(dir.path()).unwrap();
        let plain = tempfile::tempdir().unwrap();
        super::super::folders::copy(dir.path(), plain.path(), super::super::folders::CopyScope::Visible).unwrap();
        assert_eq!(content.hash, hash::of_dir(plain.path()).unwrap(), "the sum of a provider's package");
        let now = || of_installed(dir.path(), &content.files).unwrap() == content.hash;
        assert!(now());
        write(".git/HEAD", "y");
        write("made/later.zip", "z");
        assert!(now(), "what is no configuration may be added");
        write("d/evil.tf", "");
        assert!(!now(), "configuration may not");
        fs::remove_file(dir.path().join("d/evil.tf")).unwrap();
        write("d/f", "c");
        assert!(!now(), "nor may files change");
        fs::remove_file(dir.path().join("d/f")).unwrap();
        assert!(!now(), "or go");
    }
}
