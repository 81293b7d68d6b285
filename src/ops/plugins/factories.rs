//! Plugins for the engine: the processes of each provider, their start and their reuse.
//!
//! One process per locked package that the configuration uses starts early, while the rest loads. It answers what needs
//! no configuration and is the first to be configured. Each further configuration has a separate process.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use base::activity::Activities;
use base::diag::{Diagnostic, Diagnostics, Kind};
use base::env::{self, Environment};
use base::name::{COMMAND, PROGRAM};
use base::suggest;
use engine::ports::{Configuring, Providers};
use model::addr::{self, AbsProviderConfig};
use model::version::compatible_version;
use plugin::process::{StartError, StartListener};
use plugin::schema_cache::{SchemaCache, Use};
use plugin::start::{ProviderProcess, ProvisionerProcess, reattach_provider, start_provider, start_provisioner};
use terrane_protocol::provider::{
    ClientCapabilities, ConfigureRequest, NO_SCHEMAS, Provider, ProviderDiagnostics, Provisioner, has_errors,
};
use terrane_protocol::schema::ProviderSchemas;
use terrane_value::Value;

use super::cached_schemas;
use super::known_schemas::KnownSchemas;
use super::launch::Launcher;
use super::origin::{MISSING_PROVIDER, Origin, ProvisionerPrograms};
use super::processes::{Configured, Processes};
use super::remote_states::EncryptedRemoteStates;
use super::time_limit::{LimitedRequest, within};
use crate::setup::{CommandEncryption, Setup};

/// All plugins of one command.
pub struct Factories {
    origins: BTreeMap<addr::Provider, Origin>,
    provisioner_programs: ProvisionerPrograms,
    launcher: Launcher,
    schemas: Arc<KnownSchemas>,
    processes: Processes,
    /// False: every configuration has a separate process, even an equal one.
    reuse: bool,
    encryption: Arc<CommandEncryption>,
    environment: Environment,
    activities: Activities,
}

impl Factories {
    pub fn new(
        setup: &Setup,
        origins: BTreeMap<addr::Provider, Origin>,
        provisioner_programs: ProvisionerPrograms,
    ) -> Arc<Factories> {
        Factories::with_cache(setup, origins, provisioner_programs, cached_schemas::cache(&setup.environment))
    }

    /// As [`Self::new`], for commands whose result are the schemas: every provider is asked.
    pub fn without_cache(setup: &Setup, origins: BTreeMap<addr::Provider, Origin>) -> Arc<Factories> {
        Factories::with_cache(setup, origins, ProvisionerPrograms::new(), None)
    }

    fn with_cache(
        setup: &Setup,
        origins: BTreeMap<addr::Provider, Origin>,
        provisioner_programs: ProvisionerPrograms,
        cache: Option<SchemaCache>,
    ) -> Arc<Factories> {
        Factories::with_schemas(setup, origins, provisioner_programs, Arc::new(KnownSchemas::new(cache)))
    }

    /// Plugins with processes of their own, and with the schemas that these have read or will read.
    pub fn beside(&self, setup: &Setup) -> Arc<Factories> {
        Factories::with_schemas(setup, self.origins.clone(), self.provisioner_programs.clone(), self.schemas.clone())
    }

    fn with_schemas(
        setup: &Setup,
        origins: BTreeMap<addr::Provider, Origin>,
        provisioner_programs: ProvisionerPrograms,
        schemas: Arc<KnownSchemas>,
    ) -> Arc<Factories> {
        let processes = Processes::default();
        Arc::new(Factories {
            origins,
            provisioner_programs,
            launcher: Launcher::new(setup, processes.children.clone()),
            schemas,
            processes,
            reuse: setup.environment.non_empty(env::TERRANE_NO_PROVIDER_REUSE).is_none(),
            encryption: setup.encryption.clone(),
            environment: setup.environment.clone(),
            activities: setup.activities.clone(),
        })
    }

    /// `tell` hears of each process that runs or starts from now on: its name and how to recognise it later.
    pub fn on_start(&self, tell: StartListener) {
        self.processes.children.on_start(tell);
    }

    /// Starts the first process of each of these providers, without waiting for them.
    pub fn start_early(self: &Arc<Self>, providers: impl IntoIterator<Item = addr::Provider>) {
        for provider in providers {
            let factories = self.clone();
            let start = tokio::spawn(async move {
                // The first caller that needs it gets the error.
                let _ = factories.first(&provider).await;
            });
            self.processes.add_start(start.abort_handle());
        }
    }

    /// The provider that reads states of other configurations needs keys, which no other process gets.
    fn with_keys(&self, addr: &addr::Provider, provider: Arc<dyn Provider>) -> Arc<dyn Provider> {
        match self.encryption.made.get() {
            Some(Ok(encryption)) if addr.is_builtin() && &*addr.kind == "terraform" => {
                EncryptedRemoteStates::over(provider, encryption, &self.environment)
            }
            _ => provider,
        }
    }

    /// Ends all processes, also those that are still starting, and waits for them.
    pub async fn shutdown(&self) {
        self.processes.shutdown().await;
    }

    /// Excludes packages from the cache whose cached schema was used and is not what their provider says. With `ask`, the
    /// providers that were not asked are asked now. True if there are such packages.
    pub async fn exclude_outdated_schemas(&self, ask: bool) -> bool {
        let Some(cache) = &self.schemas.cache else { return false };
        let mut found = false;
        for (key, how) in cache.used() {
            let outdated = match how {
                Use::Confirmed => false,
                Use::Outdated => true,
                Use::Unconfirmed => ask && self.differs_from_cached(cache, &key).await,
            };
            if outdated {
                cache.exclude(&key);
                found = true;
            }
        }
        found
    }

    async fn differs_from_cached(&self, cache: &SchemaCache, key: &str) -> bool {
        let is_it = |origin: &Origin| matches!(origin, Origin::Package { hash: Some(hash), .. } if hash == key);
        let Some((provider, _)) = self.origins.iter().find(|(_, origin)| is_it(origin)) else { return false };
        match self.first(provider).await {
            Ok(process) => process.differs_from_cached(cache, key).await,
            Err(_) => false,
        }
    }

    fn kept_schemas(&self, provider: &addr::Provider) -> Option<Arc<dyn ProviderSchemas>> {
        match self.origins.get(provider) {
            Some(Origin::Package { hash: Some(hash), .. }) => self.schemas.kept(hash),
            _ => None,
        }
    }

    /// The provider's first process, started if it was not yet.
    async fn first(&self, provider: &addr::Provider) -> Result<Arc<ProviderProcess>, Diagnostics> {
        let first = self.processes.first(provider);
        first.get_or_init(|| self.start(provider)).await.clone()
    }

    async fn start(&self, provider: &addr::Provider) -> Result<Arc<ProviderProcess>, Diagnostics> {
        let _starting = self.activities.begin(format!("Starting {}", provider.for_display()));
        let process = self.launch(provider).await?;
        self.processes.add(&process).await;
        Ok(process)
    }

    async fn launch(&self, provider: &addr::Provider) -> Result<Arc<ProviderProcess>, Diagnostics> {
        let name = provider.to_string();
        let failed = |error: StartError| error.diagnostics(&name);
        let process = match self.origins.get(provider) {
            None => return Err(unavailable(provider)),
            Some(Origin::Missing(diagnostics)) => return Err(diagnostics.clone()),
            Some(Origin::BuiltIn) => {
                let launch = self.launcher.built_in("provider", &provider.kind);
                start_provider(&launch, &name, None).await.map_err(failed)?
            }
            Some(Origin::Reattached(at)) => reattach_provider(at, &name).await.map_err(failed)?,
            Some(Origin::Package { program, hash }) => {
                let launch = self.launcher.package(program, &provider.kind);
                let cache = self.schemas.cache.clone().zip(hash.clone());
                start_provider(&launch, &name, cache).await.map_err(failed)?
            }
        };
        Ok(Arc::new(process))
    }

    /// A process that is not configured yet.
    async fn fresh(&self, provider: &addr::Provider) -> Result<Arc<ProviderProcess>, Diagnostics> {
        let first = self.first(provider).await?;
        let free = self.processes.take_first(provider);
        if free && !first.has_ended() { Ok(first) } else { self.start(provider).await }
    }
}

fn unavailable(provider: &addr::Provider) -> Diagnostics {
    Diagnostic::error(
        MISSING_PROVIDER,
        format!(
            "This configuration requires provider {provider}, but that provider isn't available. You may be able to install it \
             automatically by running:\n  {COMMAND} init",
        ),
    )
    .into()
}

#[async_trait]
impl Providers for Factories {
    async fn schemas(&self, provider: &addr::Provider) -> Result<Arc<dyn ProviderSchemas>, Diagnostics> {
        let load = || async {
            // What was kept of an unchanged package needs no process to be read.
            if self.processes.first(provider).get().is_none()
                && let Some(kept) = self.kept_schemas(provider)
            {
                return Ok(kept);
            }
            let process = self.first(provider).await?;
            let client = process.provider();
            let _reading = self.activities.begin(format!("Reading the schemas of {}", provider.for_display()));
            let answer = within(&self.environment, provider, LimitedRequest::Schema, client.schemas());
            answer.await?.map_err(|said| schema_problem(provider, &said))
        };
        self.schemas.of(provider).get_or_try_init(load).await.cloned()
    }

    async fn unconfigured(&self, provider: &addr::Provider) -> Result<Arc<dyn Provider>, Diagnostics> {
        let process = self.first(provider).await?;
        Ok(self.with_keys(provider, process.provider()))
    }

    async fn configured(
        &self,
        addr: &AbsProviderConfig,
        config: Value,
        how: Configuring,
    ) -> Result<(Arc<dyn Provider>, ProviderDiagnostics), Diagnostics> {
        let Configuring { reusable, deferral_allowed } = how;
        if let Some(earlier) = self.processes.configured(addr)
            && self.reuse
            && reusable
            && earlier.reusable
            && config.is_wholly_known()
            && earlier.config == config
            && !earlier.process.has_ended()
        {
            return Ok((self.with_keys(&addr.provider, earlier.process.provider()), earlier.diagnostics));
        }
        let process = self.fresh(&addr.provider).await?;
        tracing::debug!("configuring {addr}: pid={}", process.pid());
        let request = ConfigureRequest {
            terraform_version: compatible_version().to_string(),
            config: config.clone(),
            client: ClientCapabilities::of_engine(deferral_allowed),
        };
        let provider = process.provider();
        let _configuring = self.activities.begin(format!("Configuring {}", addr.provider.for_display()));
        let answer = provider.configure(request);
        let diagnostics = within(&self.environment, &addr.provider, LimitedRequest::Configure, answer).await?;
        let reusable = reusable && !has_errors(&diagnostics);
        let entry = Configured { process, config, reusable, diagnostics: diagnostics.clone() };
        self.processes.set_configured(addr.clone(), entry);
        Ok((self.with_keys(&addr.provider, provider), diagnostics))
    }

    async fn provisioner(&self, kind: &str) -> Result<Arc<dyn Provisioner>, Diagnostics> {
        let cell = self.processes.provisioner(kind);
        let process = cell.get_or_try_init(|| self.start_provisioner(kind)).await?;
        self.processes.stop_if_stopping(process).await;
        Ok(process.provisioner())
    }

    async fn stop(&self) {
        self.processes.stop().await;
    }
}

impl Factories {
    async fn start_provisioner(&self, kind: &str) -> Result<Arc<ProvisionerProcess>, Diagnostics> {
        let launch = match self.provisioner_programs.get(kind) {
            Some(program) => self.launcher.package(program, kind),
            None if builtin::table::find("provisioner", kind).is_some() => self.launcher.built_in("provisioner", kind),
            None => return Err(missing_provisioner(kind)),
        };
        let _starting = self.activities.begin(format!("Starting the provisioner {kind}"));
        let process = start_provisioner(&launch, kind).await.map_err(|error| {
            Diagnostics::from(Diagnostic::error(
                NO_SCHEMAS,
                format!(
                    "Error while loading schemas for plugin components: Failed to obtain provisioner schema: failed to instantiate \
                     provisioner {kind:?} to obtain schema: {error}.",
                ),
            ))
        })?;
        Ok(Arc::new(process))
    }
}

fn missing_provisioner(kind: &str) -> Diagnostics {
    Diagnostic::error(
        "Missing required provisioner plugin",
        format!(
            "This configuration requires provisioner plugin {kind:?}, which isn't available. If you're intending to use an external \
             provisioner plugin, you must install it manually into one of the plugin search directories before running {PROGRAM}.",
        ),
    )
    .of_kind(Kind::MissingProvisioner)
    .with_tip(suggest::question(kind, ["file", "local-exec", "remote-exec"]))
    .into()
}

fn schema_problem(provider: &addr::Provider, said: &ProviderDiagnostics) -> Diagnostics {
    let why: Vec<String> = said
        .iter()
        .map(|d| if d.detail.is_empty() { d.summary.clone() } else { format!("{}: {}", d.summary, d.detail) })
        .collect();
    Diagnostic::error(
        NO_SCHEMAS,
        format!(
            "Error while loading schemas for plugin components: Failed to obtain provider schema: Could not load the schema for \
             provider {provider}: failed to retrieve schema from provider {provider:?}: {}..",
            why.join("\n"),
            provider = provider.to_string(),
        ),
    )
    .into()
}
