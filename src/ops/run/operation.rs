//! The common part of plan, apply, refresh and destroy: preparing configuration, state, variables and plugins.

use std::path::Path;
use std::sync::Arc;

use backend::StateSession;
use base::diag::{Diagnostic, Diagnostics};
use base::files::Disk;
use base::name::{self, COMMAND, PROGRAM};
use engine::ports::{Observer, Ports, StateSink};
use engine::{self, GivenVariables, PlanInput, ValidateInput};
use model::config::Config;
use model::deps::Requirements;
use model::plan::file::ConfigSnapshot;
use model::plan::{Mode, Plan};
use model::state::State;
use model::{addr, lint};

use super::event_log;
use super::sink::NoSink;
use crate::backends::{self, HeldState, Opened};
use crate::configuration::load;
use crate::configuration::load::LoadedConfig;
use crate::configuration::variables::{self, Collected};
use crate::interface::listen::{Listener, SilentListener};
use crate::interface::options::{PlanOptions, StateOptions, VariableArgument};
use crate::interface::planning::{Planned, Schemas};
use crate::plugins::factories::Factories;
use crate::plugins::{cached_schemas, packages, schemas};
use crate::setup::Setup;
use crate::setup::host::Machine;

/// The summary after an interrupt while waiting.
pub const CANCELED: &str = "operation canceled";
/// What the lock of `plan` and that of `refresh` is for.
pub const PLAN: &str = "OperationTypePlan";
pub const REFRESH: &str = "OperationTypeRefresh";
/// What locks are for where the reference takes the lock without starting an operation.
pub const NO_OPERATION: &str = "OperationTypeInvalid";
/// The summary where a folder has nothing to read.
pub const NO_CONFIGURATION: &str = "No configuration files";

/// What an operation on the working directory's configuration is asked for.
#[derive(Clone, Debug, Default)]
pub struct OperationRequest {
    pub plan: PlanOptions,
    pub state: StateOptions,
    pub variables: Vec<VariableArgument>,
}

/// Everything that is open while an operation runs.
pub struct Session {
    pub setup: Setup,
    pub config: Arc<Config>,
    /// The configuration's files as they were read.
    pub snapshot: ConfigSnapshot,
    pub opened: Opened,
    pub held: HeldState,
    pub factories: Arc<Factories>,
    pub collected: Collected,
    pub listener: Arc<dyn Listener>,
}

/// Loads, opens, locks and reads; starts the providers. `operation` names what the lock is for.
pub async fn open_session(
    setup: &Setup,
    request: &OperationRequest,
    operation: &str,
    verb: OperationKind,
    listener: Arc<dyn Listener>,
) -> Result<(Session, Diagnostics), Diagnostics> {
    base::log!(Info, "backend/local: starting {verb:?} operation");
    let mut diagnostics = Diagnostics::new();
    let collected = sound(&mut diagnostics, variables::collect(setup, &request.variables))?;
    let destroys = request.plan.mode == Mode::Destroy;
    if !destroys && verb != OperationKind::Refresh && !load::has_configuration() {
        return Err(no_configuration(verb));
    }
    if request.plan.mode != Mode::Normal && !request.plan.force_replace.is_empty() {
        diagnostics.error(
            "Unsupported plan mode",
            "Forcing resource instance replacement (with -replace=...) is allowed only in normal planning mode.",
        );
        return Err(diagnostics);
    }
    let loaded =
        sound(&mut diagnostics, load::config(Path::new("."), &setup.with_variables(&request.variables), &Disk))?;
    let Some(loaded) = loaded else { return Err(diagnostics) };
    if name::is_opentofu() && !diagnostics.is_empty() {
        show_warnings_of_root(setup, &*listener);
    }
    listener.configured(&loaded.config);
    let locking = Locking { operation, options: &request.state };
    open(setup, loaded, collected, locking, listener, diagnostics).await
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
pub struct Locking<'a> {
    pub operation: &'a str,
    pub options: &'a StateOptions,
}

/// Opens the state for a configuration, locks and reads it; starts the providers. `diagnostics`: what was found until
/// then, which comes before what is found here.
pub async fn open(
    setup: &Setup,
    loaded: LoadedConfig,
    collected: Collected,
    locking: Locking<'_>,
    listener: Arc<dyn Listener>,
    mut diagnostics: Diagnostics,
) -> Result<(Session, Diagnostics), Diagnostics> {
    let LoadedConfig { config, snapshot } = loaded;
    let opened = backends::open(setup, config.root.backend.as_ref(), locking.options).await;
    let mut opened = opened.map_err(|problems| joined(&mut diagnostics, problems))?;
    let warnings = std::mem::take(&mut opened.warnings);
    match config.root.backend.as_ref().is_some_and(|block| block.store.is_some()) {
        // What the provider of a state store says comes before the operation.
        true if !warnings.is_empty() => listener.diagnostics(warnings),
        _ => diagnostics.extend(warnings),
    }
    if matches!(locking.operation, PLAN | REFRESH) {
        let warnings = setup.sealing.take_warnings();
        if !warnings.is_empty() {
            listener.diagnostics(warnings);
        }
    }
    let factories = start(setup, &config, &mut diagnostics).await?;
    let held = backends::hold(&opened, locking.operation, locking.options, setup, Some(&*listener)).await;
    let mut held = match held {
        Ok(held) => held,
        Err(problems) => {
            factories.shutdown().await;
            return Err(joined(&mut diagnostics, problems));
        }
    };
    diagnostics.extend(std::mem::take(&mut held.loaded.warnings));
    let session = Session { setup: setup.clone(), config, snapshot, opened, held, factories, collected, listener };
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

/// The command, where messages depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    Plan,
    Apply,
    Refresh,
}

/// Checks the packages of the configuration's providers against the lock file and starts them.
async fn start(setup: &Setup, config: &Config, diagnostics: &mut Diagnostics) -> Result<Arc<Factories>, Diagnostics> {
    let requirements = sound(diagnostics, Requirements::of_config(config))?;
    let found = packages::resolve(setup, &requirements).await;
    let found = found.map_err(|problems| joined(diagnostics, problems))?;
    diagnostics.extend(found.warnings);
    let factories = Factories::new(setup, found.origins, found.provisioner_programs);
    factories.start_early(requirements.0.keys().cloned());
    Ok(factories)
}

fn no_configuration(verb: OperationKind) -> Diagnostics {
    let detail = match verb {
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

impl Session {
    /// The state as it was read.
    pub fn state(&self) -> State {
        self.held.loaded.file.as_ref().map(|file| file.state.clone()).unwrap_or_default()
    }

    pub fn store(&self) -> Arc<StateSession> {
        self.held.store.clone()
    }

    /// The engine's doors; `observer` hears what the listener does not need to know of.
    pub fn ports(&self, observer: Arc<dyn Observer>, sink: Arc<dyn StateSink>) -> Ports {
        ports(&self.setup, &self.factories, observer, sink)
    }

    /// Plans for the configuration as it is.
    pub async fn plan(&self, options: &PlanOptions) -> (Option<Planned>, GivenVariables, Diagnostics) {
        let (variables, mut diagnostics) = variables::resolve(&self.collected, &self.config.root, &self.setup).await;
        if diagnostics.has_errors() {
            return (None, variables, diagnostics);
        }
        diagnostics.extend(lint::check(&self.config.root, &options.lint));
        let input = PlanInput {
            config: self.config.clone(),
            state: self.state(),
            variables: variables.clone(),
            mode: options.mode,
            targets: options.targets.clone(),
            excludes: options.excludes.clone(),
            force_replace: options.force_replace.clone(),
            requested_actions: options.requested_actions.clone(),
            refresh: options.refresh,
            deferral_allowed: options.deferral_allowed,
            generate_config: options.generate_config,
            parallelism: options.parallelism,
        };
        base::log!(Info, "backend/local: plan calling Plan");
        let observer: Arc<dyn Observer> = self.listener.clone();
        let ports = self.ports(observer, Arc::new(NoSink));
        let plan = tokio::select! {
            made = validated_plan(input, &ports) => diagnostics.take(made),
            never = self.held.stop_if_lock_is_lost(&self.setup.stop) => match never {},
            () = self.setup.stop.killed() => {
                diagnostics.push(Diagnostic::error(CANCELED, ""));
                None
            }
        };
        diagnostics.extend(self.held.lock_loss_while_planning());
        base::log!(Info, "backend/local: plan operation completed");
        cached_schemas::check(&self.setup, &self.factories, diagnostics.has_errors()).await;
        let planned = match plan {
            Some(plan) => Some(self.planned(plan).await),
            None => None,
        };
        (planned, variables, diagnostics)
    }

    /// A plan with the schemas that it needs to be shown.
    pub async fn planned(&self, plan: Plan) -> Planned {
        let schemas = plan_schemas(&self.factories, &plan).await;
        Planned { plan: Arc::new(plan), config: self.config.clone(), schemas }
    }

    /// Ends the providers and gives the lock back.
    pub async fn end(self) -> Diagnostics {
        self.factories.shutdown().await;
        self.held.release().await
    }
}

async fn plan_schemas(factories: &Factories, plan: &Plan) -> Schemas {
    let changes = plan.changes.iter().chain(&plan.drift);
    let of_actions = plan.invocations.iter().map(|invocation| invocation.provider.provider.clone());
    let needed: std::collections::BTreeSet<addr::Provider> =
        changes.map(|c| c.provider.provider.clone()).chain(of_actions).collect();
    schemas::available(factories, needed).await
}

fn ports(setup: &Setup, factories: &Arc<Factories>, observer: Arc<dyn Observer>, sink: Arc<dyn StateSink>) -> Ports {
    let host = Arc::new(Machine::new(setup));
    let observer = event_log::logged(observer);
    Ports { providers: factories.clone(), observer, sink, host, stop: setup.stop.clone() }
}

/// The engine's ports for operations without changes and events.
pub fn quiet_ports(setup: &Setup, factories: &Arc<Factories>) -> Ports {
    watched_ports(setup, factories, Arc::new(SilentListener))
}

/// The engine's doors where nothing is changed.
pub fn watched_ports(setup: &Setup, factories: &Arc<Factories>, observer: Arc<dyn Observer>) -> Ports {
    ports(setup, factories, observer, Arc::new(NoSink))
}

/// Validates, then plans: errors that need no state are reported before any object is refreshed.
async fn validated_plan(input: PlanInput, ports: &Ports) -> (Option<Plan>, Diagnostics) {
    let check = ValidateInput { config: input.config.clone(), parallelism: input.parallelism };
    let mut diagnostics = engine::validate(check, ports).await;
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let plan = diagnostics.take(engine::plan(input, ports).await);
    (plan, diagnostics)
}
