//! Workspaces and states in a bucket, with locks and checksums in a table.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use super::client::Objects;
use super::table::{EXISTS, Existing, Table};
use crate::contract::{
    Backend, Context, DEFAULT_WORKSPACE, FirstState, LockError, LockInfo, StateStore, StoreError, StoreFacts,
};
use crate::objects::checksum::{DIGEST, KnownChecksum, PENDING, RecordedChecksums, checksum};
use crate::objects::path::folder;
use crate::objects::workspaces;

const INFO: &str = "Info";

pub struct OssBackend {
    pub place: Arc<Place>,
    /// Without slashes around it.
    pub prefix: String,
    pub key: String,
    pub context: Context,
}

/// Where objects and rows are.
pub struct Place {
    pub objects: Objects,
    pub table: Option<Table>,
}

struct OssStore {
    place: Arc<Place>,
    key: String,
    journal: PathBuf,
    known: KnownChecksum,
}

impl OssBackend {
    fn key(&self, workspace: &str) -> String {
        workspaces::state_key(&self.prefix, workspace, &self.key)
    }

    fn workspace_store(&self, workspace: &str) -> OssStore {
        let key = self.key(workspace);
        let journal = self.context.journal_of(workspace, &[&self.place.objects.base, &key]);
        OssStore { place: self.place.clone(), key, journal, known: KnownChecksum::default() }
    }
}

#[async_trait]
impl Backend for OssBackend {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        let folder = folder(&self.prefix);
        let keys = self.place.objects.list(&folder).await.map_err(|why| StoreError::new(why.to_string()))?;
        Ok(workspaces::listed(&keys, &folder, |name| self.key(name)))
    }

    async fn delete_workspace(&self, name: &str, _force: bool) -> Result<(), StoreError> {
        if name == DEFAULT_WORKSPACE || name.is_empty() {
            return Err(StoreError::new("can't delete default state"));
        }
        let store = self.workspace_store(name);
        let deleted = self.place.objects.delete(&store.key).await;
        deleted.map_err(|why| StoreError::new(format!("error deleting state {}: {why}", store.key)))?;
        if let Some(table) = &self.place.table
            && let Err(why) = table.delete(&store.digest_id()).await
        {
            tracing::error!("the state's checksum was not deleted: {why}");
        }
        Ok(())
    }

    async fn open_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        if workspace.is_empty() {
            return Err(StoreError::new("missing state name"));
        }
        let store = self.workspace_store(workspace);
        if workspace != DEFAULT_WORKSPACE {
            let exists = self.place.objects.exists(&store.key).await;
            let failed = |why| StoreError::new(format!("estimating object {} is exist got an error: {why}", store.key));
            if !exists.map_err(failed)? {
                workspaces::create(&store, "OSS", "Alibaba Cloud OSS", first).await?;
            }
        }
        Ok(Arc::new(store))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, first).await
    }
}

impl OssStore {
    /// The id of the lock's row.
    fn path(&self) -> String {
        format!("{}/{}", self.place.objects.bucket, self.key)
    }

    fn digest_id(&self) -> String {
        format!("{}-md5", self.path())
    }

    async fn read_object(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let content = self.place.objects.get(&self.key).await;
        let content = content.map_err(|why| StoreError::new(format!("error getting object: {why}")))?;
        Ok(content.filter(|content| !content.is_empty()))
    }

    async fn recorded(&self) -> RecordedChecksums {
        let Some(table) = &self.place.table else { return RecordedChecksums::default() };
        match table.get(&self.digest_id(), &[DIGEST, PENDING]).await {
            Ok(mut columns) => RecordedChecksums::of(columns.remove(DIGEST), columns.remove(PENDING)),
            Err(why) => {
                tracing::warn!("the state's checksum cannot be read: {why}");
                RecordedChecksums::default()
            }
        }
    }

    async fn record(&self, table: &Table, digests: &[(&str, &str)]) -> Result<(), StoreError> {
        let written = table.put(&self.digest_id(), digests, Existing::Replaced).await;
        written.map_err(|why| StoreError::new(format!("failed to store state MD5: {why}")))
    }

    async fn holder(&self, table: &Table) -> Result<Option<LockInfo>, StoreError> {
        let mut columns = table.get(&self.path(), &[INFO]).await.map_err(|why| why.to_string())?;
        let Some(text) = columns.remove(INFO) else { return Ok(None) };
        LockInfo::from_json(text.as_bytes()).map(Some).ok_or_else(|| "the lock is not valid JSON".into())
    }
}

const NO_LOCK: &str = "unexpected end of JSON input";

#[async_trait]
impl StateStore for OssStore {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts::remote(self.journal.clone())
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let read = || async { tokio::join!(self.read_object(), self.recorded()) };
        let stale = |actual: &str, _: &str| {
            StoreError::new(format!(
                "state data in OSS does not have the expected content.\n\nThis may be caused by unusually long delays in OSS processing a previous state\nupdate.  Please wait for a minute or two and try again. If this problem\npersists, and neither OSS nor TableStore are experiencing an outage, you may need\nto manually verify the remote state and update the Digest value stored in the\nTableStore table to the following value: {actual}"
            ))
        };
        self.known.read(read, stale).await
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        let digest = checksum(&snapshot);
        let table = self.place.table.as_ref();
        if let Some(table) = table {
            // If this process ends before the new checksum is recorded, the state that it uploaded is still known.
            let old = self.known.get();
            let old = old.iter().map(|old| (DIGEST, old.as_str()));
            self.record(table, &old.chain([(PENDING, &*digest)]).collect::<Vec<_>>()).await?;
        }
        let written = self.place.objects.put(&self.key, Bytes::from_owner(snapshot)).await;
        written.map_err(|why| StoreError::new(format!("failed to upload state {}: {why}", self.key)))?;
        if let Some(table) = table {
            // Without it, the next read of Terraform would fail.
            self.record(table, &[(DIGEST, &digest)]).await?;
        }
        self.known.set(digest);
        Ok(())
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        let Some(table) = &self.place.table else { return Ok(String::new()) };
        let info = LockInfo { path: self.path(), ..info.clone() };
        let json = String::from_utf8_lossy(&info.to_json()).into_owned();
        let Err(failure) = table.put(&self.path(), &[(INFO, &json)], Existing::Refused).await else {
            return Ok(info.id);
        };
        let reason = format!("invoking PutRow got an error: {failure}");
        match self.holder(table).await {
            // A request that was repeated finds what it made itself.
            Ok(Some(holder)) if holder.id == info.id => Ok(info.id),
            Ok(Some(holder)) => Err(LockError { reason, busy: !holder.id.is_empty(), holder: Some(holder) }),
            // Released between the two requests.
            Ok(None) => {
                let reason = format!("{reason}\n\ngetting lock info got an error: {NO_LOCK}");
                Err(LockError { reason, holder: None, busy: failure.code == EXISTS })
            }
            Err(why) => Err(LockError::new(format!("{reason}\n\ngetting lock info got an error: {why}"))),
        }
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        let Some(table) = &self.place.table else { return Ok(()) };
        let holder = self.holder(table).await;
        let holder = holder.map_err(|why| StoreError::new(format!("failed to retrieve lock info: {why}")))?;
        let holder = holder.ok_or_else(|| StoreError::lock_gone(format!("failed to retrieve lock info: {NO_LOCK}")))?;
        if holder.id != id {
            return Err(StoreError::lock_gone(format!("lock id {id:?} does not match existing lock\n{holder}")));
        }
        table.delete(&self.path()).await.map_err(|why| StoreError::new(format!("{why}\n{holder}")))
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.write(Arc::from([])).await
    }

    async fn lock_lost(&self) -> StoreError {
        std::future::pending().await
    }
}
