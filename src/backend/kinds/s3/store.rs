//! Workspaces and states in a bucket.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use super::client::{Failure, Objects};
use super::locks::Lock;
use super::table::Table;
use crate::contract::versions::{Version, Versions, utc};
use crate::contract::{
    Backend, Context, DEFAULT_WORKSPACE, FirstState, LockError, LockInfo, StateStore, StoreError, StoreFacts,
};
use crate::objects::checksum::{DIGEST, KnownChecksum, PENDING, RecordedChecksums, checksum};
use crate::objects::path::folder;
use crate::objects::workspaces;

/// The prefix of workspaces that is meant where none is set.
const DEFAULT_PREFIX: &str = "env:";

pub struct S3Backend {
    pub place: Arc<Location>,
    pub context: Context,
}

/// Where objects and items are.
pub struct Location {
    pub objects: Objects,
    pub table: Option<Table>,
}

pub struct S3Store {
    place: Arc<Location>,
    key: String,
    journal: PathBuf,
    known: KnownChecksum,
}

impl S3Backend {
    fn prefix(&self) -> &str {
        &self.place.objects.settings.workspace_key_prefix
    }

    fn key(&self, workspace: &str) -> String {
        let key = &self.place.objects.settings.key;
        match (workspace, self.prefix()) {
            (DEFAULT_WORKSPACE, _) => key.clone(),
            (name, "") => format!("{name}/{key}"),
            (name, prefix) => format!("{prefix}/{name}/{key}"),
        }
    }

    fn workspace_store(&self, workspace: &str) -> S3Store {
        let journal = self.context.journal_of(workspace, &[&self.place.objects.base, &self.key(workspace)]);
        S3Store { place: self.place.clone(), key: self.key(workspace), journal, known: KnownChecksum::default() }
    }
}

fn no_bucket(bucket: &str, failure: &Failure) -> StoreError {
    StoreError::new(format!(
        "S3 bucket {bucket:?} does not exist.\n\nThe referenced S3 bucket must have been previously created. If the S3 bucket\nwas created within the last minute, please wait for a minute or two and try\nagain.\n\nError: {failure}\n"
    ))
}

#[async_trait]
impl Backend for S3Backend {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        let prefix = folder(self.prefix());
        let bucket = &self.place.objects.settings.bucket;
        match self.place.objects.list(&prefix).await {
            Ok(keys) => Ok(workspaces::listed(&keys, &prefix, |name| self.key(name))),
            Err(failure) if failure.code() == "NoSuchBucket" => Err(no_bucket(bucket, &failure)),
            // Without permission to list, the default workspace can still be used.
            Err(failure) if failure.code() == "AccessDenied" && self.prefix() == DEFAULT_PREFIX => {
                tracing::warn!("other workspaces than the default one cannot be listed: {failure}");
                Ok(vec![DEFAULT_WORKSPACE.to_owned()])
            }
            Err(failure) => Err(StoreError::new(format!(
                "Unable to list objects in S3 bucket {bucket:?} with prefix {prefix:?}: {failure}"
            ))),
        }
    }

    async fn delete_workspace(&self, name: &str, _force: bool) -> Result<(), StoreError> {
        if name == DEFAULT_WORKSPACE || name.is_empty() {
            return Err(StoreError::new("can't delete default state"));
        }
        let store = self.workspace_store(name);
        let deleted = self.place.objects.delete(&store.key).await;
        deleted.map_err(|failure| StoreError::new(failure.to_string()))?;
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
        if workspace != DEFAULT_WORKSPACE && !store.exists().await? {
            workspaces::create(&store, "s3", "S3", first).await?;
        }
        Ok(Arc::new(store))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, first).await
    }
}

impl S3Store {
    fn bucket(&self) -> &str {
        &self.place.objects.settings.bucket
    }

    fn path(&self) -> String {
        format!("{}/{}", self.bucket(), self.key)
    }

    fn digest_id(&self) -> String {
        format!("{}-md5", self.path())
    }

    fn unreadable(&self, failure: &Failure) -> StoreError {
        match failure.code() {
            "NoSuchBucket" => no_bucket(self.bucket(), failure),
            _ => StoreError::new(format!(
                "Unable to access object {:?} in S3 bucket {:?}: {failure}",
                self.key,
                self.bucket()
            )),
        }
    }

    async fn exists(&self) -> Result<bool, StoreError> {
        self.place.objects.exists(&self.key).await.map_err(|failure| self.unreadable(&failure))
    }

    fn lock_of(&self) -> Lock<'_> {
        let uses_file = self.place.objects.settings.use_lockfile;
        Lock {
            objects: &self.place.objects,
            file: uses_file.then(|| format!("{}.tflock", self.key)),
            table: self.place.table.as_ref(),
            path: self.path(),
        }
    }

    async fn read_object(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let content = self.place.objects.get(&self.key).await.map_err(|failure| self.unreadable(&failure))?;
        Ok(content.filter(|content| !content.is_empty()))
    }

    async fn recorded(&self) -> RecordedChecksums {
        let Some(table) = &self.place.table else { return RecordedChecksums::default() };
        match table.get_all(&self.digest_id(), [DIGEST, PENDING]).await {
            Ok([current, pending]) => RecordedChecksums::of(current, pending),
            Err(why) => {
                tracing::warn!("the state's checksum cannot be read: {why}");
                RecordedChecksums::default()
            }
        }
    }

    fn stale(&self, actual: &str, expected: &str) -> StoreError {
        let end = match actual {
            "" => "outage, you may need to manually verify the remote state and remove the Digest\nvalue stored in the DynamoDB table".to_owned(),
            actual => format!("outage, you may need to manually verify the remote state and update the Digest\nvalue stored in the DynamoDB table to the following value: {actual}"),
        };
        StoreError::new(format!(
            "state data in S3 does not have the expected content.\n\nThe checksum calculated for the state stored in S3 does not match the checksum\nstored in DynamoDB.\n\nBucket: {}\nKey:    {}\nCalculated checksum: {actual}\nStored checksum:     {expected}\n\nThis may be caused by unusually long delays in S3 processing a previous state\nupdate. Please wait for a minute or two and try again.\n\nIf this problem persists, and neither S3 nor DynamoDB are experiencing an\n{end}\n",
            self.bucket(),
            self.key
        ))
    }
}

#[async_trait]
impl StateStore for S3Store {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts { versions: Some(self), ..StoreFacts::remote(self.journal.clone()) }
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let read = || async { tokio::join!(self.read_object(), self.recorded()) };
        self.known.read(read, |actual, recorded| self.stale(actual, recorded)).await
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        let digest = checksum(&snapshot);
        let unrecorded = |why| StoreError::new(format!("failed to store state MD5: {why}"));
        if let Some(table) = &self.place.table {
            // If this process ends before the new checksum is recorded, the state that it uploaded is still known.
            let old = self.known.get();
            let attributes = [(DIGEST, old.as_deref()), (PENDING, Some(&*digest))];
            table.put_all(&self.digest_id(), &attributes).await.map_err(unrecorded)?;
        }
        let written = self.place.objects.put(&self.key, Bytes::from_owner(snapshot), false).await;
        written.map_err(|failure| StoreError::new(format!("failed to upload state: {failure}")))?;
        let Some(table) = &self.place.table else { return Ok(()) };
        // Without it, the next read of Terraform would fail.
        table.put_all(&self.digest_id(), &[(DIGEST, Some(&*digest))]).await.map_err(unrecorded)?;
        self.known.set(digest);
        Ok(())
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        self.lock_of().take(info).await
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        self.lock_of().give_back(id).await
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.write(Arc::from([])).await
    }

    async fn lock_lost(&self) -> StoreError {
        std::future::pending().await
    }
}

#[async_trait]
impl Versions for S3Store {
    async fn versions(&self, limit: usize) -> Result<Vec<Version>, StoreError> {
        let listed =
            self.place.objects.versions(&self.key, limit).await.map_err(|failure| self.unreadable(&failure))?;
        Ok(listed.into_iter().map(|one| Version { id: one.version_id, written: utc(&one.last_modified) }).collect())
    }

    async fn version(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let content = self.place.objects.get_version(&self.key, id).await;
        let content = content.map_err(|failure| self.unreadable(&failure))?;
        Ok(content.filter(|content| !content.is_empty()))
    }
}
