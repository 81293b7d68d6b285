//! What is open while an operation runs: configuration, state and plugins. Makes plans and the engine's ports.

use std::collections::BTreeSet;
use std::sync::Arc;

use backend::StateSession;
use base::diag::{Diagnostic, Diagnostics};
use engine::ports::{Observer, Ports, Providers, StateSink};
use engine::{self, Facts, GivenVariables, PlanInput, ValidateInput};
use model::plan::file::ConfigSnapshot;
use model::plan::{Plan, PlanScope};
use model::state::State;
use model::{addr, lint};

use super::sink::NoSink;
use super::{deny, event_log};
use crate::backends::held::HeldState;
use crate::backends::open::BackendInUse;
use crate::configuration::variables::{self, Collected};
use crate::interface::listen::{Listener, SilentListener};
use crate::interface::options::PlanOptions;
use crate::interface::planning::{Planned, Schemas};
use crate::plugins::factories::Factories;
use crate::plugins::{outdated_schemas, schemas};
use crate::policies::load;
use crate::setup::Setup;
use crate::setup::host::Machine;

/// The summary after an interrupt while waiting.
pub const CANCELED: &str = "operation canceled";

/// Everything that is open while an operation runs.
pub struct Session {
    pub setup: Setup,
    /// The configuration with the static facts about it, which all verbs of the operation share.
    pub facts: Arc<Facts>,
    /// The configuration's files as they were read.
    pub snapshot: ConfigSnapshot,
    pub opened: BackendInUse,
    pub held: HeldState,
    pub factories: Arc<Factories>,
    pub listener: Arc<dyn Listener>,
}

/// What an apply starts from.
pub struct PreparedApply {
    pub session: Session,
    pub planned: Planned,
    pub variables: GivenVariables,
    pub diagnostics: Diagnostics,
}

impl Session {
    /// The state as it was read.
    pub fn state(&self) -> State {
        self.held.loaded.file.as_ref().map(|file| file.state.clone()).unwrap_or_default()
    }

    pub fn store(&self) -> Arc<StateSession> {
        self.held.store.clone()
    }

    /// The engine's ports; `observer` hears what the listener does not need to know of.
    pub fn ports(&self, observer: Arc<dyn Observer>, sink: Arc<dyn StateSink>) -> Ports {
        ports(&self.setup, &self.factories, observer, sink)
    }

    /// Plans for the configuration as it is, with the values that were collected for its variables.
    pub async fn plan(
        &self,
        options: &PlanOptions,
        collected: &Collected,
    ) -> (Option<Planned>, GivenVariables, Diagnostics) {
        let (variables, mut diagnostics) = variables::resolve(collected, &self.facts.config().root, &self.setup).await;
        if diagnostics.has_errors() {
            return (None, variables, diagnostics);
        }
        diagnostics.extend(lint::check(&self.facts.config().root, &options.lint));
        let (policies, found) = load::of_run(&self.setup, &options.policies);
        let are_invalid = found.has_errors();
        diagnostics.extend(found);
        if are_invalid {
            return (None, variables, diagnostics);
        }
        let scope = PlanScope { policies: Arc::new(policies), ..options.scope.clone() };
        let input = PlanInput { facts: self.facts.clone(), state: self.state(), variables: variables.clone(), scope };
        tracing::info!("backend/local: plan calling Plan");
        let observer: Arc<dyn Observer> = self.listener.clone();
        let ports = self.ports(observer, Arc::new(NoSink));
        let mut plan = tokio::select! {
            made = validated_plan(input, &ports) => diagnostics.take(made),
            never = self.held.stop_if_lock_is_lost(&self.setup.stop) => match never {},
            () = self.setup.stop.killed() => {
                diagnostics.push(Diagnostic::error(CANCELED, ""));
                None
            }
        };
        diagnostics.extend(self.held.lock_loss_while_planning());
        tracing::info!("backend/local: plan operation completed");
        outdated_schemas::check(&self.setup, &self.factories, diagnostics.has_errors()).await;
        if let Some(plan) = &mut plan {
            diagnostics.extend(deny::check(plan, self.facts.config(), &options.deny));
        }
        let planned = match plan {
            Some(plan) => Some(self.planned(plan).await),
            None => None,
        };
        (planned, variables, diagnostics)
    }

    /// A plan with the schemas that it needs to be shown.
    pub async fn planned(&self, plan: Plan) -> Planned {
        let schemas = plan_schemas(&self.factories, &plan).await;
        Planned { plan: Arc::new(plan), config: self.facts.config().clone(), schemas }
    }

    /// Writes the changes of an interrupted run that are only in its journal so far. What is known of that run is reported first.
    pub async fn take_up_journal(&mut self, diagnostics: &mut Diagnostics) -> Result<(), Diagnostics> {
        if !self.held.loaded.includes_journal {
            return Ok(());
        }
        let listener = self.listener.clone();
        listener.diagnostics(std::mem::take(diagnostics));
        self.held.take_up_journal(&*listener).await
    }

    /// Ends the providers and gives the lock back.
    pub async fn end(self) -> Diagnostics {
        let ending = self.setup.activities.begin("Ending the providers");
        self.factories.shutdown().await;
        drop(ending);
        let _releasing = self.setup.activities.begin("Releasing the state lock");
        self.held.release().await
    }
}

async fn plan_schemas(factories: &Factories, plan: &Plan) -> Schemas {
    let changes = plan.changes.iter().chain(&plan.drift);
    let of_actions = plan.invocations.iter().map(|invocation| invocation.provider.provider.clone());
    let needed: BTreeSet<addr::Provider> = changes.map(|c| c.provider.provider.clone()).chain(of_actions).collect();
    schemas::available(factories, needed).await
}

fn ports(setup: &Setup, factories: &Arc<Factories>, observer: Arc<dyn Observer>, sink: Arc<dyn StateSink>) -> Ports {
    let host = Arc::new(Machine::new(setup));
    let observer = event_log::logged(observer);
    let providers = factories.clone();
    Ports {
        providers,
        observer,
        sink,
        host,
        stop: setup.stop.clone(),
        doubles: Arc::default(),
        coverage: None,
        turns: None,
    }
}

/// The engine's ports over other providers than a command's processes, without a journal: for tests.
pub fn sinkless_ports(setup: &Setup, providers: Arc<dyn Providers>, observer: Arc<dyn Observer>) -> Ports {
    let host = Arc::new(Machine::new(setup));
    let (observer, sink) = (event_log::logged(observer), Arc::new(NoSink));
    Ports {
        providers,
        observer,
        sink,
        host,
        stop: setup.stop.clone(),
        doubles: Arc::default(),
        coverage: None,
        turns: None,
    }
}

/// The engine's ports for operations without changes and events.
pub fn quiet_ports(setup: &Setup, factories: &Arc<Factories>) -> Ports {
    watched_ports(setup, factories, Arc::new(SilentListener))
}

/// The engine's ports where nothing is changed.
pub fn watched_ports(setup: &Setup, factories: &Arc<Factories>, observer: Arc<dyn Observer>) -> Ports {
    ports(setup, factories, observer, Arc::new(NoSink))
}

/// Validates, then plans: errors that need no state are reported before any object is refreshed.
async fn validated_plan(input: PlanInput, ports: &Ports) -> (Option<Plan>, Diagnostics) {
    let check = ValidateInput { facts: input.facts.clone(), parallelism: input.scope.parallelism };
    let mut diagnostics = engine::validate(check, ports).await;
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let plan = diagnostics.take(engine::plan(input, ports).await);
    (plan, diagnostics)
}
