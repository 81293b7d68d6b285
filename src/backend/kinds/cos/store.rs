//! Workspaces and states in a bucket, with locks as objects beside them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base::name::COMMAND;
use bytes::Bytes;
use gotext::hex::hex;
use md5::{Digest, Md5};
use serde_json::{Value as Json, json};

use super::api::{Api, Failure, Repeat};
use super::client::Objects;
use crate::contract::{
    Backend, Context, DEFAULT_WORKSPACE, FirstState, LockError, LockInfo, StateStore, StoreError, StoreFacts,
};
use crate::objects::path::{folder, joined};
use crate::objects::workspaces;

const LOCK: &str = ".tflock";
const TAG: &str = "tencentcloud-terraform-lock";
/// The tag is there: another process makes a lock.
const EXISTS: &str = "ResourceInUse.TagDuplicate";
/// How often the removal of the tag is tried.
const ATTEMPTS: u32 = 30;
const PAUSE: Duration = Duration::from_secs(1);

pub struct CosBackend {
    pub place: Arc<Place>,
    pub prefix: String,
    pub key: String,
    pub context: Context,
}

/// Where objects and tags are.
pub struct Place {
    pub objects: Objects,
    pub api: Api,
}

struct CosStore {
    place: Arc<Place>,
    state: String,
    lock: String,
    journal: PathBuf,
}

impl CosBackend {
    fn key(&self, workspace: &str) -> String {
        workspaces::state_key(&self.prefix, workspace, &self.key)
    }

    fn workspace_store(&self, workspace: &str) -> CosStore {
        let state = self.key(workspace);
        let journal = self.context.journal_of(workspace, &[&self.place.objects.base, &state]);
        CosStore { place: self.place.clone(), lock: format!("{state}{LOCK}"), state, journal }
    }
}

#[async_trait]
impl Backend for CosBackend {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        let folder = folder(&joined(&[&self.prefix]));
        let keys = self.place.objects.list(&folder).await?;
        Ok(workspaces::listed(&keys, &folder, |name| self.key(name)))
    }

    async fn delete_workspace(&self, name: &str, _force: bool) -> Result<(), StoreError> {
        if name == DEFAULT_WORKSPACE || name.is_empty() {
            return Err(StoreError::new("default state is not allow to delete"));
        }
        self.place.objects.delete(&self.key(name)).await
    }

    async fn open_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        if workspace.trim().is_empty() {
            return Err(StoreError::new("state name not allow to be empty"));
        }
        let store = self.workspace_store(workspace);
        if workspace != DEFAULT_WORKSPACE && !self.place.objects.exists(&store.state).await? {
            workspaces::create(&store, "cos", "TencentCloud cos", first).await?;
        }
        Ok(Arc::new(store))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, first).await
    }
}

impl CosStore {
    /// The value of the tag that guards this lock.
    fn guard(&self) -> String {
        hex(&Md5::digest(format!("{}:{}", self.place.objects.bucket, self.lock)))
    }

    async fn tag(&self, action: &str, repeat: Repeat) -> Result<Json, Failure> {
        let keys = self.place.objects.keys.get().await.map_err(Failure::without_keys)?;
        let input = json!({ "TagKey": TAG, "TagValue": self.guard() });
        self.place.api.call(("tag", action), &input, &keys, repeat).await
    }

    async fn create_tag(&self) -> Result<(), LockError> {
        let Err(failure) = self.tag("CreateTag", Repeat::Never).await else { return Ok(()) };
        let reason = format!("failed to create tag: {TAG} -> {}: {failure}", self.guard());
        // Without an answer, the tag may be there. It is not removed: it may also be that of another process.
        let may_exist = failure.code == EXISTS || failure.code.is_empty();
        let refusal = self.refused(reason, failure.code == EXISTS).await;
        if refusal.holder.is_some() || !may_exist {
            return Err(refusal);
        }
        let guard = self.guard();
        let advice = format!(
            "If no other process is making a lock at this moment, the tag was left by one that ended. To remove \
                              it, run \"{COMMAND} force-unlock {guard}\"."
        );
        Err(LockError { reason: format!("{}\n\n{advice}", refusal.reason), ..refusal })
    }

    async fn has_tag(&self) -> Result<bool, StoreError> {
        let found = self.tag("DescribeTags", Repeat::Allowed).await.map_err(|why| why.to_string())?;
        let guard = self.guard();
        let tags = found["Tags"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(tags.iter().any(|tag| tag["TagKey"] == TAG && tag["TagValue"] == *guard))
    }

    async fn remove_tag(&self) -> Result<(), StoreError> {
        let mut attempt = 0;
        loop {
            let Err(failure) = self.tag("DeleteTag", Repeat::Allowed).await else { return Ok(()) };
            if !self.has_tag().await? {
                return Ok(());
            }
            attempt += 1;
            if attempt == ATTEMPTS {
                return Err(format!("failed to delete tag: {TAG} -> {}: {failure}", self.guard()).into());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The lock owner. Its ID is the checksum of the lock.
    async fn holder(&self) -> Result<Option<LockInfo>, StoreError> {
        let Some(object) = self.place.objects.get(&self.lock).await? else { return Ok(None) };
        let info = LockInfo::from_json(&object.content).ok_or("the lock is not valid JSON")?;
        Ok(Some(LockInfo { id: object.checksum, ..info }))
    }

    async fn refused(&self, reason: String, busy: bool) -> LockError {
        match self.holder().await {
            Ok(Some(holder)) => LockError { reason, holder: Some(holder), busy: true },
            Ok(None) => {
                LockError { reason: format!("{reason}\nlock file {} not exists", self.lock), holder: None, busy }
            }
            Err(why) => LockError { reason: format!("{reason}\n{why}"), holder: None, busy },
        }
    }

    /// Makes the lock, under its guard.
    async fn make(&self, info: &LockInfo) -> Result<String, LockError> {
        match self.place.objects.exists(&self.lock).await {
            Ok(false) => {}
            Ok(true) => return Err(self.refused(format!("lock file {} exists", self.lock), true).await),
            Err(why) => return Err(LockError::new(why)),
        }
        let written = self.place.objects.put(&self.lock, Bytes::from(info.to_json())).await;
        written.map_err(LockError::new)
    }
}

#[async_trait]
impl StateStore for CosStore {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts::remote(self.journal.clone())
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let object = self.place.objects.get(&self.state).await?;
        Ok(object.map(|object| object.content).filter(|content| !content.is_empty()))
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        self.place.objects.put(&self.state, Bytes::from_owner(snapshot)).await.map(|_| ())
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        let info = LockInfo { path: self.lock.clone(), ..info.clone() };
        self.create_tag().await?;
        let made = self.make(&info).await;
        if let Err(why) = self.remove_tag().await {
            tracing::warn!("the tag that guards locks stays: {why}");
        }
        made
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        if id == self.guard() {
            // Left by a process that was killed while it made a lock.
            return self.remove_tag().await;
        }
        let holder = self.holder().await?;
        let holder = holder.ok_or_else(|| StoreError::lock_gone(format!("lock file {} not exists", self.lock)))?;
        if holder.id != id {
            return Err(StoreError::lock_gone(format!("lock id mismatch, {} != {id}\n{holder}", holder.id)));
        }
        let with_holder = |why: StoreError| StoreError::new(format!("{why}\n{holder}"));
        self.place.objects.delete(&self.lock).await.map_err(with_holder)?;
        // The process that made the lock may have failed to remove it.
        if self.has_tag().await? {
            self.remove_tag().await?;
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
