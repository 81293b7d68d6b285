//! Opening a session from the working directory: its configuration, its state and its plugins.

use std::path::Path;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::{COMMAND, PROGRAM};
use engine::Facts;
use model::config::Config;
use model::deps::Requirements;
use model::lint;
use model::plan::Mode;

use super::session::Session;
use crate::backends;
use crate::backends::held::{self, HeldAccess};
use crate::configuration::load::{self, LoadedConfig};
use crate::configuration::variables::{self, Collected};
use crate::interface::listen::Listener;
use crate::interface::options::{PlanOptions, StateOptions};
use crate::interface::requests::{OperationKind, OperationRequest};
use crate::opentofu;
use crate::plugins::factories::Factories;
use crate::plugins::packages;
use crate::setup::Setup;

/// The summary where a folder has nothing to read.
pub const NO_CONFIGURATION: &str = "No configuration files";

/// A session that can plan.
pub struct OpenSession {
    pub session: Session,
    /// The values that were given for variables of the root module.
    pub collected: Collected,
    pub diagnostics: Diagnostics,
}

/// Loads, opens, locks and reads; starts the providers.
pub async fn open_session(
    setup: &Setup,
    request: &OperationRequest,
    kind: OperationKind,
    listener: Arc<dyn Listener>,
) -> Result<OpenSession, Diagnostics> {
    tracing::info!("backend/local: starting {kind:?} operation");
    let mut diagnostics = Diagnostics::new();
    let collected = sound(&mut diagnostics, variables::collect(setup, &request.variables))?;
    let destroys = request.plan.scope.mode == Mode::Destroy;
    if !destroys && kind != OperationKind::Refresh && !load::has_configuration(setup) {
        return Err(no_configuration(kind));
    }
    if request.plan.scope.mode != Mode::Normal && !request.plan.scope.force_replace.is_empty() {
        diagnostics.push(replaces_in_another_mode());
        return Err(diagnostics);
    }
    let reading = setup.activities.begin("Reading the configuration");
    let loaded =
        sound(&mut diagnostics, load::config(Path::new("."), &setup.with_variables(&request.variables), &setup.root))?;
    drop(reading);
    let Some(loaded) = loaded else { return Err(diagnostics) };
    if opentofu::repeats_warnings_of_root(setup.dialect()) && !diagnostics.is_empty() {
        show_warnings_of_root(setup, &*listener);
    }
    listener.configured(&loaded.config);
    let lock = OperationLock { operation: Some(kind), options: &request.state };
    let (session, diagnostics) = open(setup, loaded, lock, listener, diagnostics).await?;
    Ok(OpenSession { session, collected, diagnostics })
}

/// OpenTofu reads the files of the root module before the operation too: their warnings are shown twice.
fn show_warnings_of_root(setup: &Setup, listener: &dyn Listener) {
    let (_, warnings, _) = load::root_and_backend(setup);
    if !warnings.is_empty() {
        listener.diagnostics(warnings);
    }
}

/// What the lock on the state is for, and whether it is taken.
#[derive(Clone, Copy)]
pub struct OperationLock<'a> {
    /// None where the reference takes the lock without starting an operation.
    pub operation: Option<OperationKind>,
    pub options: &'a StateOptions,
}

/// What locks without an operation are for.
pub const NO_OPERATION: &str = "OperationTypeInvalid";

/// Opens the state for a configuration, locks and reads it; starts the providers. `diagnostics`: what was found until
/// then, which comes before what is found here.
pub async fn open(
    setup: &Setup,
    loaded: LoadedConfig,
    lock: OperationLock<'_>,
    listener: Arc<dyn Listener>,
    mut diagnostics: Diagnostics,
) -> Result<(Session, Diagnostics), Diagnostics> {
    let LoadedConfig { config, snapshot } = loaded;
    let opening = setup.activities.begin("Opening the backend");
    let opened = backends::open::open(setup, config.root.backend.as_ref(), lock.options).await;
    drop(opening);
    let mut opened = opened.map_err(|problems| joined(&mut diagnostics, problems))?;
    let warnings = std::mem::take(&mut opened.warnings);
    match config.root.backend.as_ref().is_some_and(|block| block.store.is_some()) {
        // What the provider of a state store says comes before the operation.
        true if !warnings.is_empty() => listener.diagnostics(warnings),
        _ => diagnostics.extend(warnings),
    }
    if matches!(lock.operation, Some(OperationKind::Plan | OperationKind::Refresh)) {
        let warnings = setup.encryption.take_warnings();
        if !warnings.is_empty() {
            listener.diagnostics(warnings);
        }
    }
    let factories = start(setup, &config, &mut diagnostics).await?;
    let purpose = lock.operation.map_or(NO_OPERATION, OperationKind::lock_purpose);
    let held = held::hold(&opened.store, purpose, lock.options, setup, HeldAccess::Change(&*listener)).await;
    let mut held = match held {
        Ok(held) => held,
        Err(problems) => {
            factories.shutdown().await;
            return Err(joined(&mut diagnostics, problems));
        }
    };
    diagnostics.extend(std::mem::take(&mut held.loaded.warnings));
    let facts = Facts::of(config);
    let session = Session { setup: setup.clone(), facts, snapshot, opened, held, factories, listener };
    Ok((session, diagnostics))
}

/// Shows the warning about the linter before all other output of the operation.
pub fn show_linting(options: &PlanOptions, listener: &dyn Listener) {
    if let Some(warning) = lint::experimental(&options.lint) {
        listener.diagnostics(warning.into());
    }
}

/// Shows the warning about development overrides before the operation's own output.
pub fn show_overrides(setup: &Setup, listener: &dyn Listener) {
    if let Some(warning) = packages::overrides_warning(setup) {
        listener.diagnostics(warning.into());
    }
}

/// Checks the packages of the configuration's providers against the lock file and starts them.
async fn start(setup: &Setup, config: &Config, diagnostics: &mut Diagnostics) -> Result<Arc<Factories>, Diagnostics> {
    let requirements = sound(diagnostics, Requirements::of_config(config))?;
    let checking = setup.activities.begin("Checking the installed providers");
    let found = packages::resolve(setup, &requirements).await;
    drop(checking);
    let found = found.map_err(|problems| joined(diagnostics, problems))?;
    diagnostics.extend(found.warnings);
    let factories = Factories::new(setup, found.origins, found.provisioner_programs);
    factories.start_early(requirements.0.keys().cloned());
    Ok(factories)
}

fn no_configuration(kind: OperationKind) -> Diagnostics {
    let detail = match kind {
        OperationKind::Plan => {
            format!(
                "Plan requires configuration to be present. Planning without a configuration would mark everything for destruction, \
             which is normally not what is desired. If you would like to destroy everything, run plan with the -destroy option. \
             Otherwise, create a {PROGRAM} configuration file (.tf file) and try again."
            )
        }
        OperationKind::Apply | OperationKind::Refresh => {
            format!(
                "Apply requires configuration to be present. Applying without a configuration would mark everything for destruction, \
             which is normally not what is desired. If you would like to destroy everything, run '{COMMAND} destroy' instead."
            )
        }
    };
    Diagnostic::error(NO_CONFIGURATION, detail).into()
}

/// Takes the value, or everything found so far if there are errors.
pub fn sound<T>(diagnostics: &mut Diagnostics, (value, found): (T, Diagnostics)) -> Result<T, Diagnostics> {
    let failed = found.has_errors();
    diagnostics.extend(found);
    if failed { Err(std::mem::take(diagnostics)) } else { Ok(value) }
}

fn joined(diagnostics: &mut Diagnostics, more: Diagnostics) -> Diagnostics {
    diagnostics.extend(more);
    std::mem::take(diagnostics)
}

/// The error of a plan that replaces objects and is not a normal one.
pub fn replaces_in_another_mode() -> Diagnostic {
    let detail = "Forcing resource instance replacement (with -replace=...) is allowed only in normal planning mode.";
    Diagnostic::error("Unsupported plan mode", detail)
}
