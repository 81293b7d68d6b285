//! The state of one workspace as commands use it: decrypted, with a history of what was written.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use base::stop::Stop;
use encryption::{Cipher, Layout};
use model::state::StateMeta;

use super::history::{History, Packed};
use super::{locking, sealing};
use crate::contract::{LockError, LockInfo, StateStore, StoreError, StoreFacts};

/// A store with what encrypts it, and with the history of its snapshots on this machine.
pub struct StateSession {
    store: Arc<dyn StateStore>,
    cipher: Option<Arc<Cipher>>,
    /// What was read was not written by the method that writes now.
    is_outdated: AtomicBool,
    history: Option<SessionHistory>,
}

struct SessionHistory {
    history: History,
    pending: Mutex<PendingSnapshots>,
}

/// What is added to the history at the end.
#[derive(Default)]
struct PendingSnapshots {
    /// What the lock was taken for; none: there is none.
    operation: Option<String>,
    /// What was stored before, if it is not kept yet.
    before: Option<Packed>,
    last: Option<Packed>,
}

/// What begins the operations that copy states from one backend to another.
const MIGRATION: &str = "migration ";

impl StateSession {
    /// Without a history. States are encrypted with the cipher; none: they must not be encrypted.
    pub fn new(store: Arc<dyn StateStore>, cipher: Option<Arc<Cipher>>) -> StateSession {
        if let (Some(cipher), Some(backups)) = (&cipher, store.facts().backups) {
            backups.make_by(sealing::backups(cipher.clone()));
        }
        StateSession { store, cipher, is_outdated: AtomicBool::new(false), history: None }
    }

    /// Adds what is written from now on to a history.
    pub fn with_history(self, history: History) -> StateSession {
        StateSession { history: Some(SessionHistory { history, pending: Mutex::default() }), ..self }
    }

    /// What the store is like, as of now.
    pub fn facts(&self) -> StoreFacts<'_> {
        let facts = self.store.facts();
        let is_outdated = self.is_outdated.load(Ordering::SeqCst);
        StoreFacts { writes_elsewhere: facts.writes_elsewhere || is_outdated, ..facts }
    }

    /// What encrypts the state and what is kept beside it: the journal, a state that the store refuses.
    pub fn cipher(&self) -> Option<&Cipher> {
        self.cipher.as_deref()
    }

    /// Earlier snapshots, if they are kept on this machine.
    pub fn history(&self) -> Option<&History> {
        self.history.as_ref().map(|own| &own.history)
    }

    /// The stored snapshot, decrypted; None if there is none, or an empty one.
    pub async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(content) = self.store.read().await? else { return Ok(None) };
        let Some(cipher) = &self.cipher else { return Ok(Some(content)) };
        let opened = sealing::opened(cipher, content).await?;
        self.is_outdated.store(opened.outdated, Ordering::SeqCst);
        Ok(Some(opened.plain))
    }

    /// Replaces the snapshot, durably.
    pub async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        match &self.cipher {
            None => self.store.write(snapshot.clone()).await?,
            Some(cipher) => {
                let layout = if self.store.facts().keeps_files { Layout::Indented } else { Layout::Compact };
                let content = cipher.seal(&snapshot, layout).await?;
                self.store.write(content.into()).await?;
                self.is_outdated.store(false, Ordering::SeqCst);
            }
        }
        if let Some(history) = &self.history {
            history.written(snapshot).await;
        }
        Ok(())
    }

    /// Removes the snapshot. Nothing is encrypted, and nothing is added to the history.
    pub async fn erase(&self) -> Result<(), StoreError> {
        self.store.erase().await
    }

    /// Takes the lock, as [`locking::acquire`] does; gives its ID.
    pub async fn acquire(
        &self,
        info: &LockInfo,
        timeout: Duration,
        stop: &Stop,
        waiting: impl FnOnce(Option<LockInfo>),
    ) -> Result<String, LockError> {
        let id = locking::acquire(&*self.store, info, timeout, stop, waiting).await?;
        if let Some(history) = &self.history {
            history.pending().operation = Some(info.operation.clone());
        }
        Ok(id)
    }

    /// Releases the lock of that ID, and adds the last snapshot to the history.
    pub async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        let Some(history) = &self.history else { return self.store.unlock(id).await };
        let ((), unlocked) = tokio::join!(history.keep(), self.store.unlock(id));
        unlocked
    }

    /// Completes, with the reason, when the lock that this session took is lost.
    pub async fn lock_lost(&self) -> StoreError {
        self.store.lock_lost().await
    }

    /// What is stored before the first write, as the caller read it: kept, if there is a history that lacks it.
    pub fn keep_stored(&self, meta: &StateMeta, content: impl FnOnce() -> Arc<[u8]>) {
        if let Some(own) = self.history.as_ref().filter(|own| !own.history.has(meta)) {
            own.pending().before = Packed::of(&content(), "").inspect_err(warn).ok();
        }
    }
}

impl SessionHistory {
    fn pending(&self) -> MutexGuard<'_, PendingSnapshots> {
        self.pending.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Notes what was written.
    async fn written(&self, snapshot: Arc<[u8]>) {
        let operation = self.pending().operation.clone();
        let is_locked = operation.is_some();
        // A copy is no new state: lineage and serial are those of the source.
        if operation.as_ref().is_some_and(|operation| operation.starts_with(MIGRATION)) {
            return;
        }
        // At once: a whole snapshot is large, and the next one would stand beside it.
        let packed = tokio::task::spawn_blocking(move || Packed::of(&snapshot, &operation.unwrap_or_default()));
        self.pending().last = packed.await.map_err(io::Error::other).flatten().inspect_err(warn).ok();
        // Under the lock more may follow, of which only the last is kept.
        if !is_locked {
            self.keep().await;
        }
    }

    /// Keeps what was written.
    async fn keep(&self) {
        let PendingSnapshots { before, last, .. } = std::mem::take(&mut *self.pending());
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
    tracing::warn!("the state was not added to the history: {error}");
}

#[cfg(test)]
mod tests {
    use model::state::{State, file};

    use super::*;
    use crate::contract::{Backend, FirstState};
    use crate::durable::user_key::UserKey;
    use crate::kinds::memory::MemoryBackend;

    fn meta(serial: u64) -> StateMeta {
        StateMeta { terraform_version: String::new(), serial, lineage: "l".into() }
    }

    fn snapshot(serial: u64) -> Arc<[u8]> {
        file::write(&meta(serial), &State::default()).unwrap().into()
    }

    async fn store(dir: &std::path::Path) -> StateSession {
        let store = MemoryBackend::default().open_store("w", &FirstState::default()).await.unwrap();
        let history = History::new(dir.join("w"), 9, None);
        StateSession::new(store, None).with_history(history.with_user_key(Some(UserKey::at(dir.join("key"))), true))
    }

    async fn lock(store: &StateSession, operation: &str) -> String {
        store.acquire(&LockInfo::new(operation), Duration::ZERO, &Stop::new(), |_| {}).await.unwrap()
    }

    fn kept(store: &StateSession) -> Vec<(u64, String)> {
        let entries = store.history().unwrap().entries().unwrap();
        entries.into_iter().map(|entry| (entry.header.serial, entry.header.operation)).collect()
    }

    #[tokio::test]
    async fn a_command_keeps_its_last_snapshot_and_what_it_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path()).await;
        let id = lock(&store, "state-rm").await;
        store.keep_stored(&meta(4), || snapshot(4));
        store.write(snapshot(5)).await.unwrap();
        store.write(snapshot(6)).await.unwrap();
        assert!(kept(&store).is_empty());
        store.unlock(&id).await.unwrap();
        assert_eq!(kept(&store), [(6, "state-rm".into()), (4, String::new())]);
        let id = lock(&store, "state-mv").await;
        store.keep_stored(&meta(6), || unreachable!("it is kept"));
        store.unlock(&id).await.unwrap();
        assert_eq!(kept(&store).len(), 2, "nothing was written");
        store.write(snapshot(7)).await.unwrap();
        assert_eq!(kept(&store)[0], (7, String::new()));
    }

    #[tokio::test]
    async fn copies_are_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path()).await;
        let id = lock(&store, "migration destination state").await;
        store.write(snapshot(5)).await.unwrap();
        store.unlock(&id).await.unwrap();
        assert!(kept(&store).is_empty());
    }

    /// A full disk, or a folder that cannot be written, is no reason to fail.
    #[tokio::test]
    async fn a_history_that_cannot_be_written_is_no_error() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let store = store(&dir.path().join("file")).await;
        let id = lock(&store, "x").await;
        store.write(snapshot(5)).await.unwrap();
        store.unlock(&id).await.unwrap();
        assert_eq!(store.read().await.unwrap().unwrap(), *snapshot(5));
    }
}
