//! What a backend is: named workspaces, each with a store that holds one state.

use std::sync::Arc;

use async_trait::async_trait;
use model::state::{State, StateMeta, file};
use model::version::compatible_version;

use super::error::StoreError;
use super::facts::StoreFacts;
use super::lock::{LockError, LockInfo};

/// The workspace that always exists.
pub const DEFAULT_WORKSPACE: &str = "default";

/// A configured place for states.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Every workspace, the default one first, the rest sorted; those of a provider as it lists them.
    /// `ErrorKind::WorkspacesUnsupported` if this backend has only the default one.
    async fn workspaces(&self) -> Result<Vec<String>, StoreError>;

    /// Removes a workspace with its state; never the default one. Whether the state may be lost is the caller's concern,
    /// unless the backend judges that itself: then only `force` removes one with objects.
    async fn delete_workspace(&self, name: &str, force: bool) -> Result<(), StoreError>;

    /// The store of a workspace, which is made if it does not exist: with `first` by backends that list only workspaces with a
    /// state. A provider makes it with the first state that is written.
    async fn open_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError>;

    /// The store of a workspace that does not exist, and that is listed from now on: with `first` as its state, if it needs one.
    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError>;
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

    /// Completes, with the reason, when the lock that this store took is lost. The state must not be written then. Never completes
    /// where a lock cannot be lost, or where its loss cannot be noticed.
    async fn lock_lost(&self) -> StoreError;
}
