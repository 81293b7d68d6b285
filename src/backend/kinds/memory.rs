//! The `inmem` backend: states that end with the process. For tests, here and of those who use us.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::{Type, Value};

use crate::contract::schema::{block, optional};
use crate::contract::{
    Backend, Context, DEFAULT_WORKSPACE, FirstState, LockError, LockInfo, StateStore, StoreError, StoreFacts,
};
use crate::kinds::{Kind, Opened};

/// The kind that opens [`MemoryBackend`].
pub struct InMemory;

#[async_trait]
impl Kind for InMemory {
    fn name(&self) -> &'static str {
        "inmem"
    }

    fn schema(&self) -> Block {
        block(&[("lock_id", optional(Type::String, "initializes the state in a locked configuration"))])
    }

    async fn open(&self, config: &Value, _context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>> {
        let lock_id = config.get("lock_id").and_then(Value::as_str);
        Ok(Opened::States(Arc::new(lock_id.map_or_else(MemoryBackend::default, MemoryBackend::locked))))
    }
}

#[derive(Clone, Default)]
pub struct MemoryBackend {
    states: Arc<Mutex<BTreeMap<String, Slot>>>,
}

#[derive(Default)]
struct Slot {
    snapshot: Option<Arc<[u8]>>,
    lock: Option<LockInfo>,
}

struct MemoryStore {
    backend: MemoryBackend,
    workspace: String,
    /// The journal is a file also for a state in memory.
    journal: PathBuf,
}

impl MemoryBackend {
    /// Its default workspace is locked by that id.
    pub fn locked(id: &str) -> MemoryBackend {
        let lock = LockInfo { id: id.into(), info: "test config".into(), ..LockInfo::new("test") };
        let slot = Slot { snapshot: None, lock: Some(lock) };
        MemoryBackend { states: Arc::new(Mutex::new(BTreeMap::from([(DEFAULT_WORKSPACE.to_owned(), slot)]))) }
    }

    fn states(&self) -> MutexGuard<'_, BTreeMap<String, Slot>> {
        self.states.lock().unwrap_or_else(|e| e.into_inner())
    }
}

#[async_trait]
impl Backend for MemoryBackend {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        let states = self.states();
        let others = states.keys().filter(|name| *name != DEFAULT_WORKSPACE).cloned();
        Ok([DEFAULT_WORKSPACE.to_string()].into_iter().chain(others).collect())
    }

    async fn delete_workspace(&self, name: &str, _force: bool) -> Result<(), StoreError> {
        if name == DEFAULT_WORKSPACE || name.is_empty() {
            return Err(StoreError::new("can't delete default state"));
        }
        self.states().remove(name);
        Ok(())
    }

    async fn open_store(&self, workspace: &str, _first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.states().entry(workspace.to_string()).or_default();
        let name = format!("terrane-{}-{}.journal", std::process::id(), uuid::Uuid::new_v4());
        Ok(Arc::new(MemoryStore {
            backend: self.clone(),
            workspace: workspace.into(),
            journal: std::env::temp_dir().join(name),
        }))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, first).await
    }
}

impl MemoryStore {
    fn with<T>(&self, work: impl FnOnce(&mut Slot) -> T) -> T {
        work(self.backend.states().entry(self.workspace.clone()).or_default())
    }
}

#[async_trait]
impl StateStore for MemoryStore {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts::local(self.journal.clone())
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.with(|slot| slot.snapshot.as_ref().map(|bytes| bytes.to_vec())))
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        self.with(|slot| slot.snapshot = Some(snapshot));
        Ok(())
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        self.with(|slot| match &slot.lock {
            Some(holder) => Err(LockError { reason: "state locked".into(), holder: Some(holder.clone()), busy: true }),
            None => {
                slot.lock = Some(info.clone());
                Ok(info.id.clone())
            }
        })
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        self.with(|slot| match &slot.lock {
            Some(holder) if holder.id == id => {
                slot.lock = None;
                Ok(())
            }
            Some(holder) => Err(StoreError::new(format!("invalid lock id\n{holder}"))),
            None => Err(StoreError::new("state not locked")),
        })
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.write(Arc::from([])).await
    }

    async fn lock_lost(&self) -> StoreError {
        std::future::pending().await
    }
}
