//! Schema responses kept on disk, so that a provider which allows it is not asked for what its package said before.
//!
//! One file per package: a head, then the response as it came. The file's name is the hash of the key, which names the
//! package's content, so an entry never becomes wrong; what cannot be read is as if it were not there.
//!
//! The head is `terrane schema N\n` with N the version of this format, the protocol version (2 bytes), the length of
//! the response (8 bytes) and its checksum (CRC-32, 4 bytes), big-endian. Any change of it gets a new N.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::wire::schema::WireSchemas;
use super::wire::{v5::V5, v6::V6};
use crate::base::atomic;
use crate::log;
use crate::model::schema::ProviderSchemas;

const MAGIC: &[u8] = b"terrane schema 1\n";
const HEAD: usize = MAGIC.len() + 2 + 8 + 4;

/// A folder of entries. It belongs to the user alone; one that others may write to is not read.
#[derive(Clone, Debug)]
pub struct SchemaCache {
    folder: PathBuf,
}

/// A response and the protocol version that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub version: u16,
    pub response: Bytes,
}

impl SchemaCache {
    pub fn new(folder: impl Into<PathBuf>) -> SchemaCache {
        SchemaCache { folder: folder.into() }
    }

    /// The entry for a package; `key` is a hash of its content.
    pub fn load(&self, key: &str) -> Option<Entry> {
        if !is_private(&self.folder) {
            return None;
        }
        let content = std::fs::read(self.path(key)).ok()?;
        let entry = parse(content.into());
        if entry.is_none() {
            log!(Warn, "the kept schema for {key} is damaged: asking the provider again");
        }
        entry
    }

    /// Keeps a response. That it cannot be kept costs time on the next run, and nothing else.
    pub fn store(&self, key: &str, entry: &Entry) {
        if let Err(error) = self.try_store(key, entry) {
            log!(Warn, "cannot keep the schema for {key}: {error}");
        }
    }

    /// The schemas of a package whose provider need not even run.
    pub fn schemas(&self, key: &str) -> Option<Arc<dyn ProviderSchemas>> {
        let Entry { version, response } = self.load(key)?;
        match version {
            5 => Some(Arc::new(WireSchemas::<V5>::read(response).ok()?.0)),
            6 => Some(Arc::new(WireSchemas::<V6>::read(response).ok()?.0)),
            _ => None,
        }
    }

    fn try_store(&self, key: &str, entry: &Entry) -> io::Result<()> {
        create_private(&self.folder)?;
        let mut content = Vec::with_capacity(HEAD + entry.response.len());
        content.extend_from_slice(MAGIC);
        content.extend_from_slice(&entry.version.to_be_bytes());
        content.extend_from_slice(&(entry.response.len() as u64).to_be_bytes());
        content.extend_from_slice(&checksum(&entry.response).to_be_bytes());
        content.extend_from_slice(&entry.response);
        atomic::write_private(&self.path(key), &content)
    }

    fn path(&self, key: &str) -> PathBuf {
        let hash = Sha256::digest(key.as_bytes());
        let name: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{name}.schema"))
    }
}

fn parse(mut content: Bytes) -> Option<Entry> {
    if content.len() < HEAD || !content.starts_with(MAGIC) {
        return None;
    }
    let response = content.split_off(HEAD);
    let head = &content[MAGIC.len()..];
    let version = u16::from_be_bytes(head[..2].try_into().ok()?);
    let length = u64::from_be_bytes(head[2..10].try_into().ok()?);
    let sum = u32::from_be_bytes(head[10..14].try_into().ok()?);
    (length == response.len() as u64 && sum == checksum(&response)).then_some(Entry { version, response })
}

fn checksum(data: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(data);
    crc.sum()
}

fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// True for a folder of ours that nobody else may write to.
fn is_private(folder: &Path) -> bool {
    let Ok(metadata) = std::fs::metadata(folder) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // SAFETY: the call has no preconditions and cannot fail.
        let own = unsafe { libc::geteuid() };
        metadata.is_dir() && metadata.uid() == own && metadata.mode() & 0o022 == 0
    }
    #[cfg(not(unix))]
    metadata.is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_or_are_missed() {
        let temporary = tempfile::tempdir().unwrap();
        let cache = SchemaCache::new(temporary.path().join("a/b"));
        let entry = Entry { version: 5, response: Bytes::from_static(b"response") };
        assert_eq!(cache.load("h1:x"), None);
        cache.store("h1:x", &entry);
        assert_eq!(cache.load("h1:x"), Some(entry.clone()));
        assert_eq!(cache.load("h1:y"), None);

        let path = cache.path("h1:x");
        let good = std::fs::read(&path).unwrap();
        for i in 0..good.len() {
            let mut bad = good.clone();
            bad[i] ^= 1;
            std::fs::write(&path, &bad).unwrap();
            // The two bytes of the version are not covered: another version is no harm, it is checked against the plugin.
            let version = MAGIC.len()..MAGIC.len() + 2;
            assert!(cache.load("h1:x").is_none() || version.contains(&i), "byte {i}");
        }
        std::fs::write(&path, &good[..good.len() - 1]).unwrap();
        assert_eq!(cache.load("h1:x"), None);
        std::fs::write(&path, &good).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&cache.folder, std::fs::Permissions::from_mode(0o777)).unwrap();
            assert_eq!(cache.load("h1:x"), None, "others could have written it");
        }
    }
}
