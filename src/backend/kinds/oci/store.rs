//! Workspaces and states in a bucket, with locks as objects beside them.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use super::client::{Object, Objects};
use crate::contract::{
    Backend, Context, DEFAULT_WORKSPACE, FirstState, LockError, LockInfo, StateStore, StoreError, StoreFacts,
};
use crate::objects::path::joined;
use crate::objects::workspaces;

const LOCK: &str = ".lock";

pub struct OciBackend {
    pub objects: Arc<Objects>,
    pub bucket: String,
    pub prefix: String,
    pub key: String,
    pub context: Context,
}

struct OciStore {
    objects: Arc<Objects>,
    bucket: String,
    state: String,
    lock: String,
    journal: PathBuf,
}

impl OciBackend {
    fn key(&self, workspace: &str) -> String {
        match workspace {
            DEFAULT_WORKSPACE => self.key.clone(),
            name => joined(&[&self.prefix, name, &self.key]),
        }
    }

    fn workspace_store(&self, workspace: &str) -> OciStore {
        let state = self.key(workspace);
        let journal = self.context.journal_of(workspace, &[&self.objects.base, &state]);
        OciStore {
            objects: self.objects.clone(),
            bucket: self.bucket.clone(),
            lock: format!("{state}{LOCK}"),
            state,
            journal,
        }
    }
}

#[async_trait]
impl Backend for OciBackend {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        let folder = joined(&[&self.prefix]);
        let folder = if folder.is_empty() { folder } else { format!("{folder}/") };
        let keys = self.objects.list(&folder).await?;
        Ok(workspaces::listed(&keys, &folder, |name| self.key(name)))
    }

    async fn delete_workspace(&self, name: &str, _force: bool) -> Result<(), StoreError> {
        if name == DEFAULT_WORKSPACE || name.is_empty() {
            return Err(StoreError::new("can't delete default state"));
        }
        let store = self.workspace_store(name);
        Ok(self.objects.delete_versions(&store.state, &[&store.state, &store.lock]).await?)
    }

    async fn open_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        if workspace.is_empty() {
            return Err(StoreError::new("missing state name"));
        }
        let store = self.workspace_store(workspace);
        if workspace != DEFAULT_WORKSPACE && !self.objects.exists(&store.state).await? {
            workspaces::create(&store, "oci", "oci", first).await?;
        }
        Ok(Arc::new(store))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, first).await
    }
}

impl OciStore {
    /// The lock and what identifies its content; None if there is none.
    async fn holder(&self) -> Result<Option<(LockInfo, String)>, StoreError> {
        let found = self.objects.get_lock(&self.lock).await;
        let found = found.map_err(|failure| format!("failed to get existing lock file: {failure}"))?;
        let Some(Object { content, etag }) = found else { return Ok(None) };
        let info = LockInfo::from_json(&content);
        let info = info.ok_or("failed to unmarshal JSON data into LockInfo struct: it is not valid JSON")?;
        Ok(Some((info, etag)))
    }
}

#[async_trait]
impl StateStore for OciStore {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts::remote(self.journal.clone())
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let found = self.objects.get(&self.state).await.map_err(|failure| {
            StoreError::new(format!("failed to access object '{}' in bucket '{}': {failure}", self.state, self.bucket))
        })?;
        Ok(found.map(|object| object.content).filter(|content| !content.is_empty()))
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        let written = self.objects.put(&self.state, Bytes::from_owner(snapshot)).await;
        written.map_err(|failure| StoreError::new(format!("failed to upload object: {failure}")))
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        let info = LockInfo { path: self.state.clone(), ..info.clone() };
        let Err(failure) = self.objects.put_lock(&self.lock, Bytes::from(info.to_json())).await else {
            return Ok(info.id);
        };
        let is_taken = matches!(failure.status, 409 | 412);
        match self.holder().await {
            // A request that was repeated finds what it made itself.
            Ok(Some((holder, _))) if holder.id == info.id => Ok(info.id),
            Ok(Some((holder, _))) => {
                let busy = !holder.id.is_empty();
                Err(LockError { reason: failure.to_string(), holder: Some(holder), busy })
            }
            // Released between the two requests, or not there for another reason.
            Ok(None) => Err(LockError { reason: failure.to_string(), holder: None, busy: is_taken }),
            Err(why) => Err(LockError { reason: format!("{failure}\n{why}"), holder: None, busy: is_taken }),
        }
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        let unread = |why: &str| format!("Failed to retrieve lock information from OCI Object Storage: {why}");
        let holder = self.holder().await.map_err(|why| StoreError::new(unread(&why.text)))?;
        let (holder, etag) = holder.ok_or_else(|| StoreError::lock_gone(unread("there is no lock")))?;
        if holder.id != id {
            let why = format!("lock ID '{id}' does not match the existing lock ID '{}'", holder.id);
            return Err(StoreError::lock_gone(format!("{why}\n{holder}")));
        }
        match self.objects.delete_lock(&self.lock, &etag).await {
            // A request that was repeated finds that it is done.
            Ok(_) => Ok(()),
            Err(failure) => Err(StoreError::new(format!("{failure}\n{holder}"))),
        }
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.write(Arc::from([])).await
    }

    async fn lock_lost(&self) -> StoreError {
        std::future::pending().await
    }
}
