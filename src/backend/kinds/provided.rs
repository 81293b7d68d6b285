//! States in a store that a provider implements.
//!
//! Never knows how a provider's process starts or ends.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use terrane_protocol::provider::{Provider, ProviderDiagnostics, Severity, StateStores};

use crate::contract::{
    Backend, Context, DEFAULT_WORKSPACE, ErrorKind, Explanation, FirstState, LockError, LockInfo, StateStore,
    StoreError, StoreFacts,
};

/// A configured store of a provider. Its states are named as the workspaces.
pub struct ProvidedBackend {
    shared: Arc<ProviderStores>,
    context: Context,
    /// What tells this store from others: provider and settings.
    place: String,
}

struct ProviderStores {
    provider: Arc<dyn Provider>,
    kind: String,
}

impl ProvidedBackend {
    /// `provider` is a process in which the store was configured.
    pub fn new(provider: Arc<dyn Provider>, kind: &str, place: String, context: Context) -> ProvidedBackend {
        ProvidedBackend { shared: Arc::new(ProviderStores { provider, kind: kind.to_owned() }), context, place }
    }
}

impl ProviderStores {
    fn stores(&self) -> Result<&dyn StateStores, StoreError> {
        self.provider.state_stores().ok_or_else(|| StoreError::new("The provider has no state stores"))
    }

    async fn states(&self) -> Result<Vec<String>, StoreError> {
        self.stores()?.states(&self.kind).await.map_err(|problems| failed(&problems))
    }

    async fn write(&self, state: &str, content: Arc<[u8]>) -> Result<(), StoreError> {
        done(self.stores()?.write_state(&self.kind, state, content).await)
    }
}

/// The errors as one text, in the form of the reference.
fn failed(problems: &ProviderDiagnostics) -> StoreError {
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    let texts: Vec<String> = errors
        .map(|problem| match problem.detail.as_str() {
            "" => problem.summary.clone(),
            detail => format!("{}: {detail}", problem.summary),
        })
        .collect();
    let text = texts.join("\n");
    let first = problems.iter().find(|problem| problem.severity == Severity::Error);
    let summary = first.map_or_else(String::new, |first| first.summary.clone());
    let detail = text[summary.len()..].trim_start_matches([':', '\n']).trim_start().to_owned();
    StoreError { kind: ErrorKind::Provider(Explanation { summary, detail }), text }
}

/// The end of a call that answers with diagnostics only.
fn done(problems: ProviderDiagnostics) -> Result<(), StoreError> {
    if terrane_protocol::provider::has_errors(&problems) {
        return Err(failed(&problems));
    }
    for warning in problems {
        tracing::warn!("state store: {}: {}", warning.summary, warning.detail);
    }
    Ok(())
}

#[async_trait]
impl Backend for ProvidedBackend {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        // The states are all that a store knows of workspaces.
        self.shared.states().await
    }

    async fn delete_workspace(&self, name: &str, _force: bool) -> Result<(), StoreError> {
        if name == DEFAULT_WORKSPACE {
            return Err(StoreError::new("Cannot delete the default workspace"));
        }
        done(self.shared.stores()?.delete_state(&self.shared.kind, name).await)
    }

    async fn open_store(&self, workspace: &str, _first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        let journal = self.context.journal_of(workspace, &[&self.place]);
        Ok(Arc::new(ProvidedStore { shared: self.shared.clone(), workspace: workspace.to_owned(), journal }))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.shared.write(workspace, first.content()?.into()).await?;
        self.open_store(workspace, first).await
    }
}

struct ProvidedStore {
    shared: Arc<ProviderStores>,
    workspace: String,
    journal: PathBuf,
}

#[async_trait]
impl StateStore for ProvidedStore {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts::remote(self.journal.clone())
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let read = self.shared.stores()?.read_state(&self.shared.kind, &self.workspace).await;
        let content = read.map_err(|problems| failed(&problems))?;
        Ok(Some(content).filter(|content| !content.is_empty()))
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        self.shared.write(&self.workspace, snapshot).await
    }

    /// A store says that a state is locked in no other way than that it cannot be locked: every refusal counts as a busy lock.
    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        let stores = self.shared.stores().map_err(|e| LockError::new(e.text))?;
        let taken = stores.lock_state(&self.shared.kind, &self.workspace, &info.operation).await;
        taken.map_err(|problems| LockError { reason: failed(&problems).text, holder: None, busy: true })
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        done(self.shared.stores()?.unlock_state(&self.shared.kind, &self.workspace, id).await)
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.write(Arc::from([])).await
    }

    async fn lock_lost(&self) -> StoreError {
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use terrane_protocol::provider::ProviderDiagnostic;

    use super::*;

    #[test]
    fn errors_of_a_store_are_one_text() {
        let problems = vec![
            ProviderDiagnostic::error("State is locked", "The holder is not known."),
            ProviderDiagnostic::warning("Hm", "warned"),
            ProviderDiagnostic::error("Disk full", ""),
        ];
        let error = done(problems).unwrap_err();
        assert_eq!(error.text, "State is locked: The holder is not known.\nDisk full");
        assert_eq!(error.summary_and_detail(), Some(("State is locked", "The holder is not known.\nDisk full")));
        let bare = done(vec![ProviderDiagnostic::error("Full: disk", "")]).unwrap_err();
        assert_eq!(bare.summary_and_detail(), Some(("Full: disk", "")));
        assert!(done(vec![ProviderDiagnostic::warning("Hm", "warned")]).is_ok());
    }
}
