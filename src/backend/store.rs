//! What a backend is: named workspaces, each with a store that holds one state.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use async_trait::async_trait;
use encryption::Cipher;
use model::state::{State, StateMeta, file};
use model::version::compatible_version;

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

    /// The store of a workspace, which is made if it does not exist: with `first` by backends that list only workspaces with a
    /// state. A provider makes it with the first state that is written.
    async fn open_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError>;

    /// The store of a workspace that does not exist, and that is listed from now on: with `first` as its state, if it needs one.
    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError>;

    /// The service that operations may run on, if states are kept by one.
    fn hcp(&self) -> Option<&Hcp>;
}

impl dyn Backend + '_ {
    /// As [`Backend::open_store`], with the first state of this backend.
    pub async fn store(&self, workspace: &str) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, &FirstState::default()).await
    }

    /// As [`Backend::create_store`], with the first state of this backend.
    pub async fn create(&self, workspace: &str) -> Result<Arc<dyn StateStore>, StoreError> {
        self.create_store(workspace, &FirstState::default()).await
    }
}

/// What a new workspace begins with: a state without objects, the first of its lineage. Encrypted where states are.
#[derive(Clone, Debug, Default)]
pub struct FirstState {
    content: Option<Vec<u8>>,
}

impl FirstState {
    /// This content, instead of a state that everyone can read.
    pub fn of(content: Vec<u8>) -> FirstState {
        FirstState { content: Some(content) }
    }

    /// As it is stored.
    pub fn content(&self) -> Result<Vec<u8>, StoreError> {
        if let Some(content) = &self.content {
            return Ok(content.clone());
        }
        let lineage = uuid::Uuid::new_v4().to_string();
        let meta = StateMeta { terraform_version: compatible_version().into(), serial: 1, lineage };
        file::write(&meta, &State::default()).map_err(|problems| StoreError::new(file::problems_text(&problems)))
    }
}

/// Where the state of one workspace is. Works on the bytes of state files; locks are known by their ids.
///
/// No method has a default, so that a store that wraps another one says of each whether it is forwarded.
#[async_trait]
pub trait StateStore: Send + Sync {
    /// What the store is like, and what else it can do, as of now.
    fn facts(&self) -> StoreFacts<'_>;

    /// The stored snapshot; None if there is none, or an empty one.
    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError>;

    /// Replaces the snapshot, durably. After an error the old one is still there, or will be at the next lock.
    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError>;

    /// Removes the snapshot: a file is empty afterwards. Nothing is encrypted, and nothing is added to the history.
    async fn erase(&self) -> Result<(), StoreError>;

    /// Takes the lock without waiting; gives its id. One lock per store at a time.
    async fn lock(&self, info: &LockInfo) -> Result<String, LockError>;

    /// Releases the lock of that id, which may be another process's: `force-unlock` gives what people were shown.
    async fn unlock(&self, id: &str) -> Result<(), StoreError>;

    /// Completes, with the reason, when the lock that this store took is lost. The state must not be written then.
    async fn lock_lost(&self) -> StoreError;
}

/// What a store is like, and what it can do besides keeping a state. A store that wraps another one takes over the facts that it
/// does not change.
#[derive(Clone)]
pub struct StoreFacts<'s> {
    /// Where on this machine the journal of a run belongs.
    pub journal: PathBuf,
    /// The first and the longest pause between two attempts to take a busy lock.
    pub lock_pauses: RangeInclusive<Duration>,
    /// True if a lock can only be released by the process that holds it.
    pub locks_are_of_processes: bool,
    /// The file of this machine that the state is in, if it is in one.
    pub state_file: Option<PathBuf>,
    /// True if states are in files of this machine, which are laid out for people.
    pub keeps_files: bool,
    /// The shortest time between two snapshots of one run: stores that others pay for are not written to every second.
    pub snapshot_pause: Duration,
    /// True if what is written does not replace what is read, so that even an unchanged state must be written.
    pub writes_elsewhere: bool,
    /// Backups of the state before a run.
    pub backups: Option<&'s dyn FileBackups>,
    /// Checks of the store itself that can be turned off.
    pub forced: Option<&'s dyn ForcedWrites>,
    /// Earlier snapshots, if the store itself keeps them. They are as they were stored: encrypted, if states are.
    pub versions: Option<&'s dyn Versions>,
    /// Earlier snapshots, if they are kept on this machine.
    pub history: Option<&'s dyn KeptStates>,
    /// What encrypts what is kept beside the state: the journal, a state that the store refuses.
    pub cipher: Option<&'s Arc<Cipher>>,
}

impl StoreFacts<'_> {
    /// Of a store on this machine that can do nothing else.
    pub fn local(journal: PathBuf) -> StoreFacts<'static> {
        StoreFacts {
            journal,
            lock_pauses: Duration::from_secs(1)..=Duration::from_secs(16),
            locks_are_of_processes: false,
            state_file: None,
            keeps_files: false,
            snapshot_pause: Duration::ZERO,
            writes_elsewhere: false,
            backups: None,
            forced: None,
            versions: None,
            history: None,
            cipher: None,
        }
    }

    /// Of a store behind a network that can do nothing else.
    pub fn remote(journal: PathBuf) -> StoreFacts<'static> {
        StoreFacts { snapshot_pause: REMOTE_SNAPSHOT_PAUSE, ..StoreFacts::local(journal) }
    }
}

/// Backups that a store makes of what it replaces.
pub trait FileBackups: Send + Sync {
    /// The run begins with what is stored now: the first write from here on keeps a backup of that.
    fn restart(&self);

    /// How backups are made from now on.
    fn make_by(&self, backups: Backups);
}

/// Stores that refuse a state of another lineage, or an older one.
pub trait ForcedWrites: Send + Sync {
    /// The next state may be of another lineage, or older than the stored one.
    fn force_next_write(&self);
}

/// A history of states on this machine.
pub trait KeptStates: Send + Sync {
    fn history(&self) -> &History;

    /// What is stored before the first write, as the caller read it: kept, if the history lacks it.
    fn keep_stored(&self, meta: &StateMeta, content: &dyn Fn() -> Vec<u8>);
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
