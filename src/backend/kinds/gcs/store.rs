//! Workspaces and states in a bucket, each with an object that locks it.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

use super::client::{Content, ListedVersion, Objects};
use crate::contract::versions::{Version, Versions, utc};
use crate::contract::{
    Backend, Context, DEFAULT_WORKSPACE, ErrorKind, FirstState, LockError, LockInfo, StateStore, StoreError, StoreFacts,
};
use crate::objects::failure::Failure;
use crate::objects::workspaces;

const STATE: &str = ".tfstate";
const LOCK: &str = ".tflock";

pub struct GcsBackend {
    pub objects: Arc<Objects>,
    /// Empty, or with a slash at its end.
    pub prefix: String,
    pub context: Context,
}

struct GcsStore {
    objects: Arc<Objects>,
    state: String,
    lock: String,
    journal: PathBuf,
}

impl GcsBackend {
    fn workspace_store(&self, workspace: &str) -> Result<GcsStore, StoreError> {
        if workspace.is_empty() {
            return Err(StoreError::new("\"\" is not a valid state name"));
        }
        Ok(GcsStore {
            objects: self.objects.clone(),
            state: format!("{}{workspace}{STATE}", self.prefix),
            lock: format!("{}{workspace}{LOCK}", self.prefix),
            journal: self.context.journal_of(workspace, &[&self.objects.base, &self.objects.bucket, &self.prefix]),
        })
    }
}

#[async_trait]
impl Backend for GcsBackend {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        let names = self.objects.list(&self.prefix).await.map_err(|failure| {
            let why = if failure.status == 404 { "storage: bucket doesn't exist".to_owned() } else { failure.text };
            StoreError::new(format!("querying Cloud Storage failed: {why}"))
        })?;
        let of = |name: &String| name.strip_prefix(&self.prefix)?.strip_suffix(STATE).map(str::to_owned);
        Ok(workspaces::with_default(names.iter().filter_map(of)))
    }

    async fn delete_workspace(&self, name: &str, _force: bool) -> Result<(), StoreError> {
        if name == DEFAULT_WORKSPACE {
            return Err(StoreError::new(format!("cowardly refusing to delete the {name:?} state")));
        }
        let store = self.workspace_store(name)?;
        let deleted = store.objects.delete(&store.state, None).await;
        deleted
            .map_err(|why| StoreError::new(format!("Failed to delete state file {}: {why}", store.url(&store.state))))
    }

    /// The default workspace needs no object: reading it never writes.
    async fn open_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        let store = self.workspace_store(workspace)?;
        if workspace != DEFAULT_WORKSPACE {
            let exists = store.objects.exists(&store.state).await.map_err(|why| store.unreadable(&why))?;
            if !exists {
                workspaces::create(&store, "gcs", "GCS", first).await?;
            }
        }
        Ok(Arc::new(store))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, first).await
    }
}

impl GcsStore {
    fn url(&self, name: &str) -> String {
        format!("gs://{}/{name}", self.objects.bucket)
    }

    fn unreadable(&self, why: &Failure) -> StoreError {
        StoreError::new(format!("Failed to open state file at {}: {why}", self.url(&self.state)))
    }

    /// The lock owner. Its ID is the object's generation.
    async fn holder(&self) -> Result<Option<(LockInfo, String)>, StoreError> {
        let Some(object) = self.objects.get(&self.lock, false).await.map_err(|why| why.text)? else { return Ok(None) };
        let info = LockInfo::from_json(&object.content).ok_or("the lock is not valid JSON")?;
        let inner = info.id.clone();
        Ok(Some((LockInfo { id: object.generation, ..info }, inner)))
    }
}

#[async_trait]
impl StateStore for GcsStore {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts { versions: Some(self), ..StoreFacts::remote(self.journal.clone()) }
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let object = self.objects.get(&self.state, true).await.map_err(|why| self.unreadable(&why))?;
        Ok(object.map(|object| object.content).filter(|content| !content.is_empty()))
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        let written = self.objects.put(&self.state, &snapshot, Content::State).await;
        let failed = |why| StoreError::new(format!("Failed to upload state to {}: {why}", self.url(&self.state)));
        written.map(|_| ()).map_err(failed)
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        let info = LockInfo { path: self.url(&self.lock), ..info.clone() };
        let failure = match self.objects.put(&self.lock, &info.to_json(), Content::Lock).await {
            Ok(generation) => return Ok(generation),
            Err(failure) => failure,
        };
        let reason = format!("writing {:?} failed: {failure}", self.url(&self.lock));
        match self.holder().await {
            // A request that was repeated finds what it made itself.
            Ok(Some((holder, inner))) if inner == info.id => Ok(holder.id),
            Ok(Some((holder, _))) => Err(LockError { reason, holder: Some(holder), busy: true }),
            // Given back between the two requests.
            Ok(None) => Err(LockError {
                reason: format!("{reason}\nstorage: object doesn't exist"),
                holder: None,
                busy: failure.status == 412,
            }),
            Err(why) => Err(LockError { reason: format!("{reason}\n{why}"), holder: None, busy: false }),
        }
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        if id.parse::<i64>().is_err() {
            return Err(StoreError::new(format!("Lock ID should be numerical value, got '{id}'")));
        }
        let Err(failure) = self.objects.delete(&self.lock, Some(id)).await else { return Ok(()) };
        // The answer to an earlier attempt was lost.
        if failure.status == 404 && failure.attempts > 1 {
            return Ok(());
        }
        let kind = if matches!(failure.status, 404 | 412) { ErrorKind::LockGone } else { ErrorKind::Failed };
        let text = match self.holder().await {
            Ok(Some((holder, _))) => format!("{failure}\n{holder}"),
            Ok(None) => format!("{failure}\nstorage: object doesn't exist"),
            Err(why) => format!("{failure}\n{why}"),
        };
        Err(StoreError { kind, text })
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.write(Arc::from([])).await
    }

    async fn lock_lost(&self) -> StoreError {
        std::future::pending().await
    }
}

#[async_trait]
impl Versions for GcsStore {
    async fn versions(&self, limit: usize) -> Result<Vec<Version>, StoreError> {
        let listed = self.objects.versions(&self.state).await.map_err(|why| self.unreadable(&why))?;
        let version = |one: ListedVersion| Version { id: one.generation, written: utc(&one.time_created) };
        let mut found: Vec<Version> = listed.into_iter().map(version).collect();
        // Generations are numbers that grow.
        found.sort_by_key(|one| Reverse(one.id.parse::<u64>().unwrap_or_default()));
        found.truncate(limit);
        Ok(found)
    }

    async fn version(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let object = self.objects.get_version(&self.state, id).await.map_err(|why| self.unreadable(&why))?;
        Ok(object.map(|object| object.content).filter(|content| !content.is_empty()))
    }
}
