//! Locks on states in S3: an object beside the state, an item of a DynamoDB table, or both.

use bytes::Bytes;

use super::client::{Failure, Objects};
use super::table::Table;
use crate::contract::{ErrorKind, LockError, LockInfo, StoreError};

/// The errors of a write that must not replace an object: there is one, or another process is creating it. `Conflict` is the reason
/// of an answer without a body.
const TAKEN: [&str; 4] = ["PreconditionFailed", "ConditionalRequestConflict", "OperationAborted", "Conflict"];

/// The lock of one state.
pub struct Lock<'a> {
    pub objects: &'a Objects,
    /// Some: with an object of this key.
    pub file: Option<String>,
    pub table: Option<&'a Table>,
    /// `bucket/key` of the state.
    pub path: String,
}

/// Why a lock could not be given back, and whose it is.
struct UnlockFailure {
    why: String,
    holder: Option<LockInfo>,
    gone: bool,
}

impl UnlockFailure {
    fn failed(why: impl Into<String>) -> UnlockFailure {
        UnlockFailure { why: why.into(), holder: None, gone: false }
    }
}

impl Lock<'_> {
    /// The file first. Where the table refuses, the file is removed again.
    pub async fn take(&self, info: &LockInfo) -> Result<String, LockError> {
        if self.file.is_none() && self.table.is_none() {
            return Ok(String::new());
        }
        let info = LockInfo { path: self.path.clone(), ..info.clone() };
        if let Some(key) = &self.file {
            self.take_file(key, &info).await?;
        }
        if let Some(table) = self.table
            && let Err(error) = self.take_item(table, &info).await
        {
            if let Some(key) = &self.file
                && let Err(failure) = self.give_file(key, &info.id).await
            {
                let both = format!(
                    "failed to clean up file lock after DynamoDB lock error: {}; original error: {error}",
                    failure.why
                );
                return Err(LockError { reason: both, ..error });
            }
            return Err(error);
        }
        Ok(info.id)
    }

    pub async fn give_back(&self, id: &str) -> Result<(), StoreError> {
        let file = match &self.file {
            Some(key) => self.give_file(key, id).await,
            None => Ok(()),
        };
        let item = match self.table {
            Some(table) => self.give_item(table, id).await,
            None => Ok(()),
        };
        let both = self.file.is_some() && self.table.is_some();
        let failure = match (file, item) {
            (Ok(()), Ok(())) => return Ok(()),
            (Err(file), Err(item)) => UnlockFailure {
                why: format!(
                    "failed to unlock both S3 and DynamoDB: S3 error: {}, DynamoDB error: {}",
                    file.why, item.why
                ),
                holder: item.holder.or(file.holder),
                gone: file.gone && item.gone,
            },
            (Err(failure), _) if both => {
                UnlockFailure { why: format!("failed to unlock S3: {}", failure.why), ..failure }
            }
            (_, Err(failure)) if both => {
                UnlockFailure { why: format!("failed to unlock DynamoDB: {}", failure.why), ..failure }
            }
            (Err(failure), _) | (_, Err(failure)) => failure,
        };
        let kind = if failure.gone { ErrorKind::LockGone } else { ErrorKind::Failed };
        let text = match failure.holder {
            Some(holder) => format!("{}\n{holder}", failure.why),
            None => failure.why,
        };
        Err(StoreError { kind, text })
    }

    async fn take_file(&self, key: &str, info: &LockInfo) -> Result<(), LockError> {
        let failure = match self.objects.put(key, Bytes::from(info.to_json()), true).await {
            Ok(_) => return Ok(()),
            Err(failure) => failure,
        };
        // Other stores than Amazon's answer with codes of their own, or with none.
        let taken = failure.status() == 412 || TAKEN.contains(&failure.code());
        self.refused(failure.to_string(), taken, info, self.read_file(key).await)
    }

    async fn take_item(&self, table: &Table, info: &LockInfo) -> Result<(), LockError> {
        let json = String::from_utf8_lossy(&info.to_json()).into_owned();
        let failure = match table.put(&self.path, "Info", &json, true).await {
            Ok(_) => return Ok(()),
            Err(failure) => failure,
        };
        let taken = failure.code == "ConditionalCheckFailedException";
        self.refused(failure.text, taken, info, self.read_item(table).await.map_err(|failure| failure.why))
    }

    /// A lock that was refused, unless it is ours: a request that was repeated finds what it made itself.
    fn refused(
        &self,
        why: String,
        taken: bool,
        info: &LockInfo,
        holder: Result<LockInfo, String>,
    ) -> Result<(), LockError> {
        match holder {
            Ok(holder) if holder.id == info.id => Ok(()),
            Ok(holder) => {
                let busy = !holder.id.is_empty();
                Err(LockError { reason: why, holder: Some(holder), busy })
            }
            // Given back between the two requests, or not yet written whole: it may be free the next time.
            Err(unread) => Err(LockError { reason: format!("{why}\n{unread}"), holder: None, busy: taken }),
        }
    }

    async fn read_file(&self, key: &str) -> Result<LockInfo, String> {
        let bucket = &self.objects.settings.bucket;
        let unable = |why: &dyn std::fmt::Display| {
            format!("unable to retrieve file from S3 bucket '{bucket}' with key '{key}': {why}")
        };
        match self.objects.get(key).await {
            Ok(Some(content)) => parsed(&content),
            Ok(None) => Err(unable(&"operation error S3: GetObject, NoSuchKey: there is no lock")),
            Err(failure) => Err(unable(&failure)),
        }
    }

    async fn give_file(&self, key: &str, id: &str) -> Result<(), UnlockFailure> {
        let bucket = &self.objects.settings.bucket;
        let unable = |why: &dyn std::fmt::Display| {
            format!("unable to retrieve file from S3 bucket '{bucket}' with key '{key}': {why}")
        };
        let content = match self.objects.get(key).await {
            Ok(Some(content)) => content,
            Ok(None) => {
                let why = unable(&"operation error S3: GetObject, NoSuchKey: there is no lock");
                return Err(UnlockFailure { why, holder: None, gone: true });
            }
            Err(failure) => return Err(UnlockFailure::failed(unable(&failure))),
        };
        let holder = parsed(&content).map_err(UnlockFailure::failed)?;
        if holder.id != id {
            let why = format!("lock ID '{id}' does not match the existing lock ID '{}'", holder.id);
            return Err(UnlockFailure { why, holder: Some(holder), gone: true });
        }
        let deleted = self.objects.delete(key).await;
        deleted.map_err(|failure: Failure| UnlockFailure::failed(format!("failed to delete the lock file: {failure}")))
    }

    async fn read_item(&self, table: &Table) -> Result<LockInfo, UnlockFailure> {
        let unable =
            |why| UnlockFailure::failed(format!("Unable to retrieve item from DynamoDB table {:?}: {why}", table.name));
        match table.get(&self.path, "Info").await.map_err(unable)? {
            Some(text) => {
                LockInfo::from_json(text.as_bytes()).ok_or_else(|| UnlockFailure::failed("the lock is not valid JSON"))
            }
            None => Err(UnlockFailure { why: "unexpected end of JSON input".into(), holder: None, gone: true }),
        }
    }

    async fn give_item(&self, table: &Table, id: &str) -> Result<(), UnlockFailure> {
        let holder = self.read_item(table).await.map_err(|failure| UnlockFailure {
            why: format!("failed to retrieve lock info for lock ID {id:?}: {}", failure.why),
            ..failure
        })?;
        if holder.id != id {
            let why = format!("lock ID {id:?} does not match existing lock ({:?})", holder.id);
            return Err(UnlockFailure { why, holder: Some(holder), gone: true });
        }
        table.delete(&self.path).await.map_err(|failure| UnlockFailure::failed(failure.text))
    }
}

fn parsed(content: &[u8]) -> Result<LockInfo, String> {
    if content.is_empty() {
        return Err("failed to unmarshal JSON data into LockInfo struct: unexpected end of JSON input".into());
    }
    let found = LockInfo::from_json(content);
    found.ok_or_else(|| "failed to unmarshal JSON data into LockInfo struct: it is not valid JSON".into())
}
