//! What a backend is: named workspaces, each with a store that holds one state.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use async_trait::async_trait;
use encryption::Cipher;
use model::state::StateMeta;

use super::LockInfo;
use super::hcp::Hcp;
use super::history::History;
use super::sealed::Backups;
use super::versions::Versions;

/// The workspace that always exists.
pub const DEFAULT_WORKSPACE: &str = "default";

/// The pause between two snapshots of one run where each is sent over a network, as long as the reference's.
pub const REMOTE_SNAPSHOT_PAUSE: Duration = Duration::from_secs(20);

/// A configured place for states.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Every workspace, the default one first, the rest sorted; those of a provider as it lists them.
    /// [`ErrorKind::WorkspacesUnsupported`] if this backend has only the default one.
    async fn workspaces(&self) -> Result<Vec<String>, StoreError>;

    /// Removes a workspace with its state; never the default one. Whether the state may be lost is the caller's concern,
    /// unless the backend judges that itself: then only `force` removes one with objects.
    async fn delete_workspace(&self, name: &str, force: bool) -> Result<(), StoreError>;

    /// The store of a workspace, which is made if it does not exist; a provider makes it with the first state.
    async fn store(&self, workspace: &str) -> Result<Arc<dyn StateStore>, StoreError>;

    /// The store of a workspace that does not exist, and that is listed from now on.
    async fn create(&self, workspace: &str) -> Result<Arc<dyn StateStore>, StoreError>;

    /// The service that operations may run on, if states are kept by one.
    fn hcp(&self) -> Option<&Hcp>;
}

/// Where the state of one workspace is. Works on the bytes of state files; locks are known by their ids.
///
/// Every provided method asks [`Self::inner`] first, so that a wrapper forwards what it does not change.
#[async_trait]
pub trait StateStore: Send + Sync {
    /// The store that this one wraps. None: it is the place of the state itself.
    fn inner(&self) -> Option<&dyn StateStore>;

    /// The stored snapshot; None if there is none, or an empty one.
    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError>;

    /// Replaces the snapshot, durably. After an error the old one is still there, or will be at the next lock.
    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError>;

    /// Removes the snapshot: a file is empty afterwards. Nothing is encrypted, and nothing is added to the history.
    async fn erase(&self) -> Result<(), StoreError> {
        match self.inner() {
            Some(inner) => inner.erase().await,
            None => self.write(Arc::from([])).await,
        }
    }

    /// Takes the lock without waiting; gives its id. One lock per store at a time.
    async fn lock(&self, info: &LockInfo) -> Result<String, LockError>;

    /// Releases the lock of that id, which may be another process's: `force-unlock` gives what people were shown.
    async fn unlock(&self, id: &str) -> Result<(), StoreError>;

    /// Completes, with the reason, when the lock that this store took is lost. The state must not be written then.
    async fn lock_lost(&self) -> StoreError {
        match self.inner() {
            Some(inner) => inner.lock_lost().await,
            None => std::future::pending().await,
        }
    }

    /// The first and the longest pause between two attempts to take a busy lock.
    fn lock_pauses(&self) -> RangeInclusive<Duration> {
        self.inner().map_or(Duration::from_secs(1)..=Duration::from_secs(16), |inner| inner.lock_pauses())
    }

    /// True if a lock can only be released by the process that holds it.
    fn locks_are_of_processes(&self) -> bool {
        self.inner().is_some_and(|inner| inner.locks_are_of_processes())
    }

    /// Where on this machine the journal of a run belongs.
    fn journal(&self) -> PathBuf;

    /// The file of this machine that the state is in, if it is in one.
    fn state_file(&self) -> Option<PathBuf> {
        self.inner()?.state_file()
    }

    /// The shortest time between two snapshots of one run: stores that others pay for are not written to every second.
    fn snapshot_pause(&self) -> Duration {
        self.inner().map_or(Duration::ZERO, |inner| inner.snapshot_pause())
    }

    /// The run begins with what is stored now: the first write from here on keeps a backup of that, if the store makes any.
    fn restart_backup(&self) {
        if let Some(inner) = self.inner() {
            inner.restart_backup();
        }
    }

    /// True if what is written does not replace what is read, so that even an unchanged state must be written.
    fn writes_elsewhere(&self) -> bool {
        self.inner().is_some_and(|inner| inner.writes_elsewhere())
    }

    /// The next state may be of another lineage, or older than the stored one: stores that check that themselves allow it.
    fn force_next_write(&self) {
        if let Some(inner) = self.inner() {
            inner.force_next_write();
        }
    }

    /// True if states are in files of this machine, which are laid out for people.
    fn keeps_files(&self) -> bool {
        self.inner().is_some_and(|inner| inner.keeps_files())
    }

    /// How backups are made from now on, if this store makes any.
    fn make_backups(&self, backups: Backups) {
        if let Some(inner) = self.inner() {
            inner.make_backups(backups);
        }
    }

    /// What is stored before the first write, as the caller read it: kept in the history, if this store has one that lacks it.
    fn keep_stored(&self, meta: &StateMeta, content: &dyn Fn() -> Vec<u8>) {
        if let Some(inner) = self.inner() {
            inner.keep_stored(meta, content);
        }
    }

    /// Earlier snapshots, if they are kept on this machine.
    fn history(&self) -> Option<&History> {
        self.inner()?.history()
    }

    /// Earlier snapshots, if the store itself keeps them. They are as they were stored: encrypted, if states are.
    fn versions(&self) -> Option<&dyn Versions> {
        self.inner()?.versions()
    }

    /// What encrypts what is kept beside the state: the journal, a state that the store refuses.
    fn cipher(&self) -> Option<&Arc<Cipher>> {
        self.inner()?.cipher()
    }
}

/// A store's failure, worded for people; names the path or address concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    pub kind: ErrorKind,
    pub text: String,
}

/// What callers decide by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    Failed,
    /// The backend has only the default workspace.
    WorkspacesUnsupported,
    /// The backend has only named workspaces, not the default one.
    DefaultUnsupported,
    /// The lock is free, or held by another process.
    LockGone,
    /// The state cannot be encrypted, or decrypted.
    Sealed,
    /// The state cannot be decrypted, or is not encrypted as it should be, for a reason that is explained: a summary of this many
    /// bytes, then the rest.
    Explained {
        summary: usize,
    },
    /// What the store holds is not a whole state.
    Damaged,
    /// A provider's text: a summary of this many bytes, then the rest.
    Provider {
        summary: usize,
    },
}

impl StoreError {
    pub fn new(text: impl Into<String>) -> StoreError {
        StoreError { kind: ErrorKind::Failed, text: text.into() }
    }

    /// Summary and detail, if the text has both.
    pub fn summary_and_detail(&self) -> Option<(&str, &str)> {
        let (ErrorKind::Provider { summary } | ErrorKind::Explained { summary }) = self.kind else { return None };
        let (summary, rest) = self.text.split_at_checked(summary)?;
        Some((summary, rest.trim_start_matches([':', '\n']).trim_start()))
    }

    pub fn damaged(text: impl Into<String>) -> StoreError {
        StoreError { kind: ErrorKind::Damaged, text: text.into() }
    }

    pub fn workspaces_unsupported() -> StoreError {
        StoreError { kind: ErrorKind::WorkspacesUnsupported, text: "workspaces not supported".into() }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for StoreError {}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> StoreError {
        StoreError::new(error.to_string())
    }
}

/// The reason why a lock was not acquired, and the lock owner if it is known.
#[derive(Clone, Debug)]
pub struct LockError {
    pub reason: String,
    /// None if the holder is not known.
    pub holder: Option<LockInfo>,
    /// Another process has the lock, so that a retry may succeed.
    pub busy: bool,
}

impl LockError {
    pub fn new(reason: impl Into<String>) -> LockError {
        LockError { reason: reason.into(), holder: None, busy: false }
    }
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> LockError {
        LockError::new(error.to_string())
    }
}

/// The reason, and the holder as a block of lines.
impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.holder {
            Some(holder) if self.reason.is_empty() => write!(f, "{holder}"),
            Some(holder) => write!(f, "{}\n{holder}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}
