//! Opening the configured backend, after checking that `init` has recorded the same one.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use backend::contract::schema::missing_setting;
use backend::contract::{Context, StateFiles};
use backend::durable::{locking, recovery};
use backend::{Loaded, LockInfo, OpenBackend, StateAccess, StateSession, StoreError};
use base::diag::{Diagnostic, Diagnostics};
use base::name::{COMMAND, PROGRAM};
use base::stop::Stop;
use lang::syntax::body::Body;
use model::config;
use model::provider_diagnostics::about_body;
use model::version::at_least;
use terrane_protocol::provider::{ProviderDiagnostic, has_errors};

use super::record::{self, BackendRecord, ReadError};
use super::settings::{BackendSettings, not_found_elsewhere};
use super::{encryption, history, state_store};
use crate::interface::listen::Listener;
use crate::interface::options::StateOptions;
use crate::setup::{Setup, services};

const UNREADABLE_RECORD: &str = "Failed to read the record of the backend";

/// An open backend with the store of the workspace in use.
pub struct Opened {
    pub backend: Arc<OpenBackend>,
    pub store: Arc<StateSession>,
    /// What the provider of a state store warns about; what is deprecated in a `backend` block is said by `init` alone.
    pub warnings: Diagnostics,
}

/// The record of the working directory.
pub fn recorded(setup: &Setup) -> Result<Option<BackendRecord>, Diagnostics> {
    record::read(&setup.workdir.data_dir).map_err(|e| match e {
        ReadError::File(e) => Diagnostic::error(UNREADABLE_RECORD, e.to_string()).into(),
        ReadError::Format(why) => recovery::not_loaded(&why).into(),
    })
}

/// Opens the backend for the command's workspace. `block` is the root module's; nothing is migrated here.
pub async fn open(
    setup: &Setup,
    block: Option<&config::Backend>,
    options: &StateOptions,
) -> Result<Opened, Diagnostics> {
    setup.workdir.check_workspace()?;
    open_record(setup, in_use(setup, block).await?.as_ref(), options, &setup.workdir.workspace).await
}

/// The record of the backend that `init` opened, if it is still the one that the configuration asks for. None: the local
/// one with its defaults.
pub async fn in_use(setup: &Setup, block: Option<&config::Backend>) -> Result<Option<BackendRecord>, Diagnostics> {
    let recorded = recorded(setup)?;
    if let Some((block, store)) = block.and_then(|block| Some((block, block.store.as_ref()?))) {
        return state_store::in_use(setup, block, store, recorded).await.map(Some);
    }
    if let Some(recorded) = recorded.as_ref().filter(|recorded| recorded.provider.is_some()) {
        return Err(state_store::left(recorded, block));
    }
    let Some(block) = block else {
        return match recorded {
            None => Ok(None),
            Some(recorded) => {
                let reason = format!("Unsetting the previously set backend {:?}", recorded.kind);
                Err(init_needed(", ", &reason))
            }
        };
    };
    let (wanted, diagnostics) = BackendSettings::of_block(block, None);
    let Some(wanted) = wanted else { return Err(not_found_elsewhere(diagnostics)) };
    let kind = wanted.kind.name();
    match recorded {
        // A block may be wrong in itself: until it was initialised, that alone is said.
        None if kind == CLOUD => {
            Err(cloud_init_needed("Initial configuration of HCP Terraform or Terraform Enterprise"))
        }
        None => Err(init_needed(", ", &format!("Initial configuration of the requested backend {kind:?}"))),
        Some(recorded) if recorded.kind != kind && kind == CLOUD => {
            Err(cloud_init_needed(&format!("Changed from backend {:?} to HCP Terraform", recorded.kind)))
        }
        Some(recorded) if recorded.kind != kind && recorded.kind == CLOUD => {
            Err(init_needed(": ", &format!("Changed from HCP Terraform to backend {kind:?}")))
        }
        Some(recorded) if recorded.kind != kind => {
            let reason = format!("Backend type changed from {:?} to {kind:?}", recorded.kind);
            Err(init_needed(": ", &reason))
        }
        // Settings of the command line are in the record only: the block's own must be as they were.
        Some(recorded) if wanted.hash == recorded.hash => Ok(Some(recorded)),
        Some(recorded) if !diagnostics.has_errors() && wanted.is_recorded(&recorded) => Ok(Some(recorded)),
        Some(_) if kind == CLOUD => Err(cloud_init_needed("HCP Terraform configuration block has changed")),
        Some(_) => Err(init_needed(": ", "Backend configuration block has changed")),
    }
}

/// Opens the backend of a record (none: the local one with its defaults).
pub async fn open_record(
    setup: &Setup,
    record: Option<&BackendRecord>,
    options: &StateOptions,
    workspace: &str,
) -> Result<Opened, Diagnostics> {
    open_store(setup, &settings_of(setup, record).await?, options, workspace).await
}

/// Opens the store of a workspace in the backend of settings that `init` has recorded.
pub async fn open_store(
    setup: &Setup,
    settings: &BackendSettings,
    options: &StateOptions,
    workspace: &str,
) -> Result<Opened, Diagnostics> {
    let (backend, warnings) = open_settings(setup, settings, options).await?;
    let warnings = if settings.kind.is_provided() { warnings } else { Diagnostics::new() };
    let store = backend.store(workspace).await.map_err(|e| not_opened(&e))?;
    Ok(Opened { backend, store, warnings })
}

pub fn not_opened(error: &StoreError) -> Diagnostics {
    Diagnostic::error("Failed to open the state", error.to_string()).into()
}

/// The backend of a record, without a look at any workspace.
pub async fn backend_of(
    setup: &Setup,
    record: Option<&BackendRecord>,
    options: &StateOptions,
) -> Result<Arc<OpenBackend>, Diagnostics> {
    Ok(open_settings(setup, &settings_of(setup, record).await?, options).await?.0)
}

/// The settings of a record (none: the local backend with its defaults).
pub async fn settings_of(setup: &Setup, record: Option<&BackendRecord>) -> Result<BackendSettings, Diagnostics> {
    match record.map(|record| (record, &record.provider)) {
        None => default_settings(),
        Some((record, None)) => BackendSettings::of_record(record),
        Some((record, Some(provider))) => state_store::of_record(setup, record, provider).await,
    }
}

/// The settings of the local backend with its defaults.
pub fn default_settings() -> Result<BackendSettings, Diagnostics> {
    let default = BackendRecord { kind: "local".into(), config: "{}".into(), hash: 0, provider: None };
    BackendSettings::of_record(&default)
}

/// Opens the backend of these settings, if they are sound; gives warnings about them too.
pub async fn open_settings(
    setup: &Setup,
    settings: &BackendSettings,
    options: &StateOptions,
) -> Result<(Arc<OpenBackend>, Diagnostics), Diagnostics> {
    let files = StateFiles {
        state: options.state.clone(),
        state_out: options.state_out.clone(),
        backup: options.backup.clone(),
    };
    let environment = setup.environment.clone();
    let services = services::of_setup(setup);
    let context = Context { environment, data_dir: setup.workdir.data_dir.clone(), files, services };
    let mut problems = settings.kind.check(&settings.config, &context);
    if !has_errors(&problems) {
        problems.extend(missing_setting(&settings.kind.schema(), &settings.config));
    }
    if !has_errors(&problems) {
        problems.extend(settings.kind.ask(&settings.config).await);
    }
    if has_errors(&problems) {
        return Err(placed(problems, &settings.body));
    }
    let warnings = placed(problems, &settings.body);
    match settings.kind.open(&settings.config, &context).await {
        Ok(opened) => {
            let cipher = encryption::of(setup).await?.state.clone();
            Ok((Arc::new(OpenBackend::new(opened, cipher, history::place(setup, options))), warnings))
        }
        Err(problems) => Err(warnings.into_iter().chain(placed(problems, &settings.body)).collect()),
    }
}

/// Problems with settings where they are written; those that are about none of them stand for themselves.
fn placed(problems: Vec<ProviderDiagnostic>, body: &Body) -> Diagnostics {
    let one = |problem: ProviderDiagnostic| {
        let placed = problem.attribute.is_some() && !body.file().name().is_empty();
        about_body(vec![problem], placed.then_some(body), None)
    };
    problems.into_iter().flat_map(one).collect()
}

fn init_needed(joint: &str, reason: &str) -> Diagnostics {
    let joint = if at_least(15) { ", " } else { joint };
    Diagnostic::error(
        format!("Backend initialization required{joint}please run \"{COMMAND} init\""),
        format!(
            "Reason: {reason}\n\nThe \"backend\" is the interface that {PROGRAM} uses to store state,\nperform operations, etc. If \
             this message is showing up, it means that the\n{PROGRAM} configuration you're using is using a custom configuration \
             for\nthe {PROGRAM} backend.\n\nChanges to backend configurations require reinitialization. This allows\n{PROGRAM} to set \
             up the new configuration, copy existing state, etc. Please run\n\"{COMMAND} init\" with either the \"-reconfigure\" or \
             \"-migrate-state\" flags to\nuse the current configuration.\n\nIf the change reason above is incorrect, please verify \
             your configuration\nhasn't changed and try again. At this point, no changes to your existing\nconfiguration or state \
             have been made.",
        ),
    )
    .into()
}

/// The error for a state store in the configuration where a backend is recorded.
pub fn to_state_store(reason: &str) -> Diagnostics {
    Diagnostic::error(
        format!(
            "Backend initialization required, please run \"{COMMAND} state migrate\" or \"{COMMAND} init -reconfigure\""
        ),
        format!(
            "Reason: {reason}\n\nThe \"backend\" is the interface that {PROGRAM} uses to store state,\nperform operations, etc. If \
             this message is showing up, it means that the\n{PROGRAM} configuration you're using is using a custom configuration \
             for\nthe {PROGRAM} backend.\n\nChanges to backend configurations require reinitialization. This allows\n{PROGRAM} to set \
             up the new configuration, copy existing state, etc. Please run\n\"{COMMAND} state migrate\" to migrate existing state \
             to the new state store,\nor run \"{COMMAND} init -reconfigure\" to use the current configuration \
             without\nmigrating existing state.\n\nIf the change reason above is incorrect, please verify your \
             configuration\nhasn't changed and try again. At this point, no changes to your existing\nconfiguration or state \
             have been made.",
        ),
    )
    .into()
}

/// The kind that `cloud` blocks have.
const CLOUD: &str = "cloud";

fn cloud_init_needed(reason: &str) -> Diagnostics {
    Diagnostic::error(
        format!("HCP Terraform or Terraform Enterprise initialization required: please run \"{COMMAND} init\""),
        format!(
            "Reason: {reason}.\n\nChanges to the HCP Terraform configuration block require reinitialization, to discover any changes \
             to the available workspaces.\n\nTo re-initialize, run:\n  {COMMAND} init\n\n{PROGRAM} has not yet made changes to your \
             existing configuration or state."
        ),
    )
    .into()
}

/// A state that was read, under its lock if there is one.
pub struct HeldState {
    pub store: Arc<StateSession>,
    pub loaded: Loaded,
    lock: Option<String>,
    lost: OnceLock<StoreError>,
}

/// Locks the state, unless the options disable it, and reads it. Without a listener the state is only read: an interrupted
/// run's journal is kept, because its warnings cannot be shown before it is removed.
pub async fn hold(
    opened: &Opened,
    operation: &str,
    options: &StateOptions,
    setup: &Setup,
    listener: Option<&dyn Listener>,
) -> Result<HeldState, Diagnostics> {
    hold_store(&opened.store, operation, options, setup, listener).await
}

/// As `hold`, for any store.
pub async fn hold_store(
    store: &Arc<StateSession>,
    operation: &str,
    options: &StateOptions,
    setup: &Setup,
    listener: Option<&dyn Listener>,
) -> Result<HeldState, Diagnostics> {
    let store = store.clone();
    let lock = if options.lock {
        base::log!(Trace, "backend/local: requesting state lock for workspace {:?}", setup.workdir.workspace);
        let info = LockInfo::new(operation);
        let waiting = || listener.into_iter().for_each(Listener::waiting_for_lock);
        let taken = store.acquire(&info, options.lock_timeout, &setup.stop, waiting).await;
        let is_of_process = store.facts().locks_are_of_processes;
        Some(taken.map_err(|e| Diagnostics::from(locking::not_locked(&e, is_of_process)))?)
    } else {
        None
    };
    let access = match (&lock, listener) {
        (None, _) => StateAccess::ReadOnly,
        (Some(_), None) => StateAccess::LockedToRead,
        (Some(_), Some(_)) => StateAccess::Locked,
    };
    let loaded = backend::load(&*store, access).await;
    match loaded.and_then(|loaded| report_replay(loaded, &*store, listener)) {
        Ok(loaded) => {
            match &loaded.file {
                Some(file) => base::log!(
                    Debug,
                    "state read: serial {}, {} resources, lineage {}",
                    file.meta.serial,
                    file.state.resources.len(),
                    file.meta.lineage
                ),
                None => base::log!(Debug, "state read: there is none yet"),
            }
            Ok(HeldState { store, loaded, lock, lost: OnceLock::new() })
        }
        Err(mut diagnostics) => {
            let held = HeldState { store, loaded: Loaded::default(), lock, lost: OnceLock::new() };
            diagnostics.extend(held.release().await);
            Err(diagnostics)
        }
    }
}

/// Shows what an interrupted run left open before the journal, which alone knows it, is removed.
fn report_replay(
    mut loaded: Loaded,
    store: &StateSession,
    listener: Option<&dyn Listener>,
) -> Result<Loaded, Diagnostics> {
    if let Some(listener) = listener.filter(|_| loaded.replayed) {
        listener.diagnostics(std::mem::take(&mut loaded.warnings));
        backend::finish_replay(store, &mut loaded)?;
    }
    Ok(loaded)
}

impl HeldState {
    /// To be called before the state is written: what an interrupted run had done is written first, where that was not
    /// done under the lock.
    pub async fn take_up_journal(&mut self, listener: &dyn Listener) -> Result<(), Diagnostics> {
        if !self.loaded.includes_journal {
            return Ok(());
        }
        let taken = backend::take_up(&*self.store, &mut self.loaded).await;
        listener.diagnostics(std::mem::take(&mut self.loaded.warnings));
        taken?;
        backend::finish_replay(&*self.store, &mut self.loaded)
    }

    /// Stops a command whose lock is lost. Never completes.
    pub async fn stop_if_lock_is_lost(&self, stop: &Stop) -> Infallible {
        if self.lock.is_some() {
            let error = self.store.lock_lost().await;
            base::log!(Error, "{error}");
            let _ = self.lost.set(error);
            stop.stop();
        }
        std::future::pending().await
    }

    /// What to report if the lock was lost while objects were changed.
    pub fn lock_loss(&self) -> Option<Diagnostic> {
        self.lock_loss_with(&format!(
            "{PROGRAM} therefore started no further changes and did not write the state; the changes that were made are kept on \
             this machine."
        ))
    }

    /// What to report if the lock was lost before anything was changed.
    pub fn lock_loss_while_planning(&self) -> Option<Diagnostic> {
        self.lock_loss_with("A plan that is made from the state as it was may not fit any more. Nothing was changed.")
    }

    fn lock_loss_with(&self, consequence: &str) -> Option<Diagnostic> {
        let error = self.lost.get()?;
        let detail =
            format!("Error message: {error}\n\nAnother process may have locked the state since. {consequence}");
        Some(Diagnostic::error("State lock lost", detail))
    }

    /// Gives the lock back.
    pub async fn release(self) -> Diagnostics {
        let Some(id) = self.lock else { return Diagnostics::new() };
        base::log!(Trace, "backend/local: releasing state lock {id}");
        match self.store.unlock(&id).await {
            Ok(()) => Diagnostics::new(),
            Err(_) if self.lost.get().is_some() => Diagnostics::new(),
            Err(e) => locking::unlock_failed(&e).into(),
        }
    }
}
