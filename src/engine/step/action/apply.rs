//! Invoking the actions of an object's change, before and after it.

use base::diag::{Diagnostic, Diagnostics, Severity};
use lang::eval::evaluate_to;
use model::config::{ActionEvent, OnActionFailure};
use model::plan::LifecycleTrigger;
use model::state::journal::ActionPhase;
use terrane_value::{Type, Value};

use super::instance::ActionInstance;
use super::invoke::{address, invoke};
use crate::change::breach_text;
use crate::change::compatible::{object_compatible, replaced_nulls};
use crate::engine_errors::{actions_not_invoked, differs_from_plan, halted, is_halted};
use crate::graph::Invocation;
use crate::run::{Run, Verb};
use crate::step::resource;

/// How the actions of an occasion ended.
#[derive(Default)]
pub struct Ended {
    pub diagnostics: Diagnostics,
    /// The object that was just created is to be replaced.
    pub tainted: bool,
}

/// An action of a task with what triggers it.
type DueInvocation<'t> = (&'t Invocation, &'t LifecycleTrigger);

fn due(invocations: &[Invocation], is: impl Fn(ActionEvent) -> bool) -> Vec<DueInvocation<'_>> {
    let all = invocations.iter().filter_map(|invocation| Some((invocation, invocation.planned.lifecycle()?)));
    all.filter(|(_, trigger)| is(trigger.event)).collect()
}

/// True if a failure of one of the actions taints the object.
pub fn may_taint(invocations: &[Invocation]) -> bool {
    due(invocations, |event| event == ActionEvent::AfterCreate).iter().any(|(_, trigger)| taints(trigger))
}

/// Only what was just created can be made again from the beginning.
fn taints(trigger: &LifecycleTrigger) -> bool {
    trigger.on_failure == OnActionFailure::Taint && trigger.event == ActionEvent::AfterCreate
}

/// Invokes what comes before a creation or an update. `planned`: the object as it is planned.
pub async fn before(instance: &resource::Instance<'_>, invocations: &[Invocation], planned: &Value) -> Diagnostics {
    let due = due(invocations, |event| event.is_before() && !event.is_destroy());
    invoke_all(instance, &due, planned, false).await.diagnostics
}

/// Invokes what comes after a creation or an update. `value`: the object as it is; `reported`: by [`report_due`].
pub async fn after(
    instance: &resource::Instance<'_>,
    invocations: &[Invocation],
    value: &Value,
    reported: bool,
) -> Ended {
    let due = due(invocations, |event| !event.is_before() && !event.is_destroy());
    invoke_all(instance, &due, value, reported).await
}

/// Reports the actions that follow a change that was just made, before the change itself is reported. Not those of an object that
/// stays tainted until they have run: its replacement invokes them again.
pub async fn report_due(run: &Run, invocations: &[Invocation], destroyed: bool) -> Diagnostics {
    let due = due(invocations, |event| !event.is_before() && event.is_destroy() == destroyed);
    let Some((_, first)) = due.first() else { return Diagnostics::new() };
    let names: Vec<String> = due.iter().map(|(invocation, _)| invocation.planned.addr.to_string()).collect();
    run.ports.sink.actions(&first.resource, &names, ActionPhase::Due).await.err().unwrap_or_default()
}

/// Reports how far an action is, if it was reported as due.
async fn report(
    run: &Run,
    (invocation, trigger): &DueInvocation<'_>,
    phase: ActionPhase,
    reported: bool,
) -> Diagnostics {
    if !reported {
        return Diagnostics::new();
    }
    let name = [invocation.planned.addr.to_string()];
    run.ports.sink.actions(&trigger.resource, &name, phase).await.err().unwrap_or_default()
}

async fn invoke_all(
    instance: &resource::Instance<'_>,
    due: &[DueInvocation<'_>],
    caller: &Value,
    reported: bool,
) -> Ended {
    let mut ended = Ended::default();
    let run = instance.run;
    for (at, action) in due.iter().enumerate() {
        let (invocation, trigger) = action;
        if let Some(stopped) = stopped(run, &due[at..]) {
            ended.diagnostics.extend(stopped);
            ended.tainted = due[at..].iter().any(|(_, trigger)| taints(trigger));
            return ended;
        }
        match is_met(instance, trigger, caller) {
            Ok(true) => {}
            Ok(false) => {
                ended.diagnostics.extend(report(run, action, ActionPhase::Done, reported).await);
                continue;
            }
            Err(errors) => {
                ended.diagnostics.extend(errors);
                ended.tainted = taints(trigger);
                return ended;
            }
        }
        let recorded = report(run, action, ActionPhase::Running, reported).await;
        if recorded.has_errors() {
            ended.diagnostics.extend(recorded);
            return ended;
        }
        let found = evaluate_and_invoke(run, invocation, caller).await;
        ended.diagnostics.extend(report(run, action, ActionPhase::Done, reported).await);
        match trigger.on_failure {
            OnActionFailure::Continue => ended.diagnostics.extend(as_warnings(found)),
            OnActionFailure::Halt | OnActionFailure::Taint => {
                let failed = found.has_errors();
                ended.diagnostics.extend(found);
                if failed {
                    ended.tainted = taints(trigger);
                    // An interrupt may be what made it fail: then the others are lost as well.
                    let left = stopped(run, &due[at + 1..]).unwrap_or_default();
                    ended.diagnostics.extend(left.into_iter().filter(|d| !is_halted(d)));
                    return ended;
                }
            }
        }
    }
    ended
}

/// Invokes what comes before or after a destruction, as it was planned.
pub async fn destroying(run: &Run, invocations: &[Invocation], when: ActionEvent) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let due = due(invocations, |event| event == when);
    for (at, action) in due.iter().enumerate() {
        let (invocation, trigger) = action;
        if let Some(stopped) = stopped(run, &due[at..]) {
            diagnostics.extend(stopped);
            return diagnostics;
        }
        diagnostics.extend(report(run, action, ActionPhase::Running, !when.is_before()).await);
        if diagnostics.has_errors() {
            return diagnostics;
        }
        let found = invoke(run, invocation, invocation.planned.config.clone()).await;
        diagnostics.extend(report(run, action, ActionPhase::Done, !when.is_before()).await);
        // As in the reference, no action keeps everything from being destroyed.
        if trigger.on_failure == OnActionFailure::Continue || run.verb == Verb::ApplyDestroy {
            diagnostics.extend(as_warnings(found));
            continue;
        }
        diagnostics.extend(found);
        if diagnostics.has_errors() {
            return diagnostics;
        }
    }
    diagnostics
}

/// After an interrupt, the error that names what does not run any more. Before a change it is enough that the run ended.
fn stopped(run: &Run, left: &[DueInvocation<'_>]) -> Option<Diagnostics> {
    if !run.ports.stop.is_stopping() {
        return None;
    }
    let mut found = Diagnostics::from(halted());
    let names: Vec<String> =
        left.iter().filter(|(_, t)| !t.event.is_before()).map(|(invocation, _)| address(invocation)).collect();
    if !names.is_empty() {
        found.push(actions_not_invoked(&names));
    }
    Some(found)
}

fn as_warnings(found: Diagnostics) -> Diagnostics {
    found.into_iter().map(|d| Diagnostic { severity: Severity::Warning, ..d }).collect()
}

/// Whether the condition of the trigger holds now.
fn is_met(instance: &resource::Instance<'_>, trigger: &LifecycleTrigger, this: &Value) -> Result<bool, Diagnostics> {
    let block = instance.config.and_then(|config| config.lifecycle.action_triggers.get(trigger.block));
    let Some(expr) = block.and_then(|block| block.condition.as_ref()) else { return Ok(true) };
    let Some(scope) = instance.scope() else { return Ok(true) };
    let (value, found) = evaluate_to(expr, &Type::Bool, &scope.with_self(this.clone()));
    if found.has_errors() {
        return Err(found);
    }
    let (value, _) = value.unmark_deep();
    if value.is_null() {
        return Ok(false);
    }
    value.as_bool().ok_or_else(|| {
        let detail = "The action trigger condition must be known before it can be invoked.";
        let summary = "Unknown condition when invoking action before apply";
        Diagnostic::error(summary, detail).at(expr.range()).into()
    })
}

async fn evaluate_and_invoke(run: &Run, invocation: &Invocation, caller: &Value) -> Diagnostics {
    let action = match ActionInstance::find(run, invocation.block, invocation.planned.addr.clone(), None) {
        Ok(action) => action,
        Err(error) => {
            return error.at(run.blocks.tree.action(invocation.block).range.clone()).into();
        }
    };
    let (config, mut diagnostics) = action.evaluate(Some(caller.clone()), &address(invocation));
    if run.results.have_files_changed() && !diagnostics.has_errors() {
        let planned = &invocation.planned.config;
        let mut breaches = object_compatible(&action.schema.block, planned, &config);
        breaches.extend(replaced_nulls(planned, &config));
        let error = |breach| differs_from_plan(&action.addr.to_string(), &breach_text(breach, None));
        diagnostics.extend(breaches.iter().map(error));
    }
    if !diagnostics.has_errors() {
        diagnostics.extend(invoke(run, invocation, config).await);
    }
    diagnostics
}
