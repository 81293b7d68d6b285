//! Stores whose content is encrypted: plain inside of this program, sealed outside of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use encryption::{Cipher, Layout, Opened, Outside, SealError, is_sealed, outside};
use model::state::file;

use super::hcp::Hcp;
use super::lock::LockInfo;
use super::store::{Backend, ErrorKind, LockError, StateStore, StoreError};

/// A backend with sealed states.
pub struct SealedBackend {
    inner: Arc<dyn Backend>,
    cipher: Arc<Cipher>,
}

impl SealedBackend {
    pub fn new(inner: Arc<dyn Backend>, cipher: Arc<Cipher>) -> SealedBackend {
        SealedBackend { inner, cipher }
    }

    /// What a workspace begins with, unless a key would take long to derive.
    async fn new_state(&self) -> Result<Option<Vec<u8>>, StoreError> {
        if !self.cipher.is_quick() {
            return Ok(None);
        }
        Ok(Some(self.cipher.seal(&super::plain_empty_state()?, Layout::Compact).await?))
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

    async fn store(&self, workspace: &str) -> Result<Arc<dyn StateStore>, StoreError> {
        let store = NEW_STATE.scope(self.new_state().await?, self.inner.store(workspace)).await?;
        Ok(sealed(store, &self.cipher))
    }

    async fn create(&self, workspace: &str) -> Result<Arc<dyn StateStore>, StoreError> {
        let store = NEW_STATE.scope(self.new_state().await?, self.inner.create(workspace)).await?;
        Ok(sealed(store, &self.cipher))
    }

    fn hcp(&self) -> Option<&Hcp> {
        self.inner.hcp()
    }
}

tokio::task_local! {
    /// What a backend writes that makes a workspace.
    static NEW_STATE: Option<Vec<u8>>;
}

/// The encrypted content of a new workspace, where states are encrypted.
pub fn new_state() -> Option<Vec<u8>> {
    NEW_STATE.try_with(Clone::clone).ok().flatten()
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
    inner.make_backups(backups(cipher.clone()));
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
    fn inner(&self) -> Option<&dyn StateStore> {
        Some(&*self.inner)
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(content) = self.inner.read().await? else { return Ok(None) };
        let opened = opened(&self.cipher, content).await?;
        self.outdated.store(opened.outdated, Ordering::SeqCst);
        Ok(Some(opened.plain))
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        let layout = if self.inner.keeps_files() { Layout::Indented } else { Layout::Compact };
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

    fn journal(&self) -> PathBuf {
        self.inner.journal()
    }

    fn writes_elsewhere(&self) -> bool {
        self.inner.writes_elsewhere() || self.outdated.load(Ordering::SeqCst)
    }

    fn cipher(&self) -> Option<&Arc<Cipher>> {
        Some(&self.cipher)
    }
}
