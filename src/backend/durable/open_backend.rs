//! An opened backend as commands use it: every state is encrypted and has a history, as far as that is wanted.

use std::path::PathBuf;
use std::sync::Arc;

use encryption::Cipher;

use super::history::History;
use super::sealing;
use super::session::StateSession;
use super::user_key::UserKey;
use crate::contract::{StateStore, StoreError};
use crate::hcp::Hcp;
use crate::kinds::Opened;

/// An opened backend with what encrypts its states, and where their histories are.
pub struct OpenBackend {
    opened: Opened,
    cipher: Option<Arc<Cipher>>,
    history: Option<HistoryPlace>,
}

/// Where the histories of a backend's states are.
pub struct HistoryPlace {
    /// The folder with a folder per workspace.
    pub dir: PathBuf,
    /// How many snapshots are kept at most.
    pub limit: usize,
    /// For states that are not on this machine: without it or a cipher they have no history.
    pub user_key: Option<UserKey>,
}

impl OpenBackend {
    pub fn new(opened: Opened, cipher: Option<Arc<Cipher>>, history: Option<HistoryPlace>) -> OpenBackend {
        OpenBackend { opened, cipher, history }
    }

    /// The service that operations may run on, if states are kept by one.
    pub fn hcp(&self) -> Option<&Hcp> {
        match &self.opened {
            Opened::Hcp(hcp) => Some(hcp),
            Opened::States(_) => None,
        }
    }

    /// As [`crate::Backend::workspaces`].
    pub async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        self.opened.states().workspaces().await
    }

    /// As [`crate::Backend::delete_workspace`].
    pub async fn delete_workspace(&self, name: &str, force: bool) -> Result<(), StoreError> {
        self.opened.states().delete_workspace(name, force).await
    }

    /// The state of a workspace, which is made if it does not exist.
    pub async fn store(&self, workspace: &str) -> Result<Arc<StateSession>, StoreError> {
        let first = sealing::first_state(self.cipher.as_deref()).await?;
        Ok(self.session(self.opened.states().open_store(workspace, &first).await?, workspace))
    }

    /// The state of a workspace that does not exist, and that is listed from now on.
    pub async fn create(&self, workspace: &str) -> Result<Arc<StateSession>, StoreError> {
        let first = sealing::first_state(self.cipher.as_deref()).await?;
        Ok(self.session(self.opened.states().create_store(workspace, &first).await?, workspace))
    }

    fn session(&self, store: Arc<dyn StateStore>, workspace: &str) -> Arc<StateSession> {
        let is_elsewhere = !store.facts().keeps_files;
        let session = StateSession::new(store, self.cipher.clone());
        let Some(place) = &self.history else { return Arc::new(session) };
        if is_elsewhere && place.user_key.is_none() && self.cipher.is_none() {
            return Arc::new(session);
        }
        let history = History::new(place.dir.join(workspace), place.limit, self.cipher.clone());
        Arc::new(session.with_history(history.with_user_key(place.user_key.clone(), is_elsewhere)))
    }
}
