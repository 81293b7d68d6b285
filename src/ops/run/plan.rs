//! `plan`: shows a plan and optionally saves it.

use std::path::PathBuf;
use std::sync::Arc;

use base::diag::Diagnostics;

use super::operation::{self, OperationKind, OperationRequest};
use super::{generated_file, plan_file};
use crate::interface::listen::Listener;
use crate::interface::planning::Planned;
use crate::setup::Setup;

#[derive(Clone, Debug, Default)]
pub struct PlanRequest {
    pub operation: OperationRequest,
    /// Where to keep the plan.
    pub out: Option<PathBuf>,
    /// Where to write the configuration of imports that have none: a new file.
    pub generate: Option<PathBuf>,
}

/// Plans. The plan is shown through the listener; it is given back, if there is one, with all that is left to say.
pub async fn run(setup: &Setup, request: &PlanRequest, listener: Arc<dyn Listener>) -> (Option<Planned>, Diagnostics) {
    operation::show_linting(&request.operation.plan, &*listener);
    operation::show_overrides(setup, &*listener);
    loop {
        let planned = attempt(setup, request, listener.clone()).await;
        if !setup.restart.take() {
            return planned;
        }
    }
}

async fn attempt(setup: &Setup, request: &PlanRequest, listener: Arc<dyn Listener>) -> (Option<Planned>, Diagnostics) {
    let begun =
        operation::open_session(setup, &request.operation, operation::PLAN, OperationKind::Plan, listener.clone())
            .await;
    let (session, mut diagnostics) = match begun {
        Ok(begun) => begun,
        Err(diagnostics) => return (None, diagnostics),
    };
    let mut options = request.operation.plan.clone();
    if let Some(path) = &request.generate {
        if path.exists() {
            diagnostics.extend(session.end().await);
            diagnostics.push(generated_file::exists());
            return (None, diagnostics);
        }
        options.scope.generate_config = true;
    }
    let (planned, _, found) = session.plan(&options).await;
    diagnostics.extend(match (&request.generate, &planned) {
        (Some(path), Some(planned)) => generated_file::located(found, path, &planned.plan),
        _ => found,
    });
    if let Some(planned) = planned.as_ref().filter(|_| !setup.restart.get()) {
        if let Some(path) = &request.generate {
            diagnostics.extend(generated_file::write(path, &planned.plan));
        }
        if let Some(path) = &request.out {
            diagnostics.extend(plan_file::write(path, &session, planned).await.unwrap_or_else(|problems| problems));
        }
        listener.planned(planned);
    }
    diagnostics.extend(session.end().await);
    (planned, diagnostics)
}
