//! Stores whose snapshots are kept in a history on this machine.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use encryption::Cipher;
use model::state::StateMeta;

use super::hcp::Hcp;
use super::history::{History, Packed};
use super::lock::LockInfo;
use super::store::{Backend, FirstState, KeptStates, LockError, StateStore, StoreError, StoreFacts};
use super::user_key::UserKey;

/// A backend with a history per workspace.
pub struct BackendWithHistory {
    pub inner: Arc<dyn Backend>,
    /// The folder with a folder per workspace.
    pub dir: PathBuf,
    pub limit: usize,
    pub cipher: Option<Arc<Cipher>>,
    /// For states that are not on this machine: without it or a cipher they have no history.
    pub user_key: Option<UserKey>,
}

#[async_trait]
impl Backend for BackendWithHistory {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        self.inner.workspaces().await
    }

    async fn delete_workspace(&self, name: &str, force: bool) -> Result<(), StoreError> {
        self.inner.delete_workspace(name, force).await
    }

    async fn open_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        Ok(self.with_history(self.inner.open_store(workspace, first).await?, workspace))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        Ok(self.with_history(self.inner.create_store(workspace, first).await?, workspace))
    }

    fn hcp(&self) -> Option<&Hcp> {
        self.inner.hcp()
    }
}

impl BackendWithHistory {
    fn with_history(&self, inner: Arc<dyn StateStore>, workspace: &str) -> Arc<dyn StateStore> {
        let is_elsewhere = inner.facts().state_file.is_none();
        if is_elsewhere && self.user_key.is_none() && self.cipher.is_none() {
            return inner;
        }
        let history = History::new(self.dir.join(workspace), self.limit, self.cipher.clone());
        let history = history.with_user_key(self.user_key.clone(), is_elsewhere);
        Arc::new(StoreWithHistory { inner, history, run: Mutex::default() })
    }
}

struct StoreWithHistory {
    inner: Arc<dyn StateStore>,
    history: History,
    run: Mutex<Unkept>,
}

/// What there is to keep at the end.
#[derive(Default)]
struct Unkept {
    /// What the lock was taken for; none: there is none.
    operation: Option<String>,
    /// What was stored before, if it is not kept yet.
    before: Option<Packed>,
    last: Option<Packed>,
}

/// What begins the operations that copy states from one backend to another.
const MIGRATION: &str = "migration ";

impl StoreWithHistory {
    fn run(&self) -> MutexGuard<'_, Unkept> {
        self.run.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Keeps what was written.
    async fn keep(&self) {
        let Unkept { before, last, .. } = std::mem::take(&mut *self.run());
        let Some(last) = last else { return };
        for snapshot in before.into_iter().chain([last]) {
            if let Err(error) = self.history.keep(snapshot).await {
                warn(&error);
            }
        }
    }
}

/// A history that cannot be kept is no error of the command.
fn warn(error: &io::Error) {
    base::log!(Warn, "the state was not added to the history: {error}");
}

#[async_trait]
impl StateStore for StoreWithHistory {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts { history: Some(self), ..self.inner.facts() }
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.read().await
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        self.inner.write(snapshot.clone()).await?;
        let operation = self.run().operation.clone();
        let is_locked = operation.is_some();
        // A copy is no new state: lineage and serial are those of the source.
        if operation.as_ref().is_some_and(|operation| operation.starts_with(MIGRATION)) {
            return Ok(());
        }
        // At once: a whole snapshot is large, and the next one would stand beside it.
        let packed = tokio::task::spawn_blocking(move || Packed::of(&snapshot, &operation.unwrap_or_default()));
        self.run().last = packed.await.map_err(io::Error::other).flatten().inspect_err(warn).ok();
        // Under the lock more may follow, of which only the last is kept.
        if !is_locked {
            self.keep().await;
        }
        Ok(())
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        let id = self.inner.lock(info).await?;
        self.run().operation = Some(info.operation.clone());
        Ok(id)
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        let ((), unlocked) = tokio::join!(self.keep(), self.inner.unlock(id));
        unlocked
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.inner.erase().await
    }

    async fn lock_lost(&self) -> StoreError {
        self.inner.lock_lost().await
    }
}

impl KeptStates for StoreWithHistory {
    fn history(&self) -> &History {
        &self.history
    }

    fn keep_stored(&self, meta: &StateMeta, content: &dyn Fn() -> Vec<u8>) {
        if !self.history.has(meta) {
            self.run().before = Packed::of(&content(), "").inspect_err(warn).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use model::state::{State, file};

    use super::*;
    use crate::memory::MemoryBackend;

    fn meta(serial: u64) -> StateMeta {
        StateMeta { terraform_version: String::new(), serial, lineage: "l".into() }
    }

    fn snapshot(serial: u64) -> Arc<[u8]> {
        file::write(&meta(serial), &State::default()).unwrap().into()
    }

    async fn store(dir: &std::path::Path) -> Arc<dyn StateStore> {
        let inner = Arc::new(MemoryBackend::default());
        let backend = BackendWithHistory {
            inner,
            dir: dir.to_path_buf(),
            limit: 9,
            cipher: None,
            user_key: Some(UserKey::at(dir.join("key"))),
        };
        backend.open_store("w", &crate::store::FirstState::default()).await.unwrap()
    }

    fn kept(store: &dyn StateStore) -> Vec<(u64, String)> {
        let entries = store.facts().history.map(KeptStates::history).unwrap().entries().unwrap();
        entries.into_iter().map(|entry| (entry.header.serial, entry.header.operation)).collect()
    }

    #[tokio::test]
    async fn a_command_keeps_its_last_snapshot_and_what_it_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path()).await;
        let id = store.lock(&LockInfo::new("state-rm")).await.unwrap();
        if let Some(history) = store.facts().history {
            history.keep_stored(&meta(4), &|| snapshot(4).to_vec());
        }
        store.write(snapshot(5)).await.unwrap();
        store.write(snapshot(6)).await.unwrap();
        assert!(kept(&*store).is_empty());
        store.unlock(&id).await.unwrap();
        assert_eq!(kept(&*store), [(6, "state-rm".into()), (4, String::new())]);
        let id = store.lock(&LockInfo::new("state-mv")).await.unwrap();
        if let Some(history) = store.facts().history {
            history.keep_stored(&meta(6), &|| unreachable!("it is kept"));
        }
        store.unlock(&id).await.unwrap();
        assert_eq!(kept(&*store).len(), 2, "nothing was written");
        store.write(snapshot(7)).await.unwrap();
        assert_eq!(kept(&*store)[0], (7, String::new()));
    }

    #[tokio::test]
    async fn copies_are_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path()).await;
        let id = store.lock(&LockInfo::new("migration destination state")).await.unwrap();
        store.write(snapshot(5)).await.unwrap();
        store.unlock(&id).await.unwrap();
        assert!(kept(&*store).is_empty());
    }

    /// A full disk, or a folder that cannot be written, is no reason to fail.
    #[tokio::test]
    async fn a_history_that_cannot_be_written_is_no_error() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let store = store(&dir.path().join("file")).await;
        let id = store.lock(&LockInfo::new("x")).await.unwrap();
        store.write(snapshot(5)).await.unwrap();
        store.unlock(&id).await.unwrap();
        assert_eq!(store.read().await.unwrap().unwrap(), *snapshot(5));
    }
}
