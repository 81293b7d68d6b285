//! Operations on the machines of HCP Terraform: upload the configuration, start a run, follow it to its end.
//!
//! Owns which operations run there, and what the user sees and answers meanwhile. [`backend::hcp`] is the interface of the
//! service. Never plans or applies.

mod apply;
mod checks;
mod confirm;
mod expression;
mod ignore;
mod log;
mod plan;
mod saved;
mod slug;
mod stages;
mod wait;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use backend::OpenBackend;
use backend::hcp::{ApiError, Flavor, Hcp, Run, Workspace};
use base::diag::{Diagnostic, Diagnostics};
use base::name::{COMMAND, PROGRAM};
use model::plan::{Mode, Refresh};
pub use saved::{RunPlan, ShownRun, show};

use crate::backends::record::BackendRecord;
use crate::backends::{self, read_state};
use crate::interface::ask::{Ask, Question};
use crate::interface::listen::{Listener, RemoteLine};
use crate::interface::options::StateOptions;
use crate::interface::requests::{ApplyRequest, OperationKind, OperationRequest, PlanRequest};
use crate::setup::Setup;

/// The result of an operation on the service.
#[derive(Debug, Default)]
pub struct RemoteOutcome {
    /// The run has changes to apply.
    pub has_changes: bool,
    /// The run failed or was canceled; the log says why.
    pub failed: bool,
    /// The plan is complete, so the view tells how to continue.
    pub planned: bool,
    pub diagnostics: Diagnostics,
}

/// Plans, if operations of the workspace run on the service. None: they run here.
pub async fn plan(setup: &Setup, request: &PlanRequest, listener: &Arc<dyn Listener>) -> Option<RemoteOutcome> {
    let options = Options {
        kind: OperationKind::Plan,
        out: request.out.clone(),
        generate: request.generate.clone(),
        approver: None,
        plan_file: None,
    };
    run(setup, &request.operation, options, listener).await
}

/// Plans and applies, or applies a plan that the service saved. None: operations run here.
pub async fn apply(setup: &Setup, request: &ApplyRequest, listener: &Arc<dyn Listener>) -> Option<RemoteOutcome> {
    let options = Options {
        kind: OperationKind::Apply,
        out: None,
        generate: None,
        approver: request.approver.clone(),
        plan_file: request.plan_file.clone(),
    };
    run(setup, &request.operation, options, listener).await
}

/// `refresh` is a refresh-only plan that is applied without a question.
pub async fn refresh(setup: &Setup, request: &OperationRequest, listener: &Arc<dyn Listener>) -> Option<RemoteOutcome> {
    let options = Options { kind: OperationKind::Refresh, out: None, generate: None, approver: None, plan_file: None };
    let mut request = request.clone();
    request.plan.scope.mode = Mode::RefreshOnly;
    request.plan.scope.refresh = Refresh::All;
    run(setup, &request, options, listener).await
}

/// An error if operations of the workspace run on the service, which this program cannot ask for queries.
pub async fn refuse_query(setup: &Setup) -> Diagnostics {
    let detail = format!(
        "Operations of this workspace run on HCP Terraform or Terraform Enterprise. {PROGRAM} runs queries only on this machine: set \
         the execution mode of the workspace to local, or use a working directory with another backend."
    );
    refuse(setup, &StateOptions::default(), Diagnostic::error("Remote queries are not supported", detail)).await
}

/// An error if operations of the workspace run on the service: a plan would be a run there, which others see.
pub async fn refuse_explanation(setup: &Setup, options: &StateOptions) -> Diagnostics {
    let detail = "Operations of this workspace run on HCP Terraform or Terraform Enterprise, so that a new plan would be a run there. \
                  Set the execution mode of the workspace to local, or explain a saved plan of another backend with -plan=FILE.";
    refuse(setup, options, Diagnostic::error("Remote plans cannot be explained", detail)).await
}

async fn refuse(setup: &Setup, options: &StateOptions, error: Diagnostic) -> Diagnostics {
    match place(setup, options).await {
        Ok(None) => Diagnostics::new(),
        Ok(Some(_)) => error.into(),
        Err(diagnostics) => diagnostics,
    }
}

/// The options of a command that other commands do not have.
struct Options {
    kind: OperationKind,
    /// Where to write the bookmark of a plan that the service saves.
    out: Option<PathBuf>,
    /// Where to write the configuration of imports that have none.
    generate: Option<PathBuf>,
    /// None: the plan is approved in advance.
    approver: Option<Arc<dyn Ask>>,
    plan_file: Option<PathBuf>,
}

/// Why an operation ended early.
enum Ended {
    Interrupted,
    /// The run did not start within `-lock-timeout`.
    LockTimeout,
    Failed(Diagnostics),
}

impl From<Diagnostics> for Ended {
    fn from(problems: Diagnostics) -> Ended {
        Ended::Failed(problems)
    }
}

impl From<Diagnostic> for Ended {
    fn from(problem: Diagnostic) -> Ended {
        Ended::Failed(problem.into())
    }
}

fn error(summary: impl Into<String>, detail: impl Into<String>) -> Ended {
    Diagnostic::error(summary, detail).into()
}

/// An operation that runs on the service.
struct Operation<'a> {
    setup: &'a Setup,
    request: &'a OperationRequest,
    options: Options,
    listener: &'a Arc<dyn Listener>,
    hcp: &'a Hcp,
    workspace: Workspace,
    /// The ID of the run, once it was created.
    started: OnceLock<String>,
}

/// The backend and its workspace, if operations run on the service.
async fn place(setup: &Setup, options: &StateOptions) -> Result<Option<(Arc<OpenBackend>, Workspace)>, Diagnostics> {
    // Most commands return here, without reading the configuration.
    let recorded = backends::open::recorded(setup)?;
    let is_hcp =
        |record: &BackendRecord| record.provider.is_none() && matches!(record.kind.as_str(), "cloud" | "remote");
    if !recorded.as_ref().is_some_and(is_hcp) {
        return Ok(None);
    }
    let Some(record) = read_state::record(setup).await? else { return Ok(None) };
    let backend = backends::open::backend_of(setup, Some(&record), options).await?;
    let Some(hcp) = backend.hcp().filter(|hcp| !hcp.force_local) else { return Ok(None) };
    let name = &setup.workdir.workspace;
    let found = hcp.workspace(name).await.map_err(|e| unexpected(hcp, &e))?;
    match found {
        None => Err(missing(hcp, name)),
        Some(found) if found.runs_locally() => Ok(None),
        Some(found) => Ok(Some((backend, found))),
    }
}

/// Operations do not start for such reasons.
const NOT_STARTED: &str = "error starting operation: ";

fn unexpected(hcp: &Hcp, error: &ApiError) -> Diagnostics {
    let text = match hcp.flavor {
        Flavor::Cloud => format!("{NOT_STARTED}{} returned an unexpected error:\n\n{error}", hcp.app_name),
        Flavor::Remote => {
            format!("{NOT_STARTED}the configured \"remote\" backend encountered an unexpected error:\n\n{error}")
        }
    };
    Diagnostic::error(text, "").into()
}

fn missing(hcp: &Hcp, name: &str) -> Diagnostics {
    let why = match hcp.flavor {
        Flavor::Cloud => not_found(hcp),
        Flavor::Remote => {
            "The configured \"remote\" backend returns '404 Not Found' errors for resources\nthat do not exist, as well as for \
             resources that a user doesn't have access\nto. If the resource does exist, please check the rights for the used token"
                .to_owned()
        }
    };
    Diagnostic::error(format!("{NOT_STARTED}workspace {name} not found\n\n{why}"), "").into()
}

fn not_found(hcp: &Hcp) -> String {
    format!(
        "For security, {} returns '404 Not Found' responses for resources\nfor resources that a user doesn't have access to, in \
         addition to resources that\ndo not exist. If the resource does exist, please check the permissions of the provided token.",
        hcp.app_name
    )
}

async fn run(
    setup: &Setup,
    request: &OperationRequest,
    options: Options,
    listener: &Arc<dyn Listener>,
) -> Option<RemoteOutcome> {
    let (backend, workspace) = match place(setup, &request.state).await {
        Ok(place) => place?,
        Err(diagnostics) => return Some(RemoteOutcome { failed: true, diagnostics, ..RemoteOutcome::default() }),
    };
    let hcp = backend.hcp()?;
    let operation = Operation { setup, request, options, listener, hcp, workspace, started: OnceLock::new() };
    let work = operation.carry_out();
    let done = tokio::select! {
        done = work => done,
        () = setup.stop.stopping() => Err(Ended::Interrupted),
    };
    Some(operation.outcome(done).await)
}

impl Operation<'_> {
    async fn carry_out(&self) -> Result<(), Ended> {
        match self.options.kind {
            OperationKind::Plan => self.run_plan().await,
            OperationKind::Apply => self.run_apply().await,
            OperationKind::Refresh if self.hcp.flavor == Flavor::Remote => {
                let text = format!(
                    "{NOT_STARTED}\n\nThe \"refresh\" operation is not supported when using the \"remote\" backend. Use \"{COMMAND} \
                     apply -refresh-only\" instead."
                );
                Err(error(text, ""))
            }
            OperationKind::Refresh => {
                let template = "[bold][yellow]Proceeding with '{} apply -refresh-only -auto-approve'.[reset]\n";
                self.say(template, &[&COMMAND.to_string()]);
                self.run_apply().await
            }
        }
    }

    /// The result after the work ended. A run that was interrupted may be canceled.
    async fn outcome(&self, done: Result<(), Ended>) -> RemoteOutcome {
        let planned = done.is_ok() && self.options.kind == OperationKind::Plan && self.hcp.flavor == Flavor::Cloud;
        let mut outcome = RemoteOutcome { planned, ..RemoteOutcome::default() };
        let ended = match done {
            Err(Ended::Failed(diagnostics)) => return RemoteOutcome { failed: true, diagnostics, ..outcome },
            other => other.err(),
        };
        outcome.failed = ended.is_some();
        let Some(id) = self.started.get() else { return outcome };
        let run = match self.hcp.run(id).await {
            Ok(run) => run,
            Err(e) => {
                outcome.failed = true;
                outcome.diagnostics.push(self.general("Failed to retrieve run", &e));
                return outcome;
            }
        };
        outcome.has_changes = run.has_changes;
        outcome.failed |= run.has_failed();
        let canceled = match ended {
            // A plan changes nothing: it goes on without the command.
            Some(Ended::Interrupted) if self.applies() => self.cancel(&run, self.options.approver.as_ref()).await,
            Some(Ended::LockTimeout) => self.cancel(&run, None).await,
            _ => Ok(()),
        };
        outcome.diagnostics.extend(canceled.err());
        outcome
    }

    /// Cancels a run, if the user agrees. Without an approver, there is no question.
    async fn cancel(&self, run: &Run, approver: Option<&Arc<dyn Ask>>) -> Result<(), Diagnostic> {
        if !run.is_cancelable {
            return Ok(());
        }
        match approver {
            Some(approver) => {
                let question = Question {
                    title: "Do you want to cancel the remote operation?".to_owned(),
                    text: "Only 'yes' will be accepted to cancel.".to_owned(),
                    apart: true,
                    after_stop: true,
                    ..Question::default()
                };
                if !approver.ask(&question).await.is_ok_and(|answer| answer == "yes") {
                    self.say("[reset][red]The remote operation was not cancelled.[reset]", &[]);
                    return Ok(());
                }
            }
            None => self.say("", &[]),
        }
        self.hcp.act_on_run(&run.id, "cancel").await.map_err(|e| self.general("Failed to cancel run", &e))?;
        self.say("[reset][red]The remote operation was successfully cancelled.[reset]", &[]);
        Ok(())
    }

    /// Shows a line of this program: a template, and what stands for each `{}` in it.
    fn say(&self, template: &str, arguments: &[&str]) {
        self.listener.remote(RemoteLine::Own { template, arguments });
    }

    /// The error for a failed request.
    fn general(&self, what: &str, error: &ApiError) -> Diagnostic {
        let detail = match (error.is_not_found(), self.hcp.flavor) {
            (true, Flavor::Cloud) => not_found(self.hcp),
            (true, Flavor::Remote) => "The configured \"remote\" backend returns '404 Not Found' errors for resources that do not exist, \
                                       as well as for resources that a user doesn't have access to. If the resource does exist, please \
                                       check the rights for the used token."
                .to_owned(),
            (false, flavor) => {
                let who = match flavor {
                    Flavor::Cloud => format!("{} returned", self.hcp.app_name),
                    Flavor::Remote => "The configured \"remote\" backend encountered".to_owned(),
                };
                format!(
                    "{who} an unexpected error. Sometimes this is caused by network connection problems, in which case you could \
                     retry the command. If the issue persists please open a support ticket to get help resolving the problem."
                )
            }
        };
        Diagnostic::error(format!("{what}: {error}"), detail)
    }

    fn failed(&self, what: &str) -> impl Fn(ApiError) -> Ended {
        let what = what.to_owned();
        move |error| self.general(&what, &error).into()
    }

    async fn read(&self, run: &str) -> Result<Run, Ended> {
        self.hcp.run(run).await.map_err(self.failed("Failed to retrieve run"))
    }

    /// The address of a run in the web interface.
    fn run_url(&self, run: &str) -> String {
        let (host, organization) = (&self.hcp.hostname, self.hcp.organization());
        format!("https://{host}/app/{organization}/{}/runs/{run}", self.workspace.name)
    }

    /// Whether the run is applied after its plan.
    fn applies(&self) -> bool {
        self.options.kind != OperationKind::Plan
    }
}

/// A line between two parts of the output.
const RULE: &str = "------------------------------------------------------------------------";

/// The pause before a request for the state of a run, after so many such requests.
fn pause(turn: u32) -> Duration {
    backoff(turn, 1000.0, 3000.0)
}

/// A pause in milliseconds that grows from the first to the longest.
fn backoff(turn: u32, first: f64, longest: f64) -> Duration {
    let millis = first * 2f64.powf(f64::from(turn.min(50)) / 5.0);
    Duration::from_millis(millis.min(longest) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit() {
        assert_eq!((pause(0), pause(60)), (Duration::from_secs(1), Duration::from_secs(3)));
    }
}
