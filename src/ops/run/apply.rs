//! `apply` and `destroy` on this machine: a plan is created or read, approved, and carried out.

use std::sync::Arc;

use backend::JournaledState;
use backend::durable::journaled::ObjectAddress;
use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use engine::{self, ApplyInput, ApplyOutcome, GivenVariables};
use model::plan::{Action, Mode, Plan};
use model::state::State;

use super::open::{self, OpenSession};
use super::session::{CANCELED, PreparedApply, Session};
use super::sink::JournalSink;
use super::tracker::{self, Tracker};
use super::{approval, save, saved_plan};
use crate::interface::listen::Listener;
use crate::interface::planning::{Tally, Unfinished};
use crate::interface::requests::{ApplyRequest, OperationKind, OperationRequest};
use crate::opentofu;
use crate::plugins::outdated_schemas;
use crate::setup::Setup;

/// What an apply did.
#[derive(Debug, Default)]
pub struct Applied {
    /// The user did not approve.
    pub cancelled: bool,
    /// The mode of the plan that was carried out.
    pub mode: Mode,
    pub tally: Tally,
    /// The state as it is now; None if nothing was begun.
    pub state: Option<State>,
    /// What is left of the plan after errors or an interrupt; None if nothing was begun.
    pub unfinished: Option<Unfinished>,
}

pub(super) async fn run(setup: &Setup, request: &ApplyRequest, listener: &Arc<dyn Listener>) -> (Applied, Diagnostics) {
    open::show_linting(&request.operation.plan, &**listener);
    open::show_overrides(setup, &**listener);
    setup.restart.repeated(|| attempt(setup, request, listener)).await
}

async fn attempt(setup: &Setup, request: &ApplyRequest, listener: &Arc<dyn Listener>) -> (Applied, Diagnostics) {
    let prepared = match &request.plan_file {
        Some(path) => saved_plan::open(setup, path, &request.operation, listener.clone()).await,
        None => make_plan(setup, &request.operation, listener.clone()).await,
    };
    let PreparedApply { mut session, planned, variables, mut diagnostics } = match prepared {
        Ok(prepared) => prepared,
        Err(diagnostics) => return (Applied::default(), diagnostics),
    };
    let mode = planned.plan.scope.mode;
    // A saved plan is always reported as an apply, also if it destroys.
    let reported_mode = if request.plan_file.is_some() && mode == Mode::Destroy { Mode::Normal } else { mode };
    let mut applied = Applied { mode: reported_mode, ..Applied::default() };
    if request.plan_file.is_some() {
        listener.loaded(&planned);
    } else {
        match approval::approve(setup, request, &planned, &**listener, &mut diagnostics).await {
            Ok(true) => {}
            Ok(false) => {
                applied.cancelled = true;
                diagnostics.extend(session.end().await);
                return (applied, diagnostics);
            }
            Err(problem) => {
                diagnostics.push(problem);
                diagnostics.extend(session.end().await);
                return (applied, diagnostics);
            }
        }
    }
    let parallelism = request.operation.plan.scope.parallelism;
    // Apply makes the checks again: their warnings of the plan would be reported twice.
    let mut diagnostics: Diagnostics =
        diagnostics.into_iter().filter(|found| found.is_error() || !found.of_check).collect();
    let forgotten = planned.plan.changes.iter().filter(|c| c.action == Action::Forget).count();
    match session.take_up_journal(&mut diagnostics).await {
        Ok(()) => diagnostics.extend(carry_out(&session, planned.plan, variables, parallelism, &mut applied).await),
        Err(problems) => diagnostics.extend(problems),
    }
    applied.tally.forgotten = forgotten;
    let fails = opentofu::fails_for_forgotten_objects(setup.dialect());
    let is_error = fails && !request.suppress_forget_errors && !diagnostics.has_errors();
    if mode == Mode::Destroy && applied.tally.forgotten > 0 && is_error {
        diagnostics.push(left_behind());
    }
    diagnostics.extend(session.end().await);
    (applied, diagnostics)
}

/// What OpenTofu says of objects that a destroy did not destroy.
fn left_behind() -> Diagnostic {
    let detail = format!(
        "As requested, {PROGRAM} has not deleted some remote objects that are no longer managed by this configuration. Those objects \
         continue to exist in their remote system and so may continue to incur charges. Refer to the original plan for more \
         information.\nTo suppress this error for the future 'destroy' runs, you can add the CLI flag \"-suppress-forget-errors\"."
    );
    Diagnostic::error("Destroy was successful but left behind forgotten instances", detail)
}

/// Makes the plan that is to be carried out.
async fn make_plan(
    setup: &Setup,
    request: &OperationRequest,
    listener: Arc<dyn Listener>,
) -> Result<PreparedApply, Diagnostics> {
    let opened = open::open_session(setup, request, OperationKind::Apply, listener.clone()).await?;
    let OpenSession { session, collected, mut diagnostics } = opened;
    let (planned, variables, found) = session.plan(&request.plan, &collected).await;
    if setup.restart.get() {
        diagnostics.extend(session.end().await);
        return Err(diagnostics);
    }
    let failed = found.has_errors();
    diagnostics.extend(found);
    match planned {
        Some(planned) if !failed => Ok(PreparedApply { session, planned, variables, diagnostics }),
        planned => {
            // As much as was planned, if it was anything.
            if let Some(planned) = planned.filter(|it| it.plan.has_begun()) {
                listener.planned(&planned);
            }
            diagnostics.extend(session.end().await);
            Err(diagnostics)
        }
    }
}

/// Applies the plan and saves the results. The plan is not kept until the last snapshot is written.
async fn carry_out(
    session: &Session,
    plan: Arc<Plan>,
    variables: GivenVariables,
    parallelism: usize,
    applied: &mut Applied,
) -> Diagnostics {
    let mut diagnostics = engine::missing_variables(&plan, &variables);
    if diagnostics.has_errors() {
        return diagnostics;
    }
    let journal = match JournaledState::new(session.store(), &session.held.loaded) {
        Ok(journal) => Arc::new(journal),
        Err(problems) => return problems,
    };
    let plugin_journal = journal.clone();
    session.factories.on_start(Arc::new(move |name, process| plugin_journal.plugin(name, process)));
    let tracker = Arc::new(Tracker::new(session.listener.clone()));
    let ports = session.ports(tracker.clone(), Arc::new(JournalSink(journal.clone())));
    let input = ApplyInput { facts: session.facts.clone(), plan: plan.clone(), variables, parallelism };
    tracing::info!("backend/local: apply calling Apply");
    // Abandoned work is dropped before the journal is finished.
    let outcome = tokio::select! {
        biased;
        () = session.setup.stop.killed() => None,
        never = session.held.stop_if_lock_is_lost(&session.setup.stop) => match never {},
        done = engine::apply(input, &ports) => Some(diagnostics.take(done)),
    };
    diagnostics.extend(session.held.lock_loss());
    tracing::info!("backend/local: apply operation completed");
    // Objects may have been changed and approval was given: the next command starts with the right schemas.
    outdated_schemas::check_after_changes(&session.setup, &session.factories, diagnostics.has_errors()).await;
    let state = match outcome {
        Some(ApplyOutcome { state: None }) => return diagnostics,
        Some(ApplyOutcome { state }) => state,
        None => None,
    };
    let writing = session.setup.activities.begin("Writing the state");
    let finished = journal.finish(state.as_ref()).await;
    drop(writing);
    if state.is_none() {
        let open = finished.as_deref().unwrap_or_default();
        diagnostics.push(abandoned(open, &tracker.provisioning()));
        applied.unfinished = Some(tracker.abandoned(&plan, open));
    }
    if let Err(error) = finished {
        diagnostics.extend(save::rescue(&journal, error).await);
    }
    applied.tally = tracker.tally();
    if let Some(state) = state.as_ref().filter(|_| diagnostics.has_errors()) {
        applied.unfinished = Some(tracker.unfinished(&plan, state, session.setup.stop.is_stopping()));
    }
    applied.state = state;
    diagnostics
}

/// The error of a run that was interrupted twice: the objects in flight, and those whose provisioners were running.
fn abandoned(open: &[ObjectAddress], provisioning: &[String]) -> Diagnostic {
    let mut parts = Vec::new();
    if !open.is_empty() {
        let names: String = open.iter().map(|object| format!("\n  - {}", tracker::object_text(object))).collect();
        parts.push(format!("These objects were being changed, so the state may not contain the results:\n{names}"));
    }
    if !provisioning.is_empty() {
        let names: String = provisioning.iter().map(|name| format!("\n  - {name}")).collect();
        parts.push(format!(
            "The provisioners of these objects did not end, so new objects among them are tainted:\n{names}"
        ));
    }
    if !open.is_empty() {
        parts.push("The next plan or apply names them again.".to_owned());
    }
    Diagnostic::error(CANCELED, parts.join("\n\n"))
}
