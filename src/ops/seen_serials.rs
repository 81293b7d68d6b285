//! The serials of the indexes of versions that were seen, so that an older index is noticed.
//!
//! A file among the user's data, [`FILE`]: a JSON object with the `version` of this format and the `serials` by the ID of the key that
//! signed. Each key has a separate serial, so that an index of a test or of another project does not make the project's look old. Any
//! change of the format gets a new `version`; a file with another one is an error, because ignoring it would accept an older index.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use base::atomic;
use base::env::Environment;
use base::files::named;
use serde::{Deserialize, Serialize};

use crate::setup::user_data;

const FILE: &str = "index-serials.json";
const VERSION: u64 = 1;

/// The serials that were seen before.
#[derive(Debug)]
pub struct SeenSerials {
    /// None: the environment names no place for data, and nothing is kept.
    path: Option<PathBuf>,
    serials: BTreeMap<String, u64>,
}

#[derive(Serialize, Deserialize)]
struct SerialsFile {
    version: u64,
    serials: BTreeMap<String, u64>,
}

impl SeenSerials {
    /// A file that cannot be read is an error, which says how to go on.
    pub fn open(environment: &Environment) -> io::Result<SeenSerials> {
        let path = user_data::folder(environment).map(|folder| folder.join(FILE));
        let serials = path.as_deref().map_or_else(|| Ok(BTreeMap::new()), read);
        Ok(SeenSerials { serials: serials?, path })
    }

    /// The highest serial of the indexes that the key has signed.
    pub fn of(&self, key_id: &str) -> Option<u64> {
        self.serials.get(key_id).copied()
    }

    /// Keeps a serial that is higher than the one before.
    pub fn record(mut self, key_id: &str, serial: u64) -> io::Result<()> {
        let Some(path) = self.path.take().filter(|_| self.of(key_id).is_none_or(|seen| seen < serial)) else {
            return Ok(());
        };
        self.serials.insert(key_id.to_owned(), serial);
        let file = SerialsFile { version: VERSION, serials: self.serials };
        let folder = atomic::directory_of(&path);
        std::fs::create_dir_all(folder).map_err(|e| named(e, "mkdir", folder))?;
        atomic::write_private(&path, serde_json::to_string(&file)?.as_bytes())
    }
}

fn read(path: &Path) -> io::Result<BTreeMap<String, u64>> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(e) => return Err(named(e, "read", path)),
    };
    match serde_json::from_slice(&text) {
        Ok(SerialsFile { version: VERSION, serials }) => Ok(serials),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!(
                "{} is damaged, or was written by a later version. It has the serials of the indexes of versions that were seen; \
                 delete it to begin anew",
                path.display()
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn highest_serial_of_each_key_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let environment = Environment::of([("XDG_DATA_HOME", dir.path().join("data").to_str().unwrap())]);
        let open = || SeenSerials::open(&environment).unwrap();
        assert_eq!(open().of("a"), None);
        for (key, serial) in [("a", 5), ("b", 1), ("a", 4), ("a", 6)] {
            open().record(key, serial).unwrap();
        }
        assert_eq!((open().of("a"), open().of("b"), open().of("c")), (Some(6), Some(1), None));
        let path = dir.path().join("data/terrane").join(FILE);
        assert_eq!(std::fs::read_to_string(path).unwrap(), r#"{"version":1,"serials":{"a":6,"b":1}}"#);
    }

    #[test]
    fn damaged_files_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let environment = Environment::of([("XDG_DATA_HOME", dir.path().to_str().unwrap())]);
        let folder = dir.path().join("terrane");
        std::fs::create_dir(&folder).unwrap();
        for text in ["", "{}", "[]", r#"{"version":2,"serials":{}}"#, r#"{"version":1,"serials":{"a":-1}}"#] {
            std::fs::write(folder.join(FILE), text).unwrap();
            let error = SeenSerials::open(&environment).unwrap_err().to_string();
            assert!(error.contains("delete it to begin anew"), "{text}: {error}");
        }
    }

    #[test]
    fn nothing_is_kept_without_a_place() {
        let environment = Environment::default();
        SeenSerials::open(&environment).unwrap().record("a", 5).unwrap();
        assert_eq!(SeenSerials::open(&environment).unwrap().of("a"), None);
    }
}
