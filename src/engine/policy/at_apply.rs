//! Policies that a plan could not decide on: evaluated before the provider is asked to make a change, and at the end of the apply if they
//! depend on what the change makes.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics, Severity};
use base::name::PROGRAM;
use model::addr::{AbsActionInstance, AbsResourceInstance, ModuleInstance};
use model::config::policy_file::{Policy, PolicyLevel, PolicyOperation, SetFile};
use model::plan::{Action, PolicyOutcome, PolicyReport, PolicyVerdict, ResourceChange, policy_id};
use rustc_hash::FxHashSet;
use terrane_protocol::schema::ResourceMode;
use terrane_value::Value;

use super::at_plan::findings;
use super::judge::{Judge, denied, left_undecided};
use super::run_data::RunData;
use super::target::PolicyTarget;
use super::targets;
use crate::engine_errors;
use crate::event::Event;
use crate::ids::{ModuleId, ProviderId, ROOT};
use crate::run::object::decode;
use crate::run::policy_notes::PolicyNotes;
use crate::run::results::ModuleSlots;
use crate::run::{Run, Verb};

const MODULE_DENIED: &str = "Module is denied";

/// Evaluates the policies of a change that is about to be made. An error keeps it from being made.
pub fn before_change(run: &Run, change: &ResourceChange, operation: PolicyOperation) -> Diagnostics {
    if let Some(error) = refused_with_module(run, &change.addr) {
        return error.into();
    }
    let Some(target) = is_active(run).then(|| targets::of_change(run, change, operation)).flatten() else {
        return Diagnostics::new();
    };
    let Some(report) = report(run, &target) else { return Diagnostics::new() };
    decide(run, report, |notes| match operation {
        PolicyOperation::Delete => notes.undecided_deletions.push(change.clone()),
        _ => notes.undecided.push(change.addr.clone()),
    })
}

/// As [`before_change`], for a deletion. `planned`: what it is a part of. A replacement that deletes first must be allowed to create, as far
/// as that is known: otherwise the object would be gone, and nothing would take its place.
pub fn before_deletion(run: &Run, planned: &ResourceChange, deletion: &ResourceChange) -> Diagnostics {
    if !is_active(run) {
        return Diagnostics::new();
    }
    // The plan knows the object of a replacement as the current one.
    let deletion = ResourceChange { deposed: planned.deposed.clone(), ..deletion.clone() };
    let mut diagnostics = before_change(run, &deletion, PolicyOperation::Delete);
    if planned.action == Action::DeleteThenCreate {
        let creation = targets::of_change(run, planned, PolicyOperation::Create);
        // Otherwise, the result is that of the creation.
        if let Some(report) = creation.and_then(|target| report(run, &target)).filter(denied) {
            diagnostics.extend(publish(run, report));
        }
    }
    diagnostics
}

/// Notes that the planned change of an object was made, so that policies see the object as it is.
pub fn after_change(run: &Run, change: &ResourceChange) {
    if is_active(run) {
        let mut notes = run.results.policy_notes();
        notes.applied.insert(change.addr.clone());
        notes.outdate(&change.addr);
    }
}

/// Notes that the working state has another object of an instance than before.
pub fn after_saving(run: &Run, addr: &AbsResourceInstance) {
    if is_active(run) {
        run.results.policy_notes().outdate(addr);
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
    let Some(report) = report(run, &targets::of_provider(run, id, config.clone())) else { return Diagnostics::new() };
    decide(run, report, |notes| drop(notes.provider_configs.insert(id, config.clone())))
}

/// The error of an object in a module that a policy denies, or in a module that such a module calls: its change is not made.
pub fn refused_with_module(run: &Run, addr: &AbsResourceInstance) -> Option<Diagnostic> {
    if addr.mode() != ResourceMode::Managed {
        return None;
    }
    let module = denied_module(run, &addr.module)?;
    let detail = format!("A policy denies {module}, so {PROGRAM} did not change {addr}.");
    Some(Diagnostic::error(MODULE_DENIED, detail).about(addr.to_string()))
}

/// The error of an action that was asked for, in a module with a mandatory policy without a result: nothing that follows makes it known.
pub fn refused_request(run: &Run, addr: &AbsActionInstance) -> Option<Diagnostic> {
    let notes = run.results.policy_notes();
    let module = notes.open_modules.iter().find(|open| addr.module.starts_with(open))?;
    let detail = format!(
        "A mandatory policy for {module} depends on values that are not known yet, so {PROGRAM} did not invoke {addr}. Apply the objects \
         that the variables of the module refer to, then invoke the action again."
    );
    Some(Diagnostic::error("Module is not decided on", detail).about(addr.to_string()))
}

/// As [`refused_with_module`], for an action: it is not invoked.
pub fn refused_invocation(run: &Run, addr: &AbsActionInstance) -> Option<Diagnostic> {
    let module = denied_module(run, &addr.module)?;
    let detail = format!("A policy denies {module}, so {PROGRAM} did not invoke {addr}.");
    Some(Diagnostic::error(MODULE_DENIED, detail).about(addr.to_string()))
}

/// The module instance that a policy denies, if it is this one or calls it.
fn denied_module(run: &Run, module: &ModuleInstance) -> Option<ModuleInstance> {
    if !is_active(run) {
        return None;
    }
    run.results.policy_notes().denied_modules.iter().find(|denied| module.starts_with(denied)).cloned()
}

/// Evaluates the policies of the instances of a module whose variables all have values in an apply. With an error, nothing more of the
/// instance is changed: what was evaluated last is not used, and each object that does not depend on it is refused.
pub fn with_variables(run: &Run, module: ModuleId) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    if !is_active(run) || run.verb == Verb::ApplyDestroy {
        return diagnostics;
    }
    for instance in run.results.module_instances(module) {
        if instance.variables.iter().all(|slot| slot.get().is_some()) {
            // Two variables can be the last one at the same time: the other one waits, too.
            let decided = run.results.policy_notes().judged_modules.entry(instance.addr.clone()).or_default().clone();
            decided.get_or_init(|| diagnostics.extend(judge_module(run, module, instance)));
        }
    }
    diagnostics
}

fn judge_module(run: &Run, module: ModuleId, instance: &Arc<ModuleSlots>) -> Diagnostics {
    let Some(report) = report(run, &targets::of_module(run, module, instance)) else { return Diagnostics::new() };
    let addr = instance.addr.clone();
    if denied(&report) {
        run.results.policy_notes().denied_modules.push(addr);
    } else if report.outcomes.iter().any(is_open) {
        run.results.policy_notes().open_modules.push(addr);
    }
    let undecided = (module, instance.clone());
    decide(run, report, |notes| notes.undecided_modules.push(undecided))
}

/// Evaluates, with the objects as they are now, what depended on their changes. `failed`: not all changes were made.
pub fn at_end(run: &Run, failed: bool) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    if !is_active(run) {
        return diagnostics;
    }
    let mut targets = left_targets(run);
    if !failed && !run.ports.stop.is_stopping() {
        targets.extend(unjudged_modules(run));
    }
    for target in targets {
        if let Some(report) = report(run, &target) {
            diagnostics.extend(publish_last(run, report, failed));
        }
    }
    diagnostics
}

/// What has policies that were not decided on yet: changed objects, deleted ones, those that the plan does not change, configurations of
/// providers, instances of modules.
fn left_targets(run: &Run) -> Vec<PolicyTarget> {
    let (mut undecided, deletions, configs, modules) = {
        let mut notes = run.results.policy_notes();
        let undecided: FxHashSet<_> = std::mem::take(&mut notes.undecided).into_iter().collect();
        let deletions = std::mem::take(&mut notes.undecided_deletions);
        (
            undecided,
            deletions,
            std::mem::take(&mut notes.provider_configs),
            std::mem::take(&mut notes.undecided_modules),
        )
    };
    let mut targets = Vec::new();
    for task in &run.schedule.tasks {
        let operation = targets::operations(task.change.action).first().copied();
        let Some(operation) = operation.filter(|it| *it != PolicyOperation::Delete) else { continue };
        // A replacement has two tasks.
        let is_open = task.change.deposed.is_none() && undecided.remove(&task.change.addr);
        let Some(made) = is_open.then(|| as_made(run, &task.change)).flatten() else { continue };
        targets.extend(targets::of_change(run, &made, operation));
    }
    targets.extend(deletions.iter().filter_map(|change| targets::of_change(run, change, PolicyOperation::Delete)));
    targets.extend(unchanged(run));
    targets.extend(configs.into_iter().map(|(id, config)| targets::of_provider(run, id, config)));
    targets.extend(modules.iter().map(|(id, instance)| targets::of_module(run, *id, instance)));
    targets
}

/// The module instances of which a limited run evaluated only some variables.
fn unjudged_modules(run: &Run) -> Vec<PolicyTarget> {
    let mut targets = Vec::new();
    if run.verb == Verb::ApplyDestroy || run.inputs.are_whole() {
        return targets;
    }
    for id in run.blocks.tree.ids().filter(|id| *id != ROOT) {
        for instance in run.results.module_instances(id) {
            if !run.results.policy_notes().judged_modules.contains_key(&instance.addr) {
                targets.push(targets::of_module(run, id, instance));
            }
        }
    }
    targets
}

/// The objects with undecided policies that the plan does not change: nothing else of an apply is about them.
fn unchanged(run: &Run) -> Vec<PolicyTarget> {
    let open: FxHashSet<&str> = run.inputs.undecided_policies.iter().map(|(target, _)| target.as_str()).collect();
    if open.is_empty() {
        return Vec::new();
    }
    let changes =
        run.schedule.tasks.iter().filter(|task| task.change.action != Action::NoOp && task.change.deposed.is_none());
    let changed: FxHashSet<&AbsResourceInstance> = changes.map(|task| &task.change.addr).collect();
    let states = run.results.states();
    let mut targets = Vec::new();
    for (addr, resource) in &states.current.resources {
        let Some(schema) = run.blocks.schemas.resource(&resource.provider.provider, &addr.resource) else { continue };
        for (key, instance) in &resource.instances {
            let instance_addr = addr.instance(key.clone());
            if changed.contains(&instance_addr) || !open.contains(instance_addr.to_string().as_str()) {
                continue;
            }
            let object = instance.current.as_ref().and_then(|object| decode(object, &schema).ok());
            targets.extend(
                object.and_then(|object| targets::of_unchanged(run, &instance_addr, &resource.provider, object.value)),
            );
        }
    }
    targets
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

/// Unknown, and not only advice.
fn is_open(outcome: &PolicyOutcome) -> bool {
    outcome.verdict == PolicyVerdict::Unknown && outcome.level != PolicyLevel::Advisory
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
    let data = RunData::new(run, None);
    Judge::new(&policies, &data, &*run.ports.host).report(target, is_wanted)
}

/// Reports what is decided before something is done. What is unknown is noted, to be evaluated at the end. If an interrupt may be the
/// reason why it is unknown, nothing is done.
fn decide(run: &Run, report: PolicyReport, note: impl FnOnce(&mut PolicyNotes)) -> Diagnostics {
    if is_unknown(&report) {
        if run.ports.stop.is_stopping() {
            return engine_errors::halted().into();
        }
        note(&mut run.results.policy_notes());
    }
    publish(run, report)
}

/// As [`publish`], with each mandatory policy that is unknown for good: an error, because no later plan asks about these changes; a
/// warning, if a later plan is needed anyway.
fn publish_last(run: &Run, report: PolicyReport, failed: bool) -> Diagnostics {
    let is_partial = failed || !run.inputs.are_whole() || !run.inputs.deferred.is_empty();
    let severity = if is_partial { Severity::Warning } else { Severity::Error };
    let left = report
        .outcomes
        .iter()
        .filter(|outcome| is_open(outcome))
        .map(|outcome| left_undecided(outcome, &report.target, severity));
    let mut diagnostics: Diagnostics = left.collect();
    diagnostics.extend(publish(run, report));
    diagnostics
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
