//! Schema responses kept on disk, so that a provider which allows it is not asked for what its package said before.
//!
//! One file per package and environment: a head, then the response as it came. Its name is a hash of the package's
//! content and a fingerprint of the environment. A schema may depend on more than these, such as files of the working
//! directory: a package that was seen to do so is excluded by a file `PACKAGE.excluded`. Entries that cannot be read are
//! as if they were not there.
//!
//! The head is `terrane schema N\n` with N the version of this format, the protocol version (2 bytes), the length of
//! the response (8 bytes) and its checksum (CRC-32, 4 bytes), big-endian. Any change of it gets a new N.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use base::atomic;
use bytes::Bytes;
use gotext::hex::hex;
use sha2::{Digest, Sha256};
use terrane_protocol::schema::ProviderSchemas;
use terrane_protocol::wire::schema::WireSchemas;
use terrane_protocol::wire::v5::V5;
use terrane_protocol::wire::v6::V6;

const MAGIC: &[u8] = b"terrane schema 1\n";
const HEAD: usize = MAGIC.len() + 2 + 8 + 4;

/// Entries per package, one for each environment, of which the oldest are removed.
const MOST_ENVIRONMENTS: usize = 8;

/// A folder of entries. It belongs to the user alone; one that others may write to is not read.
#[derive(Clone, Debug)]
pub struct SchemaCache {
    folder: PathBuf,
    environment: String,
    uses: Arc<Mutex<BTreeMap<String, Use>>>,
}

/// Where the schemas of a package are kept, and under what key: a hash of the package.
pub type CacheKey = (SchemaCache, String);

/// How far an entry that was read can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The provider was not asked.
    Unconfirmed,
    /// The provider says the same.
    Confirmed,
    /// The provider says something else.
    Outdated,
}

/// A response and the protocol version that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub version: u16,
    pub response: Bytes,
}

impl SchemaCache {
    /// The entries of a folder for one environment, which is given by its fingerprint.
    pub fn new(folder: impl Into<PathBuf>, environment: &str) -> SchemaCache {
        SchemaCache { folder: folder.into(), environment: digits(environment), uses: Arc::default() }
    }

    /// The entry for a package; `key` is a hash of its content.
    pub fn load(&self, key: &str) -> Option<Entry> {
        if !is_private(&self.folder) || self.excluded(key).exists() {
            return None;
        }
        let content = std::fs::read(self.path(key)).ok()?;
        let entry = parse(content.into());
        match entry {
            None => tracing::warn!("the kept schema for {key} is damaged: asking the provider again"),
            Some(_) => {
                tracing::trace!("using the cached schema of {key}");
                self.uses().entry(key.to_owned()).or_insert(Use::Unconfirmed);
            }
        }
        entry
    }

    /// The packages whose entries were read, and whether their providers confirmed them.
    pub fn used(&self) -> BTreeMap<String, Use> {
        self.uses().clone()
    }

    /// Records what the provider says about an entry that was read.
    pub fn confirm(&self, key: &str, same: bool) {
        self.uses().insert(key.to_owned(), if same { Use::Confirmed } else { Use::Outdated });
    }

    /// Removes all entries of a package and never keeps one again: its schema depends on more than an entry knows.
    pub fn exclude(&self, key: &str) {
        tracing::info!(
            "the schema of {key} depends on more than its package and the environment: it is not cached any more"
        );
        self.uses().remove(key);
        if let Err(error) = create_private(&self.folder).and_then(|()| std::fs::write(self.excluded(key), "")) {
            tracing::warn!("cannot exclude {key} from the schema cache: {error}");
        }
        for (_, path) in self.entries(key) {
            let _ = std::fs::remove_file(path);
        }
    }

    fn uses(&self) -> MutexGuard<'_, BTreeMap<String, Use>> {
        self.uses.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Keeps a response. That it cannot be kept costs time on the next run, and nothing else.
    pub fn store(&self, key: &str, entry: &Entry) {
        if let Err(error) = self.try_store(key, entry) {
            tracing::warn!("cannot keep the schema for {key}: {error}");
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
        if self.excluded(key).exists() {
            return Ok(());
        }
        let mut content = Vec::with_capacity(HEAD + entry.response.len());
        content.extend_from_slice(MAGIC);
        content.extend_from_slice(&entry.version.to_be_bytes());
        content.extend_from_slice(&(entry.response.len() as u64).to_be_bytes());
        content.extend_from_slice(&checksum(&entry.response).to_be_bytes());
        content.extend_from_slice(&entry.response);
        atomic::write_private(&self.path(key), &content)?;
        let mut entries = self.entries(key);
        entries.sort_unstable_by(|a, b| b.cmp(a));
        entries.iter().skip(MOST_ENVIRONMENTS).try_for_each(|(_, path)| std::fs::remove_file(path))
    }

    /// The files of a package for all environments, with the times when they were written.
    fn entries(&self, key: &str) -> Vec<(SystemTime, PathBuf)> {
        let prefix = format!("{}-", digits(key));
        let is_entry = |name: &str| name.starts_with(&prefix) && name.ends_with(".schema");
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let of_package = files.filter(|file| file.file_name().to_str().is_some_and(is_entry));
        of_package.filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path()))).collect()
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{}-{}.schema", digits(key), self.environment))
    }

    fn excluded(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{}.excluded", digits(key)))
    }
}

/// A name that is safe in a path and long enough not to be met twice.
fn digits(key: &str) -> String {
    hex(&Sha256::digest(key.as_bytes())[..16])
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

/// True for a folder that only the current user may write to.
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
    fn entries_are_kept_per_environment() {
        let temporary = tempfile::tempdir().unwrap();
        let of = |environment: &str| SchemaCache::new(temporary.path().join("schemas"), environment);
        let entry = |text: &'static str| Entry { version: 6, response: Bytes::from_static(text.as_bytes()) };
        of("a").store("h1:x", &entry("of a"));
        assert_eq!(of("b").load("h1:x"), None);
        of("b").store("h1:x", &entry("of b"));
        assert_eq!((of("a").load("h1:x"), of("b").load("h1:x")), (Some(entry("of a")), Some(entry("of b"))));
        for n in 0..2 * MOST_ENVIRONMENTS {
            of(&n.to_string()).store("h1:x", &entry("more"));
        }
        assert_eq!(of("a").entries("h1:x").len(), MOST_ENVIRONMENTS);
    }

    #[test]
    fn excluded_packages_are_never_cached_again() {
        let temporary = tempfile::tempdir().unwrap();
        let cache = SchemaCache::new(temporary.path().join("schemas"), "");
        let entry = Entry { version: 6, response: Bytes::from_static(b"response") };
        cache.store("h1:x", &entry);
        cache.store("h1:y", &entry);
        assert!(cache.load("h1:x").is_some());
        assert_eq!(cache.used(), BTreeMap::from([("h1:x".to_owned(), Use::Unconfirmed)]));
        cache.confirm("h1:x", false);
        assert_eq!(cache.used()["h1:x"], Use::Outdated);
        cache.exclude("h1:x");
        cache.store("h1:x", &entry);
        assert_eq!((cache.load("h1:x"), cache.used().len()), (None, 0));
        assert!(cache.load("h1:y").is_some());
    }

    #[test]
    fn entries_come_back_or_are_missed() {
        let temporary = tempfile::tempdir().unwrap();
        let cache = SchemaCache::new(temporary.path().join("a/b"), "");
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
