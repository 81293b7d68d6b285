//! `apply`, `destroy` and `refresh`: a plan is created or read, approved, and applied.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use backend::durable::journaled::ObjectAddress;
use backend::{DEFAULT_WORKSPACE, FinishError, JournaledState, STATE_NOT_SAVED};
use base::diag::{Diagnostic, Diagnostics};
use base::name::{self, COMMAND, PROGRAM, TERRANE};
use engine::{self, ApplyInput, ApplyOutcome, GivenVariables};
use model::addr::AbsResourceInstance;
use model::plan::{Action, Mode, Plan};
use model::state::State;
use terrane_protocol::schema::ResourceMode;

use super::operation::{self, CANCELED, OperationKind, OperationRequest, Session};
use super::plan_file;
use super::tracker::{self, Tracker};
use crate::interface::ask::{Ask, NoAnswer, Question};
use crate::interface::listen::Listener;
use crate::interface::planning::{Planned, Tally, Unfinished};
use crate::plugins::cached_schemas;
use crate::setup::Setup;

/// Where a state goes that no store takes.
const ERRORED_STATE: &str = "errored.tfstate";

#[derive(Clone)]
pub struct ApplyRequest {
    pub operation: OperationRequest,
    /// None: carry the plan out without asking.
    pub approver: Option<Arc<dyn Ask>>,
    /// A plan that was kept, in place of a new one.
    pub plan_file: Option<PathBuf>,
    /// As OpenTofu: objects that a destroy leaves behind on purpose are no error.
    pub suppress_forget_errors: bool,
}

/// What became of it.
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

/// Applies. On errors the state holds what was done until then.
pub async fn run(setup: &Setup, request: &ApplyRequest, listener: Arc<dyn Listener>) -> (Applied, Diagnostics) {
    operation::show_linting(&request.operation.plan, &*listener);
    operation::show_overrides(setup, &*listener);
    loop {
        let applied = attempt(setup, request, listener.clone()).await;
        if !setup.restart.take() {
            return applied;
        }
    }
}

async fn attempt(setup: &Setup, request: &ApplyRequest, listener: Arc<dyn Listener>) -> (Applied, Diagnostics) {
    let begun = match &request.plan_file {
        Some(path) => plan_file::open_kept(setup, path, &request.operation, listener.clone()).await,
        None => make_plan(setup, &request.operation, listener.clone()).await,
    };
    let (mut session, planned, variables, mut diagnostics) = match begun {
        Ok(begun) => begun,
        Err(diagnostics) => return (Applied::default(), diagnostics),
    };
    let mode = planned.plan.mode;
    // A saved plan is always reported as an apply, also if it destroys.
    let reported_mode = if request.plan_file.is_some() && mode == Mode::Destroy { Mode::Normal } else { mode };
    let mut applied = Applied { mode: reported_mode, ..Applied::default() };
    if request.plan_file.is_some() {
        listener.loaded(&planned);
    } else {
        match approve(setup, request, &planned, &*listener, &mut diagnostics).await {
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
    let parallelism = request.operation.plan.parallelism;
    // Apply makes the checks again: their warnings of the plan would be reported twice.
    let mut diagnostics: Diagnostics = diagnostics.into_iter().filter(|d| !is_of_check(d)).collect();
    let forgotten = planned.plan.changes.iter().filter(|c| c.action == Action::Forget).count();
    match take_up_journal(&mut session, &mut diagnostics).await {
        Ok(()) => diagnostics.extend(carry_out(&session, planned.plan, variables, parallelism, &mut applied).await),
        Err(problems) => diagnostics.extend(problems),
    }
    applied.tally.forgotten = forgotten;
    let is_error = name::is_opentofu() && !request.suppress_forget_errors && !diagnostics.has_errors();
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

/// Writes the changes of an interrupted run that are only in its journal so far. What is known of that run is reported first.
pub async fn take_up_journal(session: &mut Session, diagnostics: &mut Diagnostics) -> Result<(), Diagnostics> {
    if !session.held.loaded.includes_journal {
        return Ok(());
    }
    let listener = session.listener.clone();
    listener.diagnostics(std::mem::take(diagnostics));
    session.held.take_up_journal(&*listener).await
}

/// A failed or undecided assertion of a check block.
fn is_of_check(diagnostic: &Diagnostic) -> bool {
    !diagnostic.is_error() && diagnostic.verbatim
}

/// `refresh`: the state brought up to date, nothing shown or asked.
pub async fn refresh(setup: &Setup, request: &OperationRequest, listener: Arc<dyn Listener>) -> (Applied, Diagnostics) {
    operation::show_linting(&request.plan, &*listener);
    loop {
        let applied = attempt_refresh(setup, request, listener.clone()).await;
        if !setup.restart.take() {
            return applied;
        }
    }
}

async fn attempt_refresh(
    setup: &Setup,
    request: &OperationRequest,
    listener: Arc<dyn Listener>,
) -> (Applied, Diagnostics) {
    let begun = operation::open_session(setup, request, operation::REFRESH, OperationKind::Refresh, listener).await;
    let (mut session, mut diagnostics) = match begun {
        Ok(begun) => begun,
        Err(diagnostics) => return (Applied::default(), diagnostics),
    };
    let is_managed = |addr: &AbsResourceInstance| addr.mode() == ResourceMode::Managed;
    if !session.state().instances().any(|(addr, ..)| is_managed(&addr)) {
        diagnostics.warning(
            "Empty or non-existent state",
            "There are currently no remote objects tracked in the state, so there is nothing to refresh.",
        );
    }
    let (planned, _, found) = session.plan(&request.plan).await;
    let failed = found.has_errors();
    diagnostics.extend(found);
    let mut applied = Applied { mode: Mode::RefreshOnly, ..Applied::default() };
    if let Some(planned) = planned.filter(|_| !failed && !setup.restart.get()) {
        match take_up_journal(&mut session, &mut diagnostics).await {
            Ok(()) => diagnostics.extend(write_unapplied(&session, &planned.plan.prior_state).await),
            Err(problems) => diagnostics.extend(problems),
        }
        applied.state = Some(planned.plan.prior_state.clone());
    }
    diagnostics.extend(session.end().await);
    (applied, diagnostics)
}

pub(super) type PreparedApply = (Session, Planned, GivenVariables, Diagnostics);

/// Makes the plan that is to be carried out.
async fn make_plan(
    setup: &Setup,
    request: &OperationRequest,
    listener: Arc<dyn Listener>,
) -> Result<PreparedApply, Diagnostics> {
    let (session, mut diagnostics) =
        operation::open_session(setup, request, "OperationTypeApply", OperationKind::Apply, listener.clone()).await?;
    let (planned, variables, found) = session.plan(&request.plan).await;
    if setup.restart.get() {
        diagnostics.extend(session.end().await);
        return Err(diagnostics);
    }
    let failed = found.has_errors();
    diagnostics.extend(found);
    match planned {
        Some(planned) if !failed => Ok((session, planned, variables, diagnostics)),
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

/// Shows the plan and asks for approval, if there are changes and approval is required.
async fn approve(
    setup: &Setup,
    request: &ApplyRequest,
    planned: &Planned,
    listener: &dyn Listener,
    diagnostics: &mut Diagnostics,
) -> Result<bool, Diagnostic> {
    listener.planned(planned);
    let Some(approver) = request.approver.as_ref().filter(|_| planned.plan.applyable) else { return Ok(true) };
    // Shown now, so that they can be considered.
    listener.diagnostics(std::mem::take(diagnostics));
    match approver.ask(&question(&planned.plan, &setup.workdir.workspace)).await {
        Ok(answer) => Ok(answer == "yes"),
        Err(NoAnswer::Interrupted) => {
            Err(Diagnostic::error("error asking for approval: interrupted", "").with_tip("Nothing was changed."))
        }
        Err(NoAnswer::Failed(why)) => Err(Diagnostic::error(format!("error asking for approval: {why}"), "")
            .with_tip("There is no terminal to answer on. To apply without being asked, use -auto-approve.")),
    }
}

fn question(plan: &Plan, workspace: &str) -> Question {
    let in_workspace =
        if workspace == DEFAULT_WORKSPACE { String::new() } else { format!(" in workspace {workspace:?}") };
    let (title, text) = match plan.mode {
        Mode::RefreshOnly if !plan.requested_actions.is_empty() => (
            "Would you like to invoke the specified actions?".to_owned(),
            format!(
                "{PROGRAM} will invoke the actions described above, and any changes will be written to the state without modifying \
                 real infrastructure\nThere is no undo. Only 'yes' will be accepted to confirm."
            ),
        ),
        Mode::Destroy => (
            format!("Do you really want to destroy all resources{in_workspace}?"),
            format!(
                "{PROGRAM} will destroy all your managed infrastructure, as shown above.\n\
             There is no undo. Only 'yes' will be accepted to confirm."
            ),
        ),
        Mode::RefreshOnly => (
            match workspace {
                DEFAULT_WORKSPACE => {
                    format!("Would you like to update the {PROGRAM} state to reflect these detected changes?")
                }
                name => format!(
                    "Would you like to update the {PROGRAM} state for {name:?} to reflect these detected changes?"
                ),
            },
            format!(
                "{PROGRAM} will write these changes to the state without modifying any real infrastructure.\n\
             There is no undo. Only 'yes' will be accepted to confirm."
            ),
        ),
        Mode::Normal => (
            format!("Do you want to perform these actions{in_workspace}?"),
            format!("{PROGRAM} will perform the actions described above.\nOnly 'yes' will be accepted to approve."),
        ),
    };
    Question { title, text, apart: true, ..Question::default() }
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
    let ports = session.ports(tracker.clone(), Arc::new(super::sink::JournalSink(journal.clone())));
    let input = ApplyInput { config: session.config.clone(), plan: plan.clone(), variables, parallelism };
    base::log!(Info, "backend/local: apply calling Apply");
    // Abandoned work is dropped before the journal is finished.
    let outcome = tokio::select! {
        biased;
        () = session.setup.stop.killed() => None,
        never = session.held.stop_if_lock_is_lost(&session.setup.stop) => match never {},
        done = engine::apply(input, &ports) => Some(diagnostics.take(done)),
    };
    diagnostics.extend(session.held.lock_loss());
    base::log!(Info, "backend/local: apply operation completed");
    // Objects may have been changed and approval was given: the next command starts with the right schemas.
    cached_schemas::check_after_changes(&session.setup, &session.factories, diagnostics.has_errors()).await;
    let state = match outcome {
        Some(ApplyOutcome { state: None }) => return diagnostics,
        Some(ApplyOutcome { state }) => state,
        None => None,
    };
    if let Some(state) = &state {
        journal.checks(state.checks.as_deref());
    }
    let finished = journal.finish(state.as_ref()).await;
    if state.is_none() {
        let open = finished.as_deref().unwrap_or_default();
        diagnostics.push(abandoned(open, &tracker.provisioning()));
        applied.unfinished = Some(tracker.abandoned(&plan, open));
    }
    if let Err(error) = finished {
        diagnostics.extend(rescue(&journal, error).await);
    }
    applied.tally = tracker.tally();
    if let Some(state) = state.as_ref().filter(|_| diagnostics.has_errors()) {
        applied.unfinished = Some(tracker.unfinished(&plan, state, session.setup.stop.is_stopping()));
    }
    applied.state = state;
    diagnostics
}

/// Writes a state that a walk found without any change outside.
pub async fn write_unapplied(session: &Session, state: &State) -> Diagnostics {
    let journal = match JournaledState::new(session.store(), &session.held.loaded) {
        Ok(journal) => journal,
        Err(problems) => return problems,
    };
    if let Err(problems) = journal.begin(state).await {
        return problems;
    }
    journal.checks(state.checks.as_deref());
    match journal.finish(Some(state)).await {
        Ok(_) => Diagnostics::new(),
        Err(error) => rescue(&journal, error).await,
    }
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

/// Reports a run that did not end well; keeps a state that the store refused, and says where.
async fn rescue(journal: &JournaledState, error: FinishError) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let (reason, snapshot) = match error {
        FinishError::Refused { reason, snapshot } => (reason, snapshot),
        FinishError::NotRendered(reason) => {
            let detail = format!(
                "The final state cannot be written: {reason}.\n\nThe state holds what was recorded while the run went on. \
                 This is a bug in {TERRANE}; please report it."
            );
            return Diagnostic::error(STATE_NOT_SAVED, detail).into();
        }
        FinishError::JournalLeft(reason) => {
            let detail = format!(
                "The state is saved, but the journal beside it could not be removed: {reason}.\n\nThe next command that \
                 changes the state tries again."
            );
            return Diagnostic::error("Failed to remove the state journal", detail).into();
        }
    };
    diagnostics.error(STATE_NOT_SAVED, format!("Error saving state: {reason}"));
    match journal.write_errored_state(Path::new(ERRORED_STATE), &snapshot).await {
        Ok(()) if journal.keeps_journal() => diagnostics.error(NOT_PERSISTED, persist_later()),
        Ok(()) => {
            diagnostics.error(
                NOT_PERSISTED,
                format!(
                    "The error shown above has prevented {PROGRAM} from writing the updated state to the configured backend. To allow \
                     for recovery, the state has been written to the file {ERRORED_STATE:?} in the current working directory.\n\n\
                     Running \"{COMMAND} apply\" again at this point will create a forked state, making it harder to recover.\n\n\
                     To retry writing this state, use the following command:\n    {COMMAND} state push {ERRORED_STATE}\n",
                ),
            );
            if let Err(e) = journal.forget_journal_unless_open() {
                base::log!(Warn, "the journal could not be removed: {e}");
            }
        }
        Err(e) => diagnostics.error(
            "Failed to create local state file",
            format!(
                "Error creating local state file for recovery: {e}.\n\nThe journal that holds the changes of this run is kept beside \
                 the state; the next run that can write the state recovers them.",
            ),
        ),
    }
    diagnostics
}

const NOT_PERSISTED: &str = "Failed to persist state to backend";

/// What to do where the journal is kept beside the file.
fn persist_later() -> String {
    format!(
        "The error shown above has prevented {PROGRAM} from writing the updated state to the configured backend. To allow for recovery, \
         the state has been written to the file {ERRORED_STATE:?} in the current working directory, and the journal of this run was \
         kept in the data directory.\n\nThe next command in this directory that locks the state takes the journal up, unless somebody \
         else has written the state until then.\n\nTo retry writing this state, use the following command:\n    {COMMAND} state push \
         {ERRORED_STATE}\n"
    )
}
