//! Opening the configured backend, after checking that `init` has recorded the same one.

use std::sync::Arc;

use backend::contract::schema::missing_setting;
use backend::contract::{Context, StateFiles};
use backend::durable::{HistoryPlace, recovery};
use backend::{OpenBackend, StateSession, StoreError};
use base::diag::{Diagnostic, Diagnostics};
use lang::syntax::body::Body;
use model::config;
use model::provider_diagnostics::about_body;
use terrane_protocol::provider::{ProviderDiagnostic, has_errors};

use super::record::{self, BackendRecord, ReadError};
use super::settings::{BackendSettings, not_found_elsewhere};
use super::{encryption, history, init_needed, state_store};
use crate::interface::options::StateOptions;
use crate::setup::{Setup, services};

const UNREADABLE_RECORD: &str = "Failed to read the record of the backend";

/// The kind that `cloud` blocks have.
pub const CLOUD: &str = "cloud";

/// An open backend with the store of the workspace in use.
pub struct BackendInUse {
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
) -> Result<BackendInUse, Diagnostics> {
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
                Err(init_needed::backend(", ", &reason))
            }
        };
    };
    let (wanted, diagnostics) = BackendSettings::of_block(block, None);
    let Some(wanted) = wanted else { return Err(not_found_elsewhere(diagnostics)) };
    let kind = wanted.kind.name();
    match recorded {
        // A block may be wrong in itself: until it was initialised, that alone is said.
        None if kind == CLOUD => {
            Err(init_needed::cloud("Initial configuration of HCP Terraform or Terraform Enterprise"))
        }
        None => Err(init_needed::backend(", ", &format!("Initial configuration of the requested backend {kind:?}"))),
        Some(recorded) if recorded.kind != kind && kind == CLOUD => {
            Err(init_needed::cloud(&format!("Changed from backend {:?} to HCP Terraform", recorded.kind)))
        }
        Some(recorded) if recorded.kind != kind && recorded.kind == CLOUD => {
            Err(init_needed::backend(": ", &format!("Changed from HCP Terraform to backend {kind:?}")))
        }
        Some(recorded) if recorded.kind != kind => {
            let reason = format!("Backend type changed from {:?} to {kind:?}", recorded.kind);
            Err(init_needed::backend(": ", &reason))
        }
        // Settings of the command line are in the record only: the block's own must be as they were.
        Some(recorded) if wanted.hash == recorded.hash => Ok(Some(recorded)),
        Some(recorded) if !diagnostics.has_errors() && wanted.is_recorded(&recorded) => Ok(Some(recorded)),
        Some(_) if kind == CLOUD => Err(init_needed::cloud("HCP Terraform configuration block has changed")),
        Some(_) => Err(init_needed::backend(": ", "Backend configuration block has changed")),
    }
}

/// Opens the backend of a record (none: the local one with its defaults).
pub async fn open_record(
    setup: &Setup,
    record: Option<&BackendRecord>,
    options: &StateOptions,
    workspace: &str,
) -> Result<BackendInUse, Diagnostics> {
    open_store(setup, &settings_of(setup, record).await?, options, workspace).await
}

/// Opens the store of a workspace in the backend of settings that `init` has recorded.
pub async fn open_store(
    setup: &Setup,
    settings: &BackendSettings,
    options: &StateOptions,
    workspace: &str,
) -> Result<BackendInUse, Diagnostics> {
    let (backend, warnings) = open_settings(setup, settings, options).await?;
    let warnings = if settings.kind.is_provided() { warnings } else { Diagnostics::new() };
    let store = backend.store(workspace).await.map_err(|e| not_opened(&e))?;
    Ok(BackendInUse { backend, store, warnings })
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
    open_with(setup, settings, options, history::place(setup, options)).await
}

/// Opens a backend whose states are not those of the project.
pub async fn open_without_history(
    setup: &Setup,
    settings: &BackendSettings,
) -> Result<(Arc<OpenBackend>, Diagnostics), Diagnostics> {
    open_with(setup, settings, &StateOptions::default(), None).await
}

async fn open_with(
    setup: &Setup,
    settings: &BackendSettings,
    options: &StateOptions,
    history: Option<HistoryPlace>,
) -> Result<(Arc<OpenBackend>, Diagnostics), Diagnostics> {
    let files = StateFiles {
        state: options.state.clone(),
        state_out: options.state_out.clone(),
        backup: options.backup.clone(),
    };
    let environment = setup.environment.clone();
    let services = services::of_setup(setup);
    let (data_dir, folder) = (setup.workdir.data_dir.clone(), setup.root.folder().to_owned());
    let context = Context { environment, data_dir, folder, files, services };
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
            Ok((Arc::new(OpenBackend::new(opened, cipher, history)), warnings))
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
