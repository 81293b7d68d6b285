//! The plugin processes of one command: which are the first of their provider, which are configured, and how all of them end.
//!
//! Owns the one lock on all of that. Never knows where a plugin comes from, or what starts it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use base::diag::Diagnostics;
use futures_util::future::{join, join_all};
use model::addr::{self, AbsProviderConfig};
use plugin::process::Children;
use plugin::start::{ProviderProcess, ProvisionerProcess};
use terrane_protocol::provider::{Provider, ProviderDiagnostics};
use terrane_value::Value;
use tokio::sync::OnceCell;
use tokio::task::AbortHandle;

/// How long killed processes may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// A provider's first process. A failure is kept: later requests get it without a new attempt.
pub type FirstProcess = Arc<OnceCell<Result<Arc<ProviderProcess>, Diagnostics>>>;

#[derive(Default)]
pub struct Processes {
    table: Mutex<Table>,
    /// Every process that was started and has not ended.
    pub children: Children,
}

#[derive(Default)]
struct Table {
    first: HashMap<addr::Provider, FirstProcess>,
    /// Providers whose first process was given to a configuration.
    taken: HashSet<addr::Provider>,
    configured: HashMap<AbsProviderConfig, Configured>,
    running: Vec<Arc<ProviderProcess>>,
    provisioners: HashMap<String, Arc<OnceCell<Arc<ProvisionerProcess>>>>,
    /// Starts that nothing waits for.
    starting: Vec<AbortHandle>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    #[default]
    Open,
    /// What starts from now on is asked to stop at once.
    Stopping,
    /// Nothing starts any more.
    Closed,
}

/// A process that was configured.
#[derive(Clone)]
pub struct Configured {
    pub process: Arc<ProviderProcess>,
    pub config: Value,
    /// Another step may use the same process for an equal configuration.
    pub reusable: bool,
    /// What the provider said to its configuration.
    pub diagnostics: ProviderDiagnostics,
}

impl Processes {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub fn first(&self, provider: &addr::Provider) -> FirstProcess {
        self.table().first.entry(provider.clone()).or_default().clone()
    }

    /// Takes a provider's first process for a configuration. False: another configuration has it.
    pub fn take_first(&self, provider: &addr::Provider) -> bool {
        self.table().taken.insert(provider.clone())
    }

    /// The process that serves a configuration by now.
    pub fn configured(&self, addr: &AbsProviderConfig) -> Option<Configured> {
        self.table().configured.get(addr).cloned()
    }

    pub fn set_configured(&self, addr: AbsProviderConfig, configured: Configured) {
        self.table().configured.insert(addr, configured);
    }

    /// A start to abort when all processes end.
    pub fn add_start(&self, start: AbortHandle) {
        self.table().starting.push(start);
    }

    /// A process that has started. It is ended at once, or asked to stop, where all are.
    pub async fn add(&self, process: &Arc<ProviderProcess>) {
        let phase = {
            let mut table = self.table();
            table.running.push(process.clone());
            table.phase
        };
        match phase {
            Phase::Open => {}
            Phase::Stopping => {
                let provider = process.provider();
                tokio::spawn(async move { stop_provider(provider).await });
            }
            Phase::Closed => process.kill().await,
        }
    }

    pub fn provisioner(&self, kind: &str) -> Arc<OnceCell<Arc<ProvisionerProcess>>> {
        self.table().provisioners.entry(kind.to_owned()).or_default().clone()
    }

    /// Asks a provisioner to stop if all plugins are.
    pub async fn stop_if_stopping(&self, process: &ProvisionerProcess) {
        let phase = self.table().phase;
        if phase == Phase::Stopping {
            stop_provisioner(process).await;
        }
    }

    /// Asks all plugins to stop, and those that start later.
    pub async fn stop(&self) {
        let (running, provisioners) = {
            let mut table = self.table();
            table.phase = table.phase.max(Phase::Stopping);
            let provisioners: Vec<_> = table.provisioners.values().filter_map(|cell| cell.get().cloned()).collect();
            (table.running.clone(), provisioners)
        };
        let providers = running.iter().map(|process| stop_provider(process.provider()));
        let provisioners = provisioners.iter().map(|process| stop_provisioner(process));
        join(join_all(providers), join_all(provisioners)).await;
    }

    /// Ends all processes, also those that are still starting, and waits for them.
    pub async fn shutdown(&self) {
        let (running, provisioners) = {
            let mut table = self.table();
            table.phase = Phase::Closed;
            table.starting.drain(..).for_each(|start| start.abort());
            table.configured.clear();
            let provisioners: Vec<_> = table.provisioners.drain().filter_map(|(_, cell)| cell.get().cloned()).collect();
            (std::mem::take(&mut table.running), provisioners)
        };
        let providers = running.iter().map(|process| process.shutdown());
        let provisioners = provisioners.iter().map(|process| process.shutdown());
        join(join_all(providers), join_all(provisioners)).await;
        // What is left is still starting, or has no owner any more.
        self.children.kill_all();
        if tokio::time::timeout(END_TIMEOUT, self.children.all_ended()).await.is_err() {
            tracing::warn!("plugin processes have not ended");
        }
    }
}

async fn stop_provider(provider: Arc<dyn Provider>) {
    if let Err(why) = provider.stop().await {
        tracing::warn!("a provider did not stop: {why}");
    }
}

async fn stop_provisioner(process: &ProvisionerProcess) {
    if let Err(why) = process.provisioner().stop().await {
        tracing::warn!("a provisioner did not stop: {why}");
    }
}
