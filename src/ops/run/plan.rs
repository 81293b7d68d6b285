//! `plan` on this machine: shows a plan and optionally saves it.

use std::sync::Arc;

use base::diag::Diagnostics;

use super::open::{self, OpenSession};
use super::plan_file;
use crate::configuration::generated_file;
use crate::interface::listen::Listener;
use crate::interface::planning::Planned;
use crate::interface::requests::{OperationKind, PlanRequest};
use crate::setup::Setup;

pub(super) async fn run(
    setup: &Setup,
    request: &PlanRequest,
    listener: &Arc<dyn Listener>,
) -> (Option<Planned>, Diagnostics) {
    open::show_linting(&request.operation.plan, &**listener);
    open::show_overrides(setup, &**listener);
    setup.restart.repeated(|| attempt(setup, request, listener)).await
}

async fn attempt(setup: &Setup, request: &PlanRequest, listener: &Arc<dyn Listener>) -> (Option<Planned>, Diagnostics) {
    let opened = open::open_session(setup, &request.operation, OperationKind::Plan, listener.clone()).await;
    let OpenSession { session, collected, mut diagnostics } = match opened {
        Ok(opened) => opened,
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
    let (planned, _, found) = session.plan(&options, &collected).await;
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
