//! Planning and applying. The functions here decide where an operation runs: on HCP Terraform, or here, where [`open`] prepares
//! configuration, state and plugins in a [`session`]; `plan` shows a plan and optionally saves it (`plan_file`); `apply` carries
//! it out, or one that was saved (`saved_plan`), `sink` records the results, `tracker` what was done, and `save` what is left at
//! the end; `import` is an apply of one object.
//!
//! Never decides the content of a plan: the engine does that.

pub mod apply;
mod approval;
mod deny;
mod event_log;
pub mod import;
pub mod open;
pub mod plan;
pub mod plan_file;
pub mod query;
pub mod refresh;
mod save;
mod saved_plan;
pub mod session;
pub(crate) mod sink;
mod tracker;

use std::sync::Arc;

use base::diag::Diagnostics;

use self::apply::Applied;
use self::query::{ListedResults, QueryRequest};
use crate::hcp::{self, RemoteOutcome};
use crate::interface::listen::Listener;
use crate::interface::planning::Planned;
use crate::interface::requests::{ApplyRequest, OperationRequest, PlanRequest};
use crate::setup::Setup;

/// The result of an operation, by where it ran.
pub enum RunOutcome<T> {
    Here(T, Diagnostics),
    /// On HCP Terraform, where operations of the workspace run.
    Remote(RemoteOutcome),
}

impl<T> RunOutcome<T> {
    fn here((result, diagnostics): (T, Diagnostics)) -> RunOutcome<T> {
        RunOutcome::Here(result, diagnostics)
    }
}

/// Plans. The plan is shown through the listener; it is given back, if there is one, with all that is left to say.
pub async fn plan(setup: &Setup, request: &PlanRequest, listener: &Arc<dyn Listener>) -> RunOutcome<Option<Planned>> {
    match hcp::plan(setup, request, listener).await {
        Some(outcome) => RunOutcome::Remote(outcome),
        None => RunOutcome::here(plan::run(setup, request, listener).await),
    }
}

/// As [`plan()`], for commands that need the plan itself: an error if operations of the workspace run on HCP Terraform.
pub async fn plan_here(
    setup: &Setup,
    request: &PlanRequest,
    listener: &Arc<dyn Listener>,
) -> (Option<Planned>, Diagnostics) {
    let refused = hcp::refuse_explanation(setup, &request.operation.state).await;
    match refused.has_errors() {
        true => (None, refused),
        false => plan::run(setup, request, listener).await,
    }
}

/// Applies. On errors the state holds what was done until then.
pub async fn apply(setup: &Setup, request: &ApplyRequest, listener: &Arc<dyn Listener>) -> RunOutcome<Applied> {
    match hcp::apply(setup, request, listener).await {
        Some(outcome) => RunOutcome::Remote(outcome),
        None => RunOutcome::here(apply::run(setup, request, listener).await),
    }
}

/// Brings the state up to date; nothing is shown or asked.
pub async fn refresh(setup: &Setup, request: &OperationRequest, listener: &Arc<dyn Listener>) -> RunOutcome<Applied> {
    match hcp::refresh(setup, request, listener).await {
        Some(outcome) => RunOutcome::Remote(outcome),
        None => RunOutcome::here(refresh::run(setup, request, listener).await),
    }
}

/// Runs the lists. Each one is shown through the listener when it is complete; the results of those that succeeded are given
/// back. An error if operations of the workspace run on HCP Terraform.
pub async fn query(
    setup: &Setup,
    request: &QueryRequest,
    listener: &Arc<dyn Listener>,
) -> (ListedResults, Diagnostics) {
    let refused = hcp::refuse_query(setup).await;
    match refused.has_errors() {
        true => (ListedResults::new(), refused),
        false => query::run(setup, request, listener).await,
    }
}
