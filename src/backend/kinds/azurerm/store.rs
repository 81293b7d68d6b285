//! Workspaces and states in a container. A lease on the state's blob is its lock, and the blob's metadata says whose.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use super::client::{Blobs, Earlier, Metadata};
use crate::contract::versions::{Version, Versions, utc};
use crate::contract::{
    Backend, Context, DEFAULT_WORKSPACE, ErrorKind, FirstState, LockError, LockInfo, StateStore, StoreError, StoreFacts,
};
use crate::objects::failure::Failure;
use crate::objects::workspaces;

const LOCK_INFO: &str = "terraformlockid";

pub struct AzureBackend {
    pub blobs: Arc<Blobs>,
    pub key: String,
    pub snapshot: bool,
    pub context: Context,
}

struct AzureStore {
    blobs: Arc<Blobs>,
    name: String,
    snapshot: bool,
    journal: PathBuf,
    /// The lease that is ours, and the blob's metadata under it.
    held: Mutex<Option<(String, Metadata)>>,
}

impl AzureBackend {
    fn prefix(&self) -> String {
        format!("{}env:", self.key)
    }

    fn workspace_store(&self, workspace: &str) -> AzureStore {
        let name = if workspace == DEFAULT_WORKSPACE { self.key.clone() } else { self.prefix() + workspace };
        let journal = self.context.journal_of(workspace, &[&self.blobs.base, &self.blobs.container, &self.key]);
        AzureStore { blobs: self.blobs.clone(), name, snapshot: self.snapshot, journal, held: Mutex::default() }
    }
}

#[async_trait]
impl Backend for AzureBackend {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        let prefix = self.prefix();
        let names = self.blobs.list(&prefix).await;
        let names = names.map_err(|failure| StoreError::new(format!("listing blobs: {failure}")))?;
        let of = |name: &String| name.strip_prefix(&prefix).filter(|name| !name.contains('/')).map(str::to_owned);
        let mut others: Vec<String> = names.iter().filter_map(of).collect();
        others.sort();
        others.insert(0, DEFAULT_WORKSPACE.to_owned());
        Ok(others)
    }

    async fn delete_workspace(&self, name: &str, _force: bool) -> Result<(), StoreError> {
        if name == DEFAULT_WORKSPACE || name.is_empty() {
            return Err(StoreError::new("can't delete default state"));
        }
        Ok(self.blobs.delete(&self.workspace_store(name).name).await?)
    }

    /// The default workspace needs no blob: reading it never writes.
    async fn open_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        let store = self.workspace_store(workspace);
        if workspace != DEFAULT_WORKSPACE && self.blobs.metadata(&store.name).await?.is_none() {
            workspaces::create(&store, "azure", "Azure", first).await?;
        }
        Ok(Arc::new(store))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, first).await
    }
}

impl AzureStore {
    fn held(&self) -> MutexGuard<'_, Option<(String, Metadata)>> {
        self.held.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The lock owner, with the blob's metadata.
    async fn holder(&self) -> Result<(LockInfo, Metadata), StoreError> {
        let metadata = self.blobs.metadata(&self.name).await.map_err(|failure| failure.text)?.unwrap_or_default();
        let Some(text) = metadata.get(LOCK_INFO).filter(|text| !text.is_empty()) else {
            return Err(format!("blob metadata {LOCK_INFO:?} was empty").into());
        };
        let json = STANDARD.decode(text).map_err(|e| e.to_string())?;
        let info = LockInfo::from_json(&json).ok_or("the lock is not valid JSON")?;
        Ok((info, metadata))
    }

    async fn refused(&self, failure: Failure) -> LockError {
        let taken = matches!(&*failure.code, "LeaseAlreadyPresent" | "LeaseIdMissing");
        let reason = if taken { "state blob is already locked".to_owned() } else { failure.text };
        match self.holder().await {
            Ok((holder, _)) => LockError { reason, busy: taken && !holder.id.is_empty(), holder: Some(holder) },
            Err(why) => LockError { reason: format!("{reason}\n{why}"), holder: None, busy: false },
        }
    }

    /// Takes the lease, on a blob that is made for it if there is none. Gives the blob's metadata, which say whose it is: they
    /// are written before, too, so that a process that ends at any moment leaves no lease without the name of its owner.
    async fn lease(&self, info: &LockInfo) -> Result<Metadata, Failure> {
        let before = match self.blobs.metadata(&self.name).await? {
            Some(metadata) => metadata,
            None => {
                self.blobs.create(&self.name).await?;
                Metadata::default()
            }
        };
        let mut metadata = before;
        metadata.insert(LOCK_INFO.into(), STANDARD.encode(info.to_json()));
        self.blobs.set_metadata(&self.name, None, &metadata).await?;
        self.blobs.acquire(&self.name, &info.id).await?;
        match self.signed(info, metadata).await {
            Ok(metadata) => Ok(metadata),
            Err(failure) => {
                let _ = self.blobs.release(&self.name, &info.id).await;
                Err(failure)
            }
        }
    }

    /// Sees to it that the metadata still say whose the lease is: another process may have tried to get it meanwhile.
    async fn signed(&self, info: &LockInfo, written: Metadata) -> Result<Metadata, Failure> {
        let mut metadata = self.blobs.metadata(&self.name).await?.unwrap_or_default();
        if metadata != written {
            metadata.insert(LOCK_INFO.into(), STANDARD.encode(info.to_json()));
            self.blobs.set_metadata(&self.name, Some(&info.id), &metadata).await?;
        }
        Ok(metadata)
    }
}

#[async_trait]
impl StateStore for AzureStore {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts { versions: Some(self), ..StoreFacts::remote(self.journal.clone()) }
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let content = self.blobs.get(&self.name).await?;
        Ok(content.filter(|content| !content.is_empty()))
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        let held = self.held().clone();
        let lease = held.as_ref().map(|(lease, _)| lease.as_str());
        if self.snapshot {
            let made = self.blobs.snapshot(&self.name, lease).await;
            made.map_err(|failure| {
                let container = &self.blobs.container;
                StoreError::new(format!("error snapshotting Blob {:?} (Container {container:?}): {failure}", self.name))
            })?;
        }
        // Writing content without its metadata would remove that.
        let metadata = match &held {
            Some((_, metadata)) => metadata.clone(),
            None => self.blobs.metadata(&self.name).await?.unwrap_or_default(),
        };
        Ok(self.blobs.put(&self.name, Bytes::from_owner(snapshot), lease, &metadata).await?)
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        let info = LockInfo { path: format!("{}/{}", self.blobs.container, self.name), ..info.clone() };
        match self.lease(&info).await {
            Ok(metadata) => {
                *self.held() = Some((info.id.clone(), metadata));
                Ok(info.id)
            }
            Err(failure) => Err(self.refused(failure).await),
        }
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        let own = self.held().clone().filter(|(lease, _)| lease == id).map(|(_, metadata)| metadata);
        let mut metadata = match own {
            Some(metadata) => metadata,
            None => {
                let (holder, metadata) = self.holder().await.map_err(|why| StoreError {
                    kind: ErrorKind::LockGone,
                    text: format!("failed to retrieve lock info: {why}"),
                })?;
                if holder.id != id {
                    let text = format!("lock id {id:?} does not match existing lock\n{holder}");
                    return Err(StoreError { kind: ErrorKind::LockGone, text });
                }
                metadata
            }
        };
        // In this order, what a process that ends here leaves is a name without a lease, which locks nothing.
        self.blobs.release(&self.name, id).await?;
        *self.held() = None;
        metadata.remove(LOCK_INFO);
        if let Err(failure) = self.blobs.set_metadata(&self.name, None, &metadata).await {
            // Most likely another process has the lease by now, and has signed it.
            tracing::debug!("backend/azurerm: the name of the released lease stays: {failure}");
        }
        Ok(())
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.write(Arc::from([])).await
    }

    async fn lock_lost(&self) -> StoreError {
        std::future::pending().await
    }
}

/// What stands before the time in the ID of a snapshot.
const SNAPSHOT: &str = "snapshot:";

/// Versions, where the storage account keeps them, and snapshots, which the setting `snapshot` makes.
#[async_trait]
impl Versions for AzureStore {
    async fn versions(&self, limit: usize) -> Result<Vec<Version>, StoreError> {
        let earlier = self.blobs.earlier(&self.name).await?;
        let mut found: Vec<Version> = earlier.into_iter().map(listed).collect();
        found.sort_by(|one, other| other.written.cmp(&one.written));
        found.truncate(limit);
        Ok(found)
    }

    async fn version(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let earlier = match id.strip_prefix(SNAPSHOT) {
            Some(time) => Earlier::Snapshot(time.to_owned()),
            None => Earlier::Version(id.to_owned()),
        };
        let content = self.blobs.get_earlier(&self.name, &earlier).await?;
        Ok(content.filter(|content| !content.is_empty()))
    }
}

fn listed(earlier: Earlier) -> Version {
    match earlier {
        Earlier::Version(time) => Version { written: utc(&time), id: time },
        Earlier::Snapshot(time) => Version { written: utc(&time), id: format!("{SNAPSHOT}{time}") },
    }
}
