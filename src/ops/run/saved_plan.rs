//! Opening a session for a plan that was saved: its own configuration, its backend, the state under its lock.

use std::path::Path;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::{COMMAND, PROGRAM};
use base::source::SourceFile;
use engine::Facts;
use model::deps::Requirements;
use model::deps::lock::{LOCK_FILE, Lock};
use model::lint;
use model::plan::Mode;
use model::plan::file::SavedPlan;
use model::state::StateMeta;

use super::session::{PreparedApply, Session};
use super::{deny, plan_file};
use crate::backends;
use crate::backends::held::{self, HeldAccess};
use crate::backends::record::BackendRecord;
use crate::configuration::{load, variables};
use crate::interface::listen::Listener;
use crate::interface::requests::{OperationKind, OperationRequest};
use crate::plugins::factories::Factories;
use crate::plugins::packages;
use crate::policies;
use crate::setup::Setup;

/// Opens what the plan in a file needs. The plan must be complete, and the state the one that it was made from.
pub(super) async fn open(
    setup: &Setup,
    path: &Path,
    request: &OperationRequest,
    listener: Arc<dyn Listener>,
) -> Result<PreparedApply, Diagnostics> {
    let setup = &setup.with_variables(&request.variables);
    let mut saved = plan_file::read(setup, path).await?;
    let mut diagnostics = Diagnostics::new();
    check_workspace(setup, &saved)?;
    let files = plan_file::files(setup, &saved);
    let (loaded, found) = load::planned_config(setup, &*files, &saved.plan.variables);
    diagnostics.extend(found);
    let Some(loaded) = loaded.filter(|_| !diagnostics.has_errors()) else { return Err(diagnostics) };
    listener.configured(&loaded.config);
    let collected = diagnostics.take(variables::collect(setup, &request.variables));
    let given = diagnostics.take(variables::with_plan(&collected, &loaded.config.root, &saved.plan));
    let late = diagnostics.take(policies::load::of_run(setup, &request.plan.policies));
    Arc::make_mut(&mut saved.plan.scope.policies).add_late(late);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let backend = saved.backend.clone();
    let record = BackendRecord { kind: backend.kind, config: backend.config, hash: 0, provider: backend.provider };
    let opened = backends::open::open_record(setup, Some(&record), &request.state, &saved.backend.workspace).await?;
    let requirements = diagnostics.take(Requirements::of_config(&loaded.config));
    let found = packages::resolve_planned(setup, &requirements, &planned_lock(&saved)?)?;
    diagnostics.extend(found.warnings);
    let purpose = OperationKind::Apply.lock_purpose();
    let access = HeldAccess::Change(&*listener);
    let mut held = held::hold(&opened.store, purpose, &request.state, setup, access).await?;
    diagnostics.extend(std::mem::take(&mut held.loaded.warnings));
    let state = held.loaded.file.as_ref().map(|file| &file.meta);
    if let Err(problems) = check_state(&saved, state).and_then(|()| check_complete(&saved)) {
        diagnostics.extend(problems);
        diagnostics.extend(held.release().await);
        return Err(diagnostics);
    }
    let factories = Factories::new(setup, found.origins, found.provisioner_programs);
    factories.start_early(requirements.0.keys().cloned());
    if let Err(problems) = plan_file::decode_with(&mut saved, &factories).await {
        diagnostics.extend(problems);
        factories.shutdown().await;
        diagnostics.extend(held.release().await);
        return Err(diagnostics);
    }
    let denied = deny::check(&mut saved.plan, &loaded.config, &request.plan.deny);
    if denied.has_errors() {
        diagnostics.extend(denied);
        factories.shutdown().await;
        diagnostics.extend(held.release().await);
        return Err(diagnostics);
    }
    if saved.plan.scope.mode != Mode::Destroy {
        diagnostics.extend(lint::check(&loaded.config.root, &request.plan.lint));
    }
    let session = Session {
        setup: setup.clone(),
        facts: Facts::of(loaded.config),
        snapshot: loaded.snapshot,
        opened,
        held,
        factories,
        listener,
    };
    let planned = session.planned(saved.plan).await;
    Ok(PreparedApply { session, planned, variables: given, diagnostics })
}

fn check_workspace(setup: &Setup, saved: &SavedPlan) -> Result<(), Diagnostics> {
    let (planned, current) = (&saved.backend.workspace, &setup.workdir.workspace);
    if planned == current {
        return Ok(());
    }
    let mut problem = Diagnostic::error(
        format!(
            "The plan file describes changes to the {planned:?} workspace, but the {current:?} workspace is currently in \
             use.\n\nApplying this plan with the incorrect workspace selected could result in state being stored in an unexpected \
             location, or a downstream error when {PROGRAM} attempts apply a plan using the other workspace's state. If you'd like to \
             continue to use the plan file, you must run \"{COMMAND} workspace select {planned}\" to select the matching \
             workspace.\nIn future make sure the selected workspace is not changed between creating and applying a plan file.\n"
        ),
        "",
    );
    problem.prose_summary = true;
    Err(problem.into())
}

/// The lock file that the plan was made with; empty if there was none.
fn planned_lock(saved: &SavedPlan) -> Result<Lock, Diagnostics> {
    let text = saved.lock.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
    let (lock, diagnostics) = Lock::parse(SourceFile::new(LOCK_FILE, text.into_owned()));
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(lock) }
}

/// A plan that failed shows only what was planned until then.
fn check_complete(saved: &SavedPlan) -> Result<(), Diagnostics> {
    if !saved.plan.denied_by.is_empty() {
        return Err(deny::refused(&saved.plan.denied_by).into());
    }
    if !saved.plan.errored {
        return Ok(());
    }
    Err(Diagnostic::error(
        "Cannot apply incomplete plan",
        format!("{PROGRAM} encountered an error when generating this plan, so it cannot be applied."),
    )
    .into())
}

/// The state must be the one that the plan was made from.
fn check_state(saved: &SavedPlan, now: Option<&StateMeta>) -> Result<(), Diagnostics> {
    let (lineage, serial) = now.map_or(("", 0), |meta| (meta.lineage.as_str(), meta.serial));
    if !saved.state.lineage.is_empty() && !lineage.is_empty() && saved.state.lineage != lineage {
        return Err(Diagnostic::error(
            "Saved plan does not match the given state",
            "The given plan file can not be applied because it was created from a different state lineage.",
        )
        .into());
    }
    if saved.state.serial != serial {
        return Err(Diagnostic::error(
            "Saved plan is stale",
            "The given plan file can no longer be applied because the state was changed by another operation after the plan was created.",
        )
        .into());
    }
    Ok(())
}
