//! Starting a provider or a provisioner: what the rest of the program asks this area for.

use std::sync::Arc;

use base::diag::Diagnostics;
use terrane_protocol::grpc::Channel;
use terrane_protocol::provider::{NO_SCHEMAS, Provider, Provisioner};
use terrane_protocol::wire::protocol::Protocol;
use terrane_protocol::wire::v5::V5;
use terrane_protocol::wire::v6::V6;

use super::client::confirmation::SchemaSource;
use super::client::provider::{ProviderClient, Saving};
use super::client::provisioner::ProvisionerClient;
use super::process::{self, Launch, Plugin, Process, Security, StartError, stdio};
use super::reattach::Reattach;
use super::schema_cache::{CacheKey, SchemaCache};

/// A provider's process, running and connected. It is killed when this is dropped; [`Self::shutdown`] is kinder.
pub struct ProviderProcess {
    provider: Arc<dyn Provider>,
    schema_source: Arc<dyn SchemaSource>,
    saving: Saving,
    running: Running,
}

/// A provisioner's process, as [`ProviderProcess`].
pub struct ProvisionerProcess {
    provisioner: Arc<dyn Provisioner>,
    running: Running,
}

struct Running {
    channel: Channel,
    process: Arc<Process>,
    version: u16,
}

/// Starts a provider. `name` is its source address, for messages; `cache` is where its schemas are kept, for packages
/// whose content is known.
pub async fn start_provider(
    launch: &Launch,
    name: &str,
    cache: Option<CacheKey>,
) -> Result<ProviderProcess, StartError> {
    let plugin = launch.start(name).await?;
    let quiet = launch.security == Security::OwnProgram;
    Ok(provider_process(plugin, name, cache, quiet))
}

/// Connects to a provider that its developer has started. Its schemas are never kept.
pub async fn reattach_provider(at: &Reattach, name: &str) -> Result<ProviderProcess, StartError> {
    let plugin = process::reattach(&at.address, at.version, at.pid).await?;
    Ok(provider_process(plugin, name, None, false))
}

fn provider_process(plugin: Plugin, name: &str, cache: Option<CacheKey>, quiet: bool) -> ProviderProcess {
    match plugin.version {
        5 => connected::<V5>(plugin, name, cache, quiet),
        _ => connected::<V6>(plugin, name, cache, quiet),
    }
}

fn connected<P: Protocol>(plugin: Plugin, name: &str, cache: Option<CacheKey>, quiet: bool) -> ProviderProcess {
    let client = Arc::new(ProviderClient::<P>::new(&plugin, name.to_owned(), cache));
    let saving = client.saving();
    let running = Running::new(plugin, name, quiet);
    ProviderProcess { provider: client.clone(), schema_source: client, saving, running }
}

/// Starts a provisioner. `name` is its type, for messages.
pub async fn start_provisioner(launch: &Launch, name: &str) -> Result<ProvisionerProcess, StartError> {
    let plugin = launch.start(name).await?;
    let provisioner = Arc::new(ProvisionerClient::new(&plugin, name.to_owned()));
    let quiet = launch.security == Security::OwnProgram;
    Ok(ProvisionerProcess { provisioner, running: Running::new(plugin, name, quiet) })
}

impl Running {
    fn new(plugin: Plugin, name: &str, quiet: bool) -> Running {
        if !quiet {
            tokio::spawn(stdio::watch(plugin.channel.clone(), name.to_owned()));
        }
        Running { channel: plugin.channel, process: plugin.process, version: plugin.version }
    }
}

impl ProviderProcess {
    #[cfg(all(test, unix))]
    pub(super) fn process(&self) -> Arc<Process> {
        self.running.process.clone()
    }

    pub fn provider(&self) -> Arc<dyn Provider> {
        self.provider.clone()
    }

    /// Asks the process for its schema; true if it is not what the cache has for this key.
    pub async fn differs_from_cached(&self, cache: &SchemaCache, key: &str) -> bool {
        match cache.load(key) {
            Some(entry) => self.schema_source.differs(entry).await,
            None => false,
        }
    }

    /// The process's number; 0 if a reattached provider did not say.
    pub fn pid(&self) -> u32 {
        self.running.process.pid
    }

    /// The protocol version that it speaks.
    pub fn protocol(&self) -> u16 {
        self.running.version
    }

    pub fn has_ended(&self) -> bool {
        self.running.process.has_ended()
    }

    /// Asks the process to end, waits two seconds, kills it.
    pub async fn shutdown(&self) {
        self.running.process.shutdown(&self.running.channel).await;
        let saving = self.saving.lock().ok().and_then(|mut saving| saving.take());
        if let Some(saving) = saving {
            let _ = saving.await;
        }
    }

    pub async fn kill(&self) {
        self.running.process.kill().await;
    }
}

impl ProvisionerProcess {
    pub fn provisioner(&self) -> Arc<dyn Provisioner> {
        self.provisioner.clone()
    }

    pub fn pid(&self) -> u32 {
        self.running.process.pid
    }

    pub async fn shutdown(&self) {
        self.running.process.shutdown(&self.running.channel).await;
    }

    pub async fn kill(&self) {
        self.running.process.kill().await;
    }
}

impl StartError {
    /// As the reference reports a provider that does not start, which is when its schema is first needed.
    pub fn diagnostics(&self, provider: &str) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        diagnostics.error(
            NO_SCHEMAS,
            format!(
                "Error while loading schemas for plugin components: Failed to obtain provider schema: Could not load \
                 the schema for provider {provider}: failed to instantiate provider {provider:?} to obtain schema: \
                 {self}..",
            ),
        );
        diagnostics
    }
}
