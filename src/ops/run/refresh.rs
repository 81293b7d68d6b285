//! `refresh` on this machine: the state is brought up to date, nothing is shown or asked.

use std::sync::Arc;

use base::diag::Diagnostics;
use model::plan::Mode;
use terrane_protocol::schema::ResourceMode;

use super::apply::Applied;
use super::open::{self, OpenSession};
use super::save;
use crate::interface::listen::Listener;
use crate::interface::requests::{OperationKind, OperationRequest};
use crate::setup::Setup;

pub(super) async fn run(
    setup: &Setup,
    request: &OperationRequest,
    listener: &Arc<dyn Listener>,
) -> (Applied, Diagnostics) {
    open::show_linting(&request.plan, &**listener);
    setup.restart.repeated(|| attempt(setup, request, listener)).await
}

async fn attempt(setup: &Setup, request: &OperationRequest, listener: &Arc<dyn Listener>) -> (Applied, Diagnostics) {
    let opened = open::open_session(setup, request, OperationKind::Refresh, listener.clone()).await;
    let OpenSession { mut session, collected, mut diagnostics } = match opened {
        Ok(opened) => opened,
        Err(diagnostics) => return (Applied::default(), diagnostics),
    };
    if !session.state().instances().any(|(addr, ..)| addr.mode() == ResourceMode::Managed) {
        diagnostics.warning(
            "Empty or non-existent state",
            "There are currently no remote objects tracked in the state, so there is nothing to refresh.",
        );
    }
    let (planned, _, found) = session.plan(&request.plan, &collected).await;
    let failed = found.has_errors();
    diagnostics.extend(found);
    let mut applied = Applied { mode: Mode::RefreshOnly, ..Applied::default() };
    if let Some(planned) = planned.filter(|_| !failed && !setup.restart.get()) {
        match session.take_up_journal(&mut diagnostics).await {
            Ok(()) => diagnostics.extend(save::write_unapplied(&session, &planned.plan.prior_state).await),
            Err(problems) => diagnostics.extend(problems),
        }
        applied.state = Some(planned.plan.prior_state.clone());
    }
    diagnostics.extend(session.end().await);
    (applied, diagnostics)
}
