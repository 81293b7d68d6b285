//! Snapshots that were written, kept on this machine so that an earlier one can be restored.
//!
//! Each command that writes a state keeps its last snapshot, and what it replaced if that is not kept yet. Keeping one is never a
//! reason for a command to fail. An entry is a file: a line of JSON ([`SnapshotHeader`]) and the snapshot, compressed, and sealed where
//! states are. Entries of other formats are ignored; count `FORMAT` up when it changes.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::files::named;
use base::{atomic, limits};
use encryption::Cipher;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use model::state::StateMeta;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::durable::user_key::UserKey;

const FORMAT: u32 = 1;
const SUFFIX: &str = ".snapshot";

/// The snapshots of one workspace.
#[derive(Clone)]
pub struct History {
    dir: PathBuf,
    /// How many are kept at most.
    limit: usize,
    cipher: Option<Arc<Cipher>>,
    /// Opens what it sealed, also after the states were moved to this machine.
    user_key: Option<UserKey>,
    /// The key seals new snapshots that no cipher seals: their states are not on this machine.
    is_elsewhere: bool,
}

/// How the content of an entry is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SealedBy {
    /// As states are, if at all.
    #[default]
    Cipher,
    UserKey,
}

/// What is known of a snapshot that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    pub header: SnapshotHeader,
    pub path: PathBuf,
}

/// A snapshot as an entry has it, before it is sealed.
#[derive(Debug)]
pub struct Packed {
    header: SnapshotHeader,
    content: Vec<u8>,
}

impl Packed {
    /// `operation`: what the lock was taken for.
    pub fn of(snapshot: &[u8], operation: &str) -> io::Result<Packed> {
        let (serial, lineage) = identity(snapshot).ok_or_else(|| io::Error::other("it is no state file"))?;
        let mut encoder = GzEncoder::new(Vec::with_capacity(snapshot.len() / 8), Compression::fast());
        encoder.write_all(snapshot)?;
        let header = SnapshotHeader {
            format: FORMAT,
            serial,
            lineage,
            written: format!("{:.6}", jiff::Timestamp::now()),
            operation: operation.to_owned(),
            size: snapshot.len() as u64,
            sealed: false,
            by: SealedBy::default(),
        };
        Ok(Packed { header, content: encoder.finish()? })
    }
}

/// The first line of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotHeader {
    format: u32,
    pub serial: u64,
    pub lineage: String,
    /// RFC 3339 in UTC.
    pub written: String,
    /// What the lock was taken for.
    pub operation: String,
    /// Bytes of the snapshot as a state file.
    pub size: u64,
    pub sealed: bool,
    #[serde(default)]
    by: SealedBy,
}

impl History {
    pub fn new(dir: PathBuf, limit: usize, cipher: Option<Arc<Cipher>>) -> History {
        History { dir, limit, cipher, user_key: None, is_elsewhere: false }
    }

    /// Snapshots of states that are elsewhere are unreadable without the key, if they are not encrypted as states are.
    pub fn with_user_key(self, user_key: Option<UserKey>, is_elsewhere: bool) -> History {
        History { user_key, is_elsewhere, ..self }
    }

    /// How many snapshots are kept at most.
    pub fn limit(&self) -> usize {
        self.limit
    }

    fn sealing(&self) -> Option<&Cipher> {
        self.cipher.as_deref().filter(|cipher| !cipher.writes_plain())
    }

    /// Keeps a snapshot as it is in a state file that is not encrypted; the oldest ones go.
    pub async fn keep(&self, snapshot: Packed) -> io::Result<()> {
        let Packed { mut header, mut content } = snapshot;
        if let Some(cipher) = self.sealing() {
            content = cipher.seal_bytes(&content).await.map_err(|e| io::Error::other(e.to_string()))?;
            header.sealed = true;
            self.seal_others().await?;
        } else if let Some(key) = self.user_key.as_ref().filter(|_| self.is_elsewhere) {
            content = key.seal(&content)?;
            (header.sealed, header.by) = (true, SealedBy::UserKey);
        } else if self.is_elsewhere {
            return Ok(());
        }
        let history = self.clone();
        blocking(move || {
            let name = format!("{}-{}{SUFFIX}", header.written.replace(':', ""), header.serial);
            history.write(&name, &header, &content)?;
            history.prune()
        })
        .await
    }

    /// Entries from before states were encrypted must not stay as they are.
    async fn seal_others(&self) -> io::Result<()> {
        let Some(cipher) = self.sealing() else { return Ok(()) };
        for mut entry in self.entries()?.into_iter().filter(|entry| !entry.header.sealed) {
            let (_, content) = read(&entry.path)?;
            let content = cipher.seal_bytes(&content).await.map_err(|e| io::Error::other(e.to_string()))?;
            entry.header.sealed = true;
            let name = entry.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            self.write(&name, &entry.header, &content)?;
        }
        Ok(())
    }

    fn write(&self, name: &str, header: &SnapshotHeader, content: &[u8]) -> io::Result<()> {
        std::fs::create_dir_all(&self.dir).map_err(|e| named(e, "mkdir", &self.dir))?;
        let mut file = serde_json::to_vec(header)?;
        file.push(b'\n');
        file.extend_from_slice(content);
        atomic::write_private_content(&self.dir.join(name), &file)
    }

    fn prune(&self) -> io::Result<()> {
        for path in paths(&self.dir)?.into_iter().rev().skip(self.limit) {
            std::fs::remove_file(&path).map_err(|e| named(e, "remove", &path))?;
        }
        Ok(())
    }

    /// Whether a snapshot of these is kept.
    pub fn has(&self, meta: &StateMeta) -> bool {
        let serial = format!("-{}{SUFFIX}", meta.serial);
        let paths = paths(&self.dir).unwrap_or_default();
        let same = paths.iter().filter(|path| path.to_string_lossy().ends_with(&serial));
        same.filter_map(|path| header(path).ok()).any(|header| header.lineage == meta.lineage)
    }

    /// What is kept, the newest first.
    pub fn entries(&self) -> io::Result<Vec<HistoryEntry>> {
        let paths = paths(&self.dir)?.into_iter().rev();
        Ok(paths.filter_map(|path| header(&path).ok().map(|header| HistoryEntry { header, path })).collect())
    }

    /// The snapshot of an entry as a state file.
    pub async fn snapshot(&self, entry: &HistoryEntry) -> io::Result<Vec<u8>> {
        let (header, mut content) = read(&entry.path)?;
        let failed = |why: String| io::Error::other(format!("{}: {why}", entry.path.display()));
        match (&self.cipher, header.sealed) {
            (_, true) if header.by == SealedBy::UserKey => {
                let key = self.user_key.as_ref().ok_or_else(|| failed("the folder of its key is not known".into()))?;
                content = key.open(content).map_err(|e| failed(e.to_string()))?;
            }
            (Some(cipher), true) => {
                content = cipher.open_bytes(&content).await.map_err(|e| failed(e.to_string()))?;
            }
            (None, true) => {
                return Err(failed("it is encrypted and can not be read without an encryption configuration".into()));
            }
            (Some(cipher), false) => cipher.check_plain().map_err(|e| failed(e.to_string()))?,
            (None, false) => {}
        }
        limits::state().read(GzDecoder::new(&*content)).map_err(|e| failed(e.to_string()))
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

/// Serial and lineage of a state file, which are at its start: the rest is not looked at.
pub fn identity(snapshot: &[u8]) -> Option<(u64, String)> {
    let mut found = IdentityFields::default();
    // Leaving before the end is an error.
    let _ = serde_json::Deserializer::from_slice(snapshot).deserialize_map(&mut found);
    Some((found.serial?, found.lineage?))
}

#[derive(Default)]
struct IdentityFields {
    serial: Option<u64>,
    lineage: Option<String>,
}

impl<'de> Visitor<'de> for &mut IdentityFields {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a state")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "serial" => self.serial = Some(map.next_value()?),
                "lineage" => self.lineage = Some(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            if self.serial.is_some() && self.lineage.is_some() {
                break;
            }
        }
        Ok(())
    }
}

/// The files of entries, the oldest first: their names begin with the time.
fn paths(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let listed = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|e| named(e, "open", dir))?,
    };
    let paths = listed.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.to_string_lossy().ends_with(SUFFIX)).collect();
    paths.sort();
    Ok(paths)
}

fn header(path: &Path) -> io::Result<SnapshotHeader> {
    let mut line = Vec::new();
    io::BufRead::read_until(&mut io::BufReader::new(std::fs::File::open(path)?), b'\n', &mut line)?;
    parse(&line)
}

fn parse(line: &[u8]) -> io::Result<SnapshotHeader> {
    let header: SnapshotHeader = serde_json::from_slice(line)?;
    match header.format {
        FORMAT => Ok(header),
        other => Err(io::Error::other(format!("the format {other} is not known"))),
    }
}

fn read(path: &Path) -> io::Result<(SnapshotHeader, Vec<u8>)> {
    let mut content = std::fs::read(path).map_err(|e| named(e, "open", path))?;
    let end = content.iter().position(|byte| *byte == b'\n').map_or(content.len(), |at| at + 1);
    let rest = content.split_off(end);
    Ok((parse(&content)?, rest))
}

#[cfg(test)]
mod tests {
    use model::state::{State, file};

    use super::*;

    fn snapshot(serial: u64) -> Vec<u8> {
        let meta = StateMeta { terraform_version: String::new(), serial, lineage: "a".into() };
        file::write(&meta, &State::default()).unwrap()
    }

    fn packed(serial: u64) -> Packed {
        Packed::of(&snapshot(serial), "apply").unwrap()
    }

    fn serials(history: &History) -> Vec<u64> {
        history.entries().unwrap().iter().map(|entry| entry.header.serial).collect()
    }

    #[tokio::test]
    async fn the_last_snapshots_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let history = History::new(dir.path().join("history"), 3, None);
        assert!(serials(&history).is_empty());
        for serial in 1..=5 {
            history.keep(packed(serial)).await.unwrap();
        }
        assert_eq!(serials(&history), [5, 4, 3]);
        let entry = history.entries().unwrap().remove(1);
        assert_eq!((entry.header.lineage.as_str(), entry.header.operation.as_str()), ("a", "apply"));
        assert_eq!(history.snapshot(&entry).await.unwrap(), snapshot(4));
        let meta = |serial: u64, lineage: &str| StateMeta { serial, lineage: lineage.into(), ..StateMeta::default() };
        assert!(history.has(&meta(4, "a")) && !history.has(&meta(4, "b")) && !history.has(&meta(2, "a")));
    }

    #[tokio::test]
    async fn a_user_key_makes_entries_unreadable_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let plain = History::new(dir.path().join("history"), 9, None);
        let history = plain.clone().with_user_key(Some(UserKey::at(dir.path().join("key"))), true);
        history.keep(packed(1)).await.unwrap();
        let entry = history.entries().unwrap().remove(0);
        assert_eq!(history.snapshot(&entry).await.unwrap(), snapshot(1));
        assert!(plain.snapshot(&entry).await.is_err());
        // As after a move of the states to this machine.
        let here = History { is_elsewhere: false, ..history.clone() };
        assert_eq!(here.snapshot(&entry).await.unwrap(), snapshot(1));
        std::fs::remove_file(dir.path().join("key")).unwrap();
        assert!(history.snapshot(&entry).await.unwrap_err().to_string().contains("which is not there"));
    }

    #[tokio::test]
    async fn damaged_entries_are_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let history = History::new(dir.path().to_path_buf(), 9, None);
        history.keep(packed(1)).await.unwrap();
        std::fs::write(dir.path().join("2000-2.snapshot"), "").unwrap();
        std::fs::write(dir.path().join("9000-3.snapshot"), "{\"format\":2}\nx").unwrap();
        std::fs::write(dir.path().join("notes"), "").unwrap();
        assert_eq!(serials(&history), [1]);
        let entry = history.entries().unwrap().remove(0);
        let content = std::fs::read(&entry.path).unwrap();
        std::fs::write(&entry.path, &content[..content.len() - 9]).unwrap();
        assert!(history.snapshot(&entry).await.is_err());
    }
}
