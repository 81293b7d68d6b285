//! The kind of backend that a provider's process implements.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use backend::contract::Context;
use backend::kinds::provided::ProvidedBackend;
use backend::kinds::{Kind, Opened};
use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use engine::ports::Configuring;
use model::addr::{self, AbsProviderConfig};
use model::deps::Version;
use model::plan::file::StoreProviderSettings;
use terrane_protocol::provider::{Provider, ProviderDiagnostic, ProviderDiagnostics, has_errors};
use terrane_protocol::schema::{Block, Schema};
use terrane_value::Value;
use terrane_value::json::to_json;
use tokio::sync::OnceCell;

use crate::plugins::state_stores::StoreProvider;
use crate::setup::store_processes::StoreProcesses;

/// A state store with the configuration of its provider.
pub struct ProvidedKind {
    pub(super) name: String,
    /// The provider's name in the configuration; its type if a record describes the store.
    pub(super) provider_name: String,
    pub(super) provider: StoreProvider,
    /// Of the type that the provider's schema implies.
    pub(super) config: Value,
    pub(super) provider_schema: Arc<Schema>,
    pub(super) schema: Arc<Schema>,
    /// Where relative paths in settings start.
    pub(super) folder: PathBuf,
    pub(super) processes: Arc<StoreProcesses>,
    /// The process of this store, once it was asked about the settings.
    pub(super) process: OnceCell<Arc<dyn Provider>>,
}

impl ProvidedKind {
    /// What the record keeps of the provider.
    pub fn recorded(&self) -> StoreProviderSettings {
        StoreProviderSettings {
            source: self.provider.address.to_string(),
            version: self.provider.version.as_ref().map(Version::to_string),
            supply: self.provider.supply.name().to_owned(),
            config: to_json(&self.config, self.provider_schema.implied_type()).unwrap_or_else(|_| "{}".to_owned()),
        }
    }

    /// The error for a workspace in use that is not in the store, which is empty.
    pub fn not_created(&self, workspace: &str) -> Diagnostic {
        let (name, provider, address) = (&self.name, &self.provider_name, self.provider.address.to_string());
        Diagnostic::error(
            format!("Workspace {workspace:?} has not been created yet"),
            format!(
                "State store {name:?} in provider {provider} ({address:?}) reports that no workspaces currently exist. To create the \
                 custom workspace {workspace:?} use the command `{COMMAND} workspace new {workspace}`."
            ),
        )
    }

    /// What tells this store with these settings from all others.
    fn place(&self, config: &Value) -> String {
        let StoreProviderSettings { source, config: provider, .. } = self.recorded();
        let settings = to_json(config, self.schema.implied_type()).unwrap_or_default();
        format!("{source} {provider} {} {settings}", self.name)
    }

    /// What tells the process of this store from others: paths in settings are from the folder in which it was started.
    fn key(&self, config: &Value) -> String {
        let version = self.recorded().version.unwrap_or_default();
        format!("{version} {} {}", self.folder.display(), self.place(config))
    }

    /// Starts a process and configures the provider in it; asks it about the settings of the store.
    async fn start(&self, config: &Value) -> Result<(Arc<dyn Provider>, ProviderDiagnostics), ProviderDiagnostics> {
        let processes = &self.provider.processes;
        let address = &self.provider.address;
        let unconfigured = processes.unconfigured(address).await.map_err(not_started)?;
        let (_, mut said) = unconfigured.validate_provider_config(self.config.clone()).await;
        if has_errors(&said) {
            return Err(said);
        }
        let whole =
            AbsProviderConfig { module: addr::Module::root(), provider: address.clone(), alias: None, key: None };
        let how = Configuring { reusable: false, deferral_allowed: false };
        let configured = processes.configured(&whole, self.config.clone(), how).await;
        let (provider, found) = configured.map_err(not_started)?;
        said.extend(found);
        if has_errors(&said) {
            return Err(said);
        }
        let Some(stores) = provider.state_stores() else { return Err(vec![no_stores(&self.provider.address)]) };
        said.extend(stores.validate_state_store(&self.name, config.clone()).await);
        if has_errors(&said) { Err(said) } else { Ok((provider, said)) }
    }
}

/// Problems with the settings of a provider are not places in the block of the store.
fn unplaced(mut said: ProviderDiagnostics) -> ProviderDiagnostics {
    said.iter_mut().for_each(|problem| problem.attribute = None);
    said
}

fn not_started(problems: Diagnostics) -> ProviderDiagnostics {
    let one = |problem: Diagnostic| ProviderDiagnostic::error(problem.summary, problem.detail);
    problems.into_iter().map(one).collect()
}

fn no_stores(provider: &addr::Provider) -> ProviderDiagnostic {
    let detail =
        format!("There are no state stores implemented by provider {} ({:?})", provider.kind, provider.to_string());
    ProviderDiagnostic::error(UNSUPPORTED, detail)
}

pub(super) const UNSUPPORTED: &str = "Provider does not support pluggable state storage";

#[async_trait]
impl Kind for ProvidedKind {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> Block {
        self.schema.block.clone()
    }

    async fn ask(&self, config: &Value) -> Vec<ProviderDiagnostic> {
        if self.processes.configured(&self.key(config)).is_some() {
            return Vec::new();
        }
        match self.start(config).await {
            Ok((provider, warnings)) => {
                let _ = self.process.set(provider);
                unplaced(warnings)
            }
            Err(said) => unplaced(said),
        }
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>> {
        let key = self.key(config);
        let provider = match (self.processes.configured(&key), self.process.get()) {
            (Some(provider), _) => provider,
            (None, Some(provider)) => {
                let stores = provider.state_stores().ok_or_else(|| vec![no_stores(&self.provider.address)])?;
                let said = stores.configure_state_store(&self.name, config.clone()).await;
                if has_errors(&said) {
                    return Err(unplaced(said));
                }
                self.processes.set_configured(&key, provider);
                provider.clone()
            }
            (None, None) => return Err(vec![no_stores(&self.provider.address)]),
        };
        let backend = ProvidedBackend::new(provider, &self.name, self.place(config), context.clone());
        Ok(Opened::States(Arc::new(backend)))
    }
}

#[cfg(test)]
#[path = "provided_kind_tests.rs"]
mod tests;
