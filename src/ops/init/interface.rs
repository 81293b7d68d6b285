//! What `init` is asked for, what it tells meanwhile, and how it ends.

use std::path::PathBuf;
use std::time::Duration;

use base::diag::{Diagnostic, Diagnostics};
use install::event::{InstallEvent, ModuleEvent};
use model::addr;
use model::deps::Constraints;
use model::plan::PolicyReport;

use crate::providers::{ProviderEvent, Trust};

#[derive(Clone, Debug, Default)]
pub struct InitRequest {
    /// A module to copy into the folder first.
    pub from_module: Option<String>,
    pub upgrade: bool,
    pub get: bool,
    pub backend: bool,
    /// `key=value`, or the path of a file of them.
    pub backend_config: Vec<String>,
    pub reconfigure: bool,
    pub migrate_state: bool,
    /// Copies states without asking.
    pub force_copy: bool,
    /// Copies states to workspaces of HCP Terraform that are for another version.
    pub ignore_remote_version: bool,
    /// Locks states while they are copied.
    pub lock: bool,
    pub lock_timeout: Duration,
    pub plugin_dirs: Vec<PathBuf>,
    pub lockfile_readonly: bool,
    /// The folder of test files; none: they are not looked at.
    pub test_dir: Option<String>,
    /// A lock file that selects the provider of the state store.
    pub state_provider_lock_file: Option<PathBuf>,
    /// Files and folders with policies for modules and providers.
    pub policies: Vec<PathBuf>,
}

/// Events while a working directory is initialized.
pub enum InitEvent {
    /// There is no configuration: nothing was done.
    Empty,
    Backend,
    /// The provider of a state store is about to be installed.
    StoreProvider {
        provider: addr::Provider,
        constraints: Constraints,
        store: String,
    },
    /// It is installed, or part of this program.
    StoreProviderInstalled,
    /// Whether it may keep the states.
    StoreProviderTrust(Trust),
    /// A state store was in use before.
    StoreRecorded,
    /// There is a `state_store` block, of this type.
    StateStore(String),
    /// There is a `cloud` block.
    Cloud,
    /// The `cloud` block has other settings than before.
    CloudChanged,
    /// A `cloud` block takes the place of a backend of this kind.
    ToCloud(String),
    /// A backend takes the place of a `cloud` block; none: there is no backend now.
    FromCloud(Option<String>),
    /// All workspaces were copied: these there are now, a line each.
    WorkspacesCopied(String),
    /// A backend of one kind takes the place of one of another.
    BackendReplaced {
        old: String,
        new: String,
    },
    /// The backend has other settings than before.
    BackendReconfigured,
    /// The backend is about to be given up.
    BackendUnsetting(String),
    /// The configuration has errors, which are reported at the end: why that matters here.
    NotSound(String),
    /// To be shown now.
    Diagnostics(Diagnostics),
    /// A backend was opened that was not in use before.
    BackendSet(String),
    /// There was a backend, and now there is none.
    BackendUnset(String),
    Modules {
        upgrade: bool,
    },
    Module(ModuleEvent),
    /// The folder is filled with a copy of the module at this address (which holds no secrets).
    Copying(String),
    /// A module that the copied one calls is there.
    Copied(addr::Module),
    CopyDone,
    /// The checksums of modules are new, or not what they were.
    ModuleLockCreated,
    ModuleLockChanged,
    Providers,
    Install(InstallEvent),
    /// A package has another signer than HashiCorp; the text about such signers.
    Strangers(&'static str),
    /// The results of policies for a provider or a module. What is wrong is also among the diagnostics.
    Policy(PolicyReport),
    /// The lock file is new, or not what it was.
    LockCreated,
    LockChanged,
}

impl From<ProviderEvent> for InitEvent {
    fn from(event: ProviderEvent) -> InitEvent {
        match event {
            ProviderEvent::StoreProvider { provider, constraints, store } => {
                InitEvent::StoreProvider { provider, constraints, store }
            }
            ProviderEvent::StoreProviderInstalled => InitEvent::StoreProviderInstalled,
            ProviderEvent::StoreProviderTrust(trust) => InitEvent::StoreProviderTrust(trust),
            ProviderEvent::Install(event) => InitEvent::Install(event),
            ProviderEvent::Strangers(text) => InitEvent::Strangers(text),
            ProviderEvent::Policy(report) => InitEvent::Policy(report),
            ProviderEvent::LockCreated => InitEvent::LockCreated,
            ProviderEvent::LockChanged => InitEvent::LockChanged,
        }
    }
}

pub type TellInit<'a> = &'a mut (dyn FnMut(InitEvent) + Send);

/// What stores the states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatePlace {
    Backend,
    /// HCP Terraform, by a `cloud` block.
    Cloud,
}

/// How `init` ended.
#[derive(Clone, Debug)]
pub enum InitOutcome {
    /// The working directory is ready; there may be warnings.
    Ready { place: StatePlace, warnings: Diagnostics },
    /// It is not: the errors say why, or there is no configuration.
    NotReady(Diagnostics),
}

impl InitOutcome {
    pub fn diagnostics(&self) -> &Diagnostics {
        match self {
            InitOutcome::Ready { warnings, .. } => warnings,
            InitOutcome::NotReady(problems) => problems,
        }
    }
}

/// The error for two options that exclude each other. Since Terraform 1.16 it is an error of the arguments.
pub fn upgrade_of_readonly_lock() -> Diagnostic {
    Diagnostic::error("The -upgrade flag conflicts with -lockfile=readonly.", "")
}
