//! Plugins for the engine: the processes of each provider, their start and their reuse.
//!
//! One process per locked package that the configuration uses starts early, while the rest loads. It answers what needs
//! no configuration and is the first to be configured. Each further configuration has a separate process.

use super::packages::MISSING_PROVIDER;
use crate::base::name::{self, COMMAND, PROGRAM};
use crate::model::provider::NO_PROVISIONER;
use crate::model::provider::NO_SCHEMAS;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Mutex as AsyncMutex, OnceCell};
use tokio::task::AbortHandle;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::env::{self, Environment};
use crate::engine::ports::{Configuring, Providers};
use crate::lang::value::Value;
use crate::model::addr::{self, AbsProviderConfig};
use crate::model::provider::{ConfigureRequest, Provider, ProviderDiagnostics, Provisioner, has_errors};
use crate::model::schema::ProviderSchemas;
use crate::model::version::language_version;
use crate::plugin::process::{Children, Launch, START_TIMEOUT, Security, StartError, StartListener};
use crate::plugin::reattach::Reattach;
use crate::plugin::schema_cache::{SchemaCache, Use};
use crate::plugin::start::{ProviderProcess, ProvisionerProcess, reattach_provider, start_provider, start_provisioner};

use super::cached_schemas;
use super::remote_states::EncryptedRemoteStates;
use crate::ops::setup::Sealing;
use crate::ops::setup::Setup;

/// How a provider is run.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Part of this program.
    BuiltIn,
    /// A package, by its program and the hash of its content if that is known and checked.
    Package { program: PathBuf, hash: Option<String> },
    /// Running already, started by its developer.
    Reattached(Reattach),
    /// It is not available; the errors.
    Missing(Diagnostics),
}

/// A program of a provisioner on disk, in place of a built-in one.
pub type ProvisionerPrograms = BTreeMap<String, PathBuf>;

/// All plugins of one command.
pub struct Factories {
    origins: BTreeMap<addr::Provider, Origin>,
    provisioner_programs: ProvisionerPrograms,
    program: PathBuf,
    cache: Option<SchemaCache>,
    tls: bool,
    start_timeout: Duration,
    /// False: every configuration has a separate process, even an equal one.
    reuse: bool,
    sealing: Arc<Sealing>,
    environment: Environment,
    slots: Mutex<HashMap<addr::Provider, Arc<Slot>>>,
    configured: AsyncMutex<HashMap<AbsProviderConfig, Configured>>,
    provisioners: Mutex<HashMap<String, Arc<OnceCell<Arc<ProvisionerProcess>>>>>,
    running: Mutex<Vec<Arc<ProviderProcess>>>,
    /// Starts that nothing waits for.
    early: Mutex<Vec<AbortHandle>>,
    /// Every process that was started and has not ended.
    children: Children,
    /// What starts from now on is asked to stop at once.
    stopping: AtomicBool,
    /// Nothing starts any more.
    closed: AtomicBool,
}

/// How long killed processes may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// A provider's first process and its schemas.
#[derive(Default)]
struct Slot {
    /// A failure is stored, so that later callers do not wait for the same failure again.
    first: OnceCell<Result<Arc<ProviderProcess>, Diagnostics>>,
    schemas: OnceCell<Arc<dyn ProviderSchemas>>,
    /// The first process was given to a configuration.
    taken: Mutex<bool>,
}

struct Configured {
    process: Arc<ProviderProcess>,
    config: Value,
    reusable: bool,
    said: ProviderDiagnostics,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
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
        Arc::new(Factories {
            origins,
            provisioner_programs,
            program: std::env::current_exe().unwrap_or_else(|_| "terrane".into()),
            cache,
            tls: setup.environment.non_empty(env::TF_DISABLE_PLUGIN_TLS).is_none(),
            start_timeout: start_timeout(setup),
            sealing: setup.sealing.clone(),
            environment: setup.environment.clone(),
            reuse: setup.environment.non_empty(env::TERRANE_NO_PROVIDER_REUSE).is_none(),
            slots: Mutex::default(),
            configured: AsyncMutex::default(),
            provisioners: Mutex::default(),
            running: Mutex::default(),
            early: Mutex::default(),
            children: Children::default(),
            stopping: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        })
    }

    /// `tell` hears of each process that runs or starts from now on: its name and how to recognise it later.
    pub fn on_start(&self, tell: StartListener) {
        self.children.on_start(tell);
    }

    /// Starts the first process of each of these providers, without waiting for them.
    pub fn start_early(self: &Arc<Self>, providers: impl IntoIterator<Item = addr::Provider>) {
        for provider in providers {
            let factories = self.clone();
            let start = tokio::spawn(async move {
                // The first caller that needs it gets the error.
                let _ = factories.first(&provider).await;
            });
            lock(&self.early).push(start.abort_handle());
        }
    }

    /// The provider that reads states of other configurations needs keys, which no other process gets.
    fn with_keys(&self, addr: &addr::Provider, provider: Arc<dyn Provider>) -> Arc<dyn Provider> {
        match self.sealing.made.get() {
            Some(Ok(encryption)) if addr.is_builtin() && &*addr.kind == "terraform" => {
                EncryptedRemoteStates::over(provider, encryption, &self.environment)
            }
            _ => provider,
        }
    }

    /// Ends all processes, also those that are still starting, and waits for them.
    pub async fn shutdown(&self) {
        self.closed.store(true, Ordering::SeqCst);
        lock(&self.early).drain(..).for_each(|start| start.abort());
        let running = std::mem::take(&mut *lock(&self.running));
        let provisioners: Vec<_> =
            lock(&self.provisioners).drain().filter_map(|(_, cell)| cell.get().cloned()).collect();
        self.configured.lock().await.clear();
        let providers = running.iter().map(|process| process.shutdown());
        let provisioners = provisioners.iter().map(|process| process.shutdown());
        futures_util::future::join(
            futures_util::future::join_all(providers),
            futures_util::future::join_all(provisioners),
        )
        .await;
        // What is left is still starting, or has no owner any more.
        self.children.kill_all();
        if tokio::time::timeout(END_TIMEOUT, self.children.all_ended()).await.is_err() {
            crate::log!(Warn, "plugin processes have not ended");
        }
    }

    /// Excludes packages from the cache whose cached schema was used and is not what their provider says. With `ask`, the
    /// providers that were not asked are asked now. True if there are such packages.
    pub async fn exclude_outdated_schemas(&self, ask: bool) -> bool {
        let Some(cache) = &self.cache else { return false };
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
            Some(Origin::Package { hash: Some(hash), .. }) => self.cache.as_ref()?.schemas(hash),
            _ => None,
        }
    }

    fn slot(&self, provider: &addr::Provider) -> Arc<Slot> {
        lock(&self.slots).entry(provider.clone()).or_default().clone()
    }

    /// The provider's first process, started if it was not yet.
    async fn first(&self, provider: &addr::Provider) -> Result<Arc<ProviderProcess>, Diagnostics> {
        let slot = self.slot(provider);
        slot.first.get_or_init(|| self.start(provider)).await.clone()
    }

    async fn start(&self, provider: &addr::Provider) -> Result<Arc<ProviderProcess>, Diagnostics> {
        let process = self.launch(provider).await?;
        lock(&self.running).push(process.clone());
        if self.closed.load(Ordering::SeqCst) {
            process.kill().await;
        } else if self.stopping.load(Ordering::SeqCst) {
            let provider = process.provider();
            tokio::spawn(async move { stopped("provider", provider.stop().await) });
        }
        Ok(process)
    }

    async fn launch(&self, provider: &addr::Provider) -> Result<Arc<ProviderProcess>, Diagnostics> {
        let name = provider.to_string();
        let failed = |error: StartError| error.diagnostics(&name);
        let process = match self.origins.get(provider) {
            None => return Err(unavailable(provider)),
            Some(Origin::Missing(diagnostics)) => return Err(diagnostics.clone()),
            Some(Origin::BuiltIn) => {
                let launch = self.own("provider", &provider.kind);
                start_provider(&launch, &name, None).await.map_err(failed)?
            }
            Some(Origin::Reattached(at)) => reattach_provider(at, &name).await.map_err(failed)?,
            Some(Origin::Package { program, hash }) => {
                let launch = Launch {
                    command: program.clone(),
                    args: Vec::new(),
                    env: Vec::new(),
                    security: if self.tls { Security::MutualTls } else { Security::None },
                    start_timeout: self.start_timeout,
                    log_name: provider.kind.to_string(),
                    children: self.children.clone(),
                };
                let cache = self.cache.clone().zip(hash.clone());
                start_provider(&launch, &name, cache).await.map_err(failed)?
            }
        };
        Ok(Arc::new(process))
    }

    /// This program as a built-in plugin.
    fn own(&self, kind: &str, name: &str) -> Launch {
        Launch {
            command: self.program.clone(),
            args: vec!["internal-plugin".into(), kind.into(), name.into()],
            // Its messages name the program as ours do.
            env: vec![(env::TERRANE_NAME.into(), name::current().command().into())],
            security: Security::OwnProgram,
            start_timeout: self.start_timeout,
            log_name: name.into(),
            children: self.children.clone(),
        }
    }

    /// A process that is not configured yet.
    async fn fresh(&self, provider: &addr::Provider) -> Result<Arc<ProviderProcess>, Diagnostics> {
        let first = self.first(provider).await?;
        let slot = self.slot(provider);
        if matches!(self.origins.get(provider), Some(Origin::Reattached(_))) {
            return Ok(first);
        }
        let free = !std::mem::replace(&mut *lock(&slot.taken), true);
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

/// How long a plugin may take to start; what is no number of seconds is as if it were not set.
fn start_timeout(setup: &Setup) -> Duration {
    let seconds = setup.environment.non_empty(env::TERRANE_PLUGIN_START_TIMEOUT).and_then(|text| text.parse().ok());
    seconds.map_or(START_TIMEOUT, Duration::from_secs)
}

#[async_trait]
impl Providers for Factories {
    async fn schemas(&self, provider: &addr::Provider) -> Result<Arc<dyn ProviderSchemas>, Diagnostics> {
        let slot = self.slot(provider);
        let load = || async {
            // What was kept of an unchanged package needs no process to be read.
            if slot.first.get().is_none()
                && let Some(kept) = self.kept_schemas(provider)
            {
                return Ok(kept);
            }
            let process = self.first(provider).await?;
            process.provider().schemas().await.map_err(|said| schema_problem(provider, &said))
        };
        slot.schemas.get_or_try_init(load).await.cloned()
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
        if let Some(earlier) = self.configured.lock().await.get(addr)
            && self.reuse
            && reusable
            && earlier.reusable
            && config.is_wholly_known()
            && earlier.config == config
            && !earlier.process.has_ended()
        {
            return Ok((self.with_keys(&addr.provider, earlier.process.provider()), earlier.said.clone()));
        }
        let process = self.fresh(&addr.provider).await?;
        crate::log!(Debug, "configuring {addr}: pid={}", process.pid());
        let request = ConfigureRequest {
            terraform_version: language_version().to_string(),
            config: config.clone(),
            deferral_allowed,
        };
        let said = process.provider().configure(request).await;
        let provider = process.provider();
        let reusable = reusable && !has_errors(&said);
        let entry = Configured { process, config, reusable, said: said.clone() };
        self.configured.lock().await.insert(addr.clone(), entry);
        Ok((self.with_keys(&addr.provider, provider), said))
    }

    async fn provisioner(&self, kind: &str) -> Result<Arc<dyn Provisioner>, Diagnostics> {
        let cell = lock(&self.provisioners).entry(kind.to_string()).or_default().clone();
        let process = cell.get_or_try_init(|| self.start_provisioner(kind)).await?;
        if self.stopping.load(Ordering::SeqCst) {
            stopped("provisioner", process.provisioner().stop().await);
        }
        Ok(process.provisioner())
    }

    async fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        let running: Vec<_> = lock(&self.running).clone();
        let provisioners: Vec<_> = lock(&self.provisioners).values().filter_map(|cell| cell.get().cloned()).collect();
        let providers = running.iter().map(async |process| stopped("provider", process.provider().stop().await));
        let provisioners =
            provisioners.iter().map(async |process| stopped("provisioner", process.provisioner().stop().await));
        futures_util::future::join(
            futures_util::future::join_all(providers),
            futures_util::future::join_all(provisioners),
        )
        .await;
    }
}

/// Logs a plugin that refused to stop.
fn stopped(kind: &str, result: Result<(), String>) {
    if let Err(why) = result {
        crate::log!(Warn, "a {kind} did not stop: {why}");
    }
}

impl Factories {
    async fn start_provisioner(&self, kind: &str) -> Result<Arc<ProvisionerProcess>, Diagnostics> {
        let launch = match self.provisioner_programs.get(kind) {
            Some(program) => Launch {
                command: program.clone(),
                args: Vec::new(),
                env: Vec::new(),
                security: if self.tls { Security::MutualTls } else { Security::None },
                start_timeout: self.start_timeout,
                log_name: kind.to_string(),
                children: self.children.clone(),
            },
            None if crate::builtin::table::find("provisioner", kind).is_some() => self.own("provisioner", kind),
            None => return Err(missing_provisioner(kind)),
        };
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
        NO_PROVISIONER,
        format!(
            "This configuration requires provisioner plugin {kind:?}, which isn't available. If you're intending to use an external \
             provisioner plugin, you must install it manually into one of the plugin search directories before running {PROGRAM}.",
        ),
    )
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
