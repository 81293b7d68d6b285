//! Policies that a plan could not decide on: evaluated before the provider is asked to make a change, and at the end of the apply if they
//! depend on what the change makes.

use std::sync::Arc;

use base::diag::Diagnostics;
use model::config::policy_file::{Policy, PolicyOperation, SetFile};
use model::plan::{PolicyReport, PolicyVerdict, ResourceChange, policy_id};
use rustc_hash::FxHashSet;
use terrane_value::Value;

use super::at_plan::findings;
use super::judge::Judge;
use super::run_data::RunData;
use super::target::PolicyTarget;
use super::targets;
use crate::event::Event;
use crate::ids::{ModuleId, ProviderId};
use crate::run::Run;
use crate::run::object::decode;

/// Evaluates the policies of a change that is about to be made. An error keeps it from being made.
pub fn before_change(run: &Run, change: &ResourceChange, operation: PolicyOperation) -> Diagnostics {
    let Some(target) = is_active(run).then(|| targets::of_change(run, change, operation)).flatten() else {
        return Diagnostics::new();
    };
    let Some(report) = report(run, &target) else { return Diagnostics::new() };
    if operation != PolicyOperation::Delete && is_unknown(&report) {
        run.results.policy_notes().undecided.push(change.addr.clone());
    }
    publish(run, report)
}

/// Notes that the planned change of an object was made, so that policies see the object as it is.
pub fn after_change(run: &Run, change: &ResourceChange) {
    if is_active(run) {
        run.results.policy_notes().applied.insert(change.addr.clone());
    }
}

/// Evaluates the policies of a provider configuration in an apply. An error keeps the provider from being configured. In a plan, the
/// value is kept for the end of the plan.
pub fn before_configuring(run: &Run, id: ProviderId, config: &Value) -> Diagnostics {
    if run.inputs.scope.policies.is_empty() {
        return Diagnostics::new();
    }
    if run.is_plan() {
        run.results.policy_notes().provider_configs.insert(id, config.clone());
    }
    if !is_active(run) {
        return Diagnostics::new();
    }
    let target = targets::of_provider(run, id, config.clone());
    report(run, &target).map_or_else(Diagnostics::new, |report| publish(run, report))
}

/// Evaluates the policies of the instances of a module whose variables all have values in an apply. An error keeps from being used what
/// was evaluated last.
pub fn with_variables(run: &Run, module: ModuleId) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    if !is_active(run) {
        return diagnostics;
    }
    for instance in run.results.module_instances(module) {
        if instance.variables.iter().all(|slot| slot.get().is_some()) {
            let target = targets::of_module(run, module, instance);
            if let Some(report) = report(run, &target) {
                diagnostics.extend(publish(run, report));
            }
        }
    }
    diagnostics
}

/// Evaluates, with the objects as they are now, what depended on their changes.
pub fn at_end(run: &Run) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let mut undecided: FxHashSet<_> = std::mem::take(&mut run.results.policy_notes().undecided).into_iter().collect();
    for task in &run.schedule.tasks {
        let operation = targets::operations(task.change.action).first().copied();
        let Some(operation) = operation.filter(|it| *it != PolicyOperation::Delete) else { continue };
        // A replacement has two tasks.
        let is_open = task.change.deposed.is_none() && undecided.remove(&task.change.addr);
        let Some(made) = is_open.then(|| as_made(run, &task.change)).flatten() else { continue };
        let Some(target) = targets::of_change(run, &made, operation) else { continue };
        if let Some(report) = report(run, &target) {
            diagnostics.extend(publish(run, report));
        }
    }
    diagnostics
}

/// The change with the object that it made. None if there is no object.
fn as_made(run: &Run, change: &ResourceChange) -> Option<ResourceChange> {
    let schema = run.blocks.schemas.resource(&change.provider.provider, &change.addr.resource.resource)?;
    let object = run.results.states().current.instance(&change.addr)?.current.clone()?;
    let mut made = change.clone();
    made.change.after = decode(&object, &schema).ok()?.value;
    Some(made)
}

/// True in an apply with policies.
fn is_active(run: &Run) -> bool {
    run.is_apply() && !run.inputs.scope.policies.is_empty()
}

fn is_unknown(report: &PolicyReport) -> bool {
    report.outcomes.iter().any(|outcome| outcome.verdict == PolicyVerdict::Unknown)
}

/// The results of those policies that the plan could not decide on, and of those that were given after the plan was made.
fn report(run: &Run, target: &PolicyTarget) -> Option<PolicyReport> {
    let policies = run.inputs.scope.policies.clone();
    let is_wanted = |file: &SetFile, policy: &Policy| {
        let id = policy_id(file.file.path(), &policy.address());
        file.is_late || run.inputs.undecided_policies.contains(&(target.address.clone(), id))
    };
    let data = RunData { run, plan: None };
    Judge::new(&policies, &data, &*run.ports.host).report(target, is_wanted)
}

/// Reports what is decided. What is still unknown was said of the plan, or is evaluated at the end.
fn publish(run: &Run, mut report: PolicyReport) -> Diagnostics {
    report.outcomes.retain(|outcome| outcome.verdict != PolicyVerdict::Unknown);
    let diagnostics = findings(&report);
    if !report.outcomes.is_empty() {
        run.ports.observer.event(Event::PolicyResult(Arc::new(report)));
    }
    diagnostics
}
