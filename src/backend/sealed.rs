//! Stores whose content is encrypted: plain inside of this program, sealed outside of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use encryption::{Cipher, Layout, Opened, Outside, SealError, is_sealed, outside};
use model::state::file;

use super::hcp::Hcp;
use super::lock::LockInfo;
use super::store::{Backend, ErrorKind, FirstState, LockError, StateStore, StoreError, StoreFacts};

/// A backend with sealed states.
pub struct SealedBackend {
    inner: Arc<dyn Backend>,
    cipher: Arc<Cipher>,
}

impl SealedBackend {
    pub fn new(inner: Arc<dyn Backend>, cipher: Arc<Cipher>) -> SealedBackend {
        SealedBackend { inner, cipher }
    }

    /// The first state of a workspace, encrypted unless a key would take long to derive.
    async fn first_state(&self) -> Result<FirstState, StoreError> {
        let plain = FirstState::default();
        if !self.cipher.is_quick() {
            return Ok(plain);
        }
        Ok(FirstState::of(self.cipher.seal(&plain.content()?, Layout::Compact).await?))
    }
}

#[async_trait]
impl Backend for SealedBackend {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        self.inner.workspaces().await
    }

    async fn delete_workspace(&self, name: &str, force: bool) -> Result<(), StoreError> {
        self.inner.delete_workspace(name, force).await
    }

    async fn open_store(&self, workspace: &str, _first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        let store = self.inner.open_store(workspace, &self.first_state().await?).await?;
        Ok(sealed(store, &self.cipher))
    }

    async fn create_store(&self, workspace: &str, _first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        let store = self.inner.create_store(workspace, &self.first_state().await?).await?;
        Ok(sealed(store, &self.cipher))
    }

    fn hcp(&self) -> Option<&Hcp> {
        self.inner.hcp()
    }
}

/// True for a state without anything in it. One that is not encrypted is as good as none: who can put it there could remove
/// the state as well.
fn is_empty_state(content: &[u8]) -> bool {
    // An encrypted state may have further fields outside, which make it look like one.
    let read = file::read(content).ok().flatten().filter(|_| !is_sealed(content));
    read.is_some_and(|file| file.state.resources.is_empty() && file.state.outputs.is_empty())
}

/// A store whose content is sealed.
pub fn sealed(inner: Arc<dyn StateStore>, cipher: &Arc<Cipher>) -> Arc<dyn StateStore> {
    if let Some(own) = inner.facts().backups {
        own.make_by(backups(cipher.clone()));
    }
    Arc::new(SealedStore { inner, cipher: cipher.clone(), outdated: AtomicBool::new(false) })
}

/// What to keep of what was stored before it is replaced, given both; none: nothing.
pub type Backups = Arc<dyn Fn(Vec<u8>, &[u8]) -> Result<Option<Vec<u8>>, String> + Send + Sync>;

/// Backups are sealed anew, as a plain state may have been stored, or one sealed by a method that is about to go.
fn backups(cipher: Arc<Cipher>) -> Backups {
    let runtime = tokio::runtime::Handle::try_current();
    Arc::new(move |old, new| {
        let Ok(runtime) = &runtime else { return Ok(Some(old)) };
        let work = async {
            let opened = cipher.open(old).await?;
            // The same state in another form: nothing is lost.
            let is_same = |old: Outside| old.serial.is_some() && Ok(old) == outside(new);
            if outside(&opened.plain).is_ok_and(is_same) {
                return Ok(None);
            }
            cipher.seal(&opened.plain, Layout::Compact).await.map(Some)
        };
        runtime.block_on(work).map_err(|error: SealError| error.to_string())
    })
}

/// No state without anything in it is larger.
const SMALL: usize = 4096;

/// What a store holds, decrypted.
pub async fn opened(cipher: &Cipher, content: Vec<u8>) -> Result<Opened, SealError> {
    match content.len() < SMALL && is_empty_state(&content) {
        true => Ok(Opened { plain: content, outdated: !cipher.writes_plain() }),
        false => cipher.open(content).await,
    }
}

struct SealedStore {
    inner: Arc<dyn StateStore>,
    cipher: Arc<Cipher>,
    /// What was read was not written by the method that writes now.
    outdated: AtomicBool,
}

impl From<SealError> for StoreError {
    fn from(error: SealError) -> StoreError {
        let Some((summary, detail)) = error.summary_and_detail() else {
            return StoreError { kind: ErrorKind::Sealed, text: error.to_string() };
        };
        let text = match &error {
            SealError::Configuration(_) => format!("{summary}: {detail}"),
            _ => error.to_string(),
        };
        StoreError { kind: ErrorKind::Explained { summary: summary.len() }, text }
    }
}

#[async_trait]
impl StateStore for SealedStore {
    fn facts(&self) -> StoreFacts<'_> {
        let inner = self.inner.facts();
        let is_outdated = self.outdated.load(Ordering::SeqCst);
        StoreFacts { writes_elsewhere: inner.writes_elsewhere || is_outdated, cipher: Some(&self.cipher), ..inner }
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(content) = self.inner.read().await? else { return Ok(None) };
        let opened = opened(&self.cipher, content).await?;
        self.outdated.store(opened.outdated, Ordering::SeqCst);
        Ok(Some(opened.plain))
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        let layout = if self.inner.facts().keeps_files { Layout::Indented } else { Layout::Compact };
        let content = self.cipher.seal(&snapshot, layout).await?;
        self.inner.write(content.into()).await?;
        self.outdated.store(false, Ordering::SeqCst);
        Ok(())
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        self.inner.lock(info).await
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        self.inner.unlock(id).await
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.inner.erase().await
    }

    async fn lock_lost(&self) -> StoreError {
        self.inner.lock_lost().await
    }
}
