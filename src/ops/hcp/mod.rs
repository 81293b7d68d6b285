//! Operations on machines of HCP Terraform: a configuration is uploaded, a run is started and followed.
//!
//! Owns which operations run there, and what people see and answer meanwhile. The service's interface is
//! [`crate::backend::hcp`]. Never plans or applies here.

mod apply;
mod checks;
mod ignore;
mod plan;
mod saved;
mod slug;

use std::path::PathBuf;
use std::sync::Arc;

use crate::backend::Backend;
use crate::backend::hcp::{ApiError, Flavor, Hcp, Run, Workspace};
use crate::base::diag::{Diagnostic, Diagnostics};
use crate::model::plan::Mode;
use crate::ops::backends::{self, read_state};
use crate::ops::interface::ask::Ask;
use crate::ops::interface::listen::{Listener, RemoteLine};
use crate::ops::run::apply::ApplyRequest;
use crate::ops::run::operation::Request;
use crate::ops::run::plan::PlanRequest;
use crate::ops::setup::Setup;

pub use saved::{ShownRun, show};

/// What became of an operation.
#[derive(Debug, Default)]
pub struct Outcome {
    /// There are changes to apply.
    pub has_changes: bool,
    /// The run failed, or was canceled; the log says why.
    pub failed: bool,
    pub diagnostics: Diagnostics,
}

/// Plans, if operations of the workspace run there. None: they run here.
pub async fn plan(setup: &Setup, request: &PlanRequest, listener: &Arc<dyn Listener>) -> Option<Outcome> {
    let options = Options {
        verb: Verb::Plan,
        out: request.out.clone(),
        generate: request.generate.clone(),
        approver: None,
        plan_file: None,
    };
    run(setup, &request.operation, options, listener).await
}

/// Plans and applies, or applies a plan that was saved there. None: operations run here.
pub async fn apply(setup: &Setup, request: &ApplyRequest, listener: &Arc<dyn Listener>) -> Option<Outcome> {
    let options = Options {
        verb: Verb::Apply,
        out: None,
        generate: None,
        approver: request.approver.clone(),
        plan_file: request.plan_file.clone(),
    };
    run(setup, &request.operation, options, listener).await
}

/// `refresh` is a plan that is applied without a question.
pub async fn refresh(setup: &Setup, request: &Request, listener: &Arc<dyn Listener>) -> Option<Outcome> {
    let options = Options { verb: Verb::Refresh, out: None, generate: None, approver: None, plan_file: None };
    let mut request = request.clone();
    request.plan.mode = Mode::RefreshOnly;
    request.plan.refresh = true;
    run(setup, &request, options, listener).await
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Plan,
    Apply,
    Refresh,
}

/// What is asked for besides what all operations are asked for.
struct Options {
    verb: Verb,
    /// Where to note the run whose plan may be applied later.
    out: Option<PathBuf>,
    /// Where to write the configuration of imports that have none.
    generate: Option<PathBuf>,
    /// None: approved already.
    approver: Option<Arc<dyn Ask>>,
    plan_file: Option<PathBuf>,
}

/// Why an operation ended early.
enum Ended {
    /// It was interrupted.
    Stopped,
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

/// An operation that runs there.
struct Operation<'a> {
    setup: &'a Setup,
    request: &'a Request,
    options: Options,
    listener: &'a Arc<dyn Listener>,
    hcp: &'a Hcp,
    workspace: Workspace,
    /// The run, once there is one.
    started: std::sync::OnceLock<String>,
}

/// The backend and its workspace, if operations run there.
async fn place(setup: &Setup, request: &Request) -> Result<Option<(Arc<dyn Backend>, Workspace)>, Diagnostics> {
    // Most commands end here, without a look at the configuration.
    let recorded = backends::recorded(setup)?;
    if !recorded.is_some_and(|record| matches!(record.kind.as_str(), "cloud" | "remote")) {
        return Ok(None);
    }
    let Some(record) = read_state::record(setup)? else { return Ok(None) };
    let backend = backends::backend_of(setup, Some(&record), &request.state).await?;
    let Some(hcp) = backend.hcp().filter(|hcp| !hcp.force_local) else { return Ok(None) };
    let name = &setup.workdir.workspace;
    let found = hcp.workspace(name).await.map_err(|e| unexpected(hcp, &e))?;
    match found {
        None => Err(missing(hcp, name)),
        Some(found) if found.runs_locally() => Ok(None),
        Some(found) => Ok(Some((backend, found))),
    }
}

fn unexpected(hcp: &Hcp, error: &ApiError) -> Diagnostics {
    let text = match hcp.flavor {
        Flavor::Cloud => format!("{} returned an unexpected error:\n\n{error}", hcp.app_name),
        Flavor::Remote => format!("the configured \"remote\" backend encountered an unexpected error:\n\n{error}"),
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
    Diagnostic::error(format!("workspace {name} not found\n\n{why}"), "").into()
}

fn not_found(hcp: &Hcp) -> String {
    format!(
        "For security, {} returns '404 Not Found' responses for resources\nfor resources that a user doesn't have access to, in \
         addition to resources that\ndo not exist. If the resource does exist, please check the permissions of the provided token.",
        hcp.app_name
    )
}

async fn run(setup: &Setup, request: &Request, options: Options, listener: &Arc<dyn Listener>) -> Option<Outcome> {
    let (backend, workspace) = match place(setup, request).await {
        Ok(place) => place?,
        Err(diagnostics) => return Some(Outcome { failed: true, diagnostics, ..Outcome::default() }),
    };
    let hcp = backend.hcp()?;
    let started = std::sync::OnceLock::new();
    let operation = Operation { setup, request, options, listener, hcp, workspace, started };
    let work = operation.carry_out();
    let done = tokio::select! {
        done = work => done,
        () = setup.stop.stopping() => Err(Ended::Stopped),
    };
    Some(operation.outcome(done).await)
}

impl Operation<'_> {
    async fn carry_out(&self) -> Result<(), Ended> {
        match self.options.verb {
            Verb::Plan => self.plan_to_end().await,
            Verb::Apply => self.apply_to_end().await,
            Verb::Refresh if self.hcp.flavor == Flavor::Remote => Err(error(
                "\n\nThe \"refresh\" operation is not supported when using the \"remote\" backend. Use \"terraform apply \
                 -refresh-only\" instead.",
                "",
            )),
            Verb::Refresh => {
                self.say("[bold][yellow]Proceeding with 'terraform apply -refresh-only -auto-approve'.[reset]\n", &[]);
                self.apply_to_end().await
            }
        }
    }

    /// What became of it; a run that was interrupted may be canceled.
    async fn outcome(&self, done: Result<(), Ended>) -> Outcome {
        let mut outcome = Outcome::default();
        let stopped = match done {
            Ok(()) => false,
            Err(Ended::Stopped) => true,
            Err(Ended::Failed(problems)) => {
                outcome.failed = true;
                outcome.diagnostics = problems;
                return outcome;
            }
        };
        outcome.failed = stopped;
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
        if stopped && let Err(problem) = self.cancel(&run).await {
            outcome.diagnostics.push(problem);
        }
        outcome
    }

    async fn cancel(&self, run: &Run) -> Result<(), Diagnostic> {
        if !run.is_cancelable {
            return Ok(());
        }
        match &self.options.approver {
            Some(somebody) => {
                let question = crate::ops::interface::ask::Question {
                    title: "Do you want to cancel the remote operation?".to_owned(),
                    text: "Only 'yes' will be accepted to cancel.".to_owned(),
                    apart: true,
                    after_stop: true,
                    ..Default::default()
                };
                if !somebody.ask(&question).await.is_ok_and(|answer| answer == "yes") {
                    self.say("[reset][red]The remote operation was not cancelled.[reset]", &[]);
                    return Ok(());
                }
            }
            None if self.options.verb == Verb::Plan => {
                // A plan changes nothing, and there is no prompt.
            }
            None => self.say("", &[]),
        }
        self.hcp.act_on_run(&run.id, "cancel").await.map_err(|e| self.general("Failed to cancel run", &e))?;
        self.say("[reset][red]The remote operation was successfully cancelled.[reset]", &[]);
        Ok(())
    }

    /// Shows a line of this program's.
    fn say(&self, template: &str, arguments: &[&str]) {
        self.listener.remote(RemoteLine::Own { template, arguments });
    }

    /// What is wrong where a request failed.
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

    /// Where people see a run.
    fn run_url(&self, run: &str) -> String {
        let (host, organization) = (&self.hcp.hostname, self.hcp.organization());
        format!("https://{host}/app/{organization}/{}/runs/{run}", self.workspace.name)
    }
}

/// A line between two parts of what is shown.
const RULE: &str = "\n------------------------------------------------------------------------\n";

/// The pause before the next look at something that is worked on.
fn pause(turn: u32) -> std::time::Duration {
    let millis = 1000.0 * 2f64.powf(f64::from(turn.min(50)) / 5.0);
    std::time::Duration::from_millis(millis.min(3000.0) as u64)
}
