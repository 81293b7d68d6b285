//! Planning the actions that the change of an object invokes.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use lang::eval::evaluate_to;
use lang::syntax::ast::Expression;
use model::addr::InstanceKey;
use model::config::{ActionCall, ActionEvent, ActionTrigger, Resource};
use model::plan::{Action, ActionInvocation, DeferredReason, InvocationTrigger, LifecycleTrigger, ResourceChange};
use terrane_value::{Marks, Type, Value};

use super::call;
use super::instance::ActionInstance;
use crate::build::actions::config_addr;
use crate::change::write_only;
use crate::engine_errors::unexpected_deferral;
use crate::ids::{ActionId, ProviderId};
use crate::run::Verb;
use crate::run::module_scope::ModuleScope;
use crate::run::results::{Each, Expansion};
use crate::step::resource;

/// True if changes of the instance may invoke actions.
pub fn has_triggers(instance: &resource::Instance<'_>) -> bool {
    let is_real = !matches!(instance.run.verb, Verb::Plan { pre_destroy: true, .. });
    is_real && instance.config.is_some_and(|config| !config.lifecycle.action_triggers.is_empty())
}

/// Adds what the change invokes to the plan; with errors, nothing.
pub async fn triggered(instance: &resource::Instance<'_>, change: &ResourceChange) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let Some(config) = instance.config.filter(|_| has_triggers(instance)) else { return diagnostics };
    let Some(module) = &instance.module else {
        let due = config.lifecycle.action_triggers.iter().filter(|trigger| !events(trigger, change).is_empty());
        due.for_each(|trigger| diagnostics.push(without_module(instance, trigger)));
        return diagnostics;
    };
    let scope = ModuleScope::new(instance.run, module).with_each(each(instance)).with_self(change.change.after.clone());
    let mut planned: Vec<Call> = Vec::new();
    for (call, place) in diagnostics.take(calls(instance, config, change, &scope)) {
        planned.extend(diagnostics.take(plan_call(instance, call, place, change, &scope).await));
    }
    if !diagnostics.has_errors() {
        record(instance, change, planned);
    }
    diagnostics
}

/// An invocation, and why its provider deferred it.
type Call = (ActionInvocation, Option<DeferredReason>);

/// Adds the invocations of a change. If one is deferred, the change and its other invocations are too.
fn record(instance: &resource::Instance<'_>, change: &ResourceChange, planned: Vec<Call>) {
    let mut changes = instance.run.results.changes();
    if planned.iter().all(|(_, deferred)| deferred.is_none()) {
        changes.invocations.extend(planned.into_iter().map(|(invocation, _)| Arc::new(invocation)));
        return;
    }
    changes.withdraw(change.clone(), DeferredReason::DeferredPrereq);
    for (invocation, deferred) in planned {
        changes.defer_invocation(invocation, deferred.unwrap_or(DeferredReason::DeferredPrereq));
    }
}

/// True if the block of an object calls an action whose instances are not known yet.
pub fn calls_unknown_instances(instance: &resource::Instance<'_>) -> bool {
    let (Some(config), Some(module)) = (instance.config, &instance.module) else { return false };
    let actions = &instance.run.blocks.tree.module(module.id).actions;
    let is_unknown = |call: &ActionCall| {
        let slot = actions.get_index_of(&call.action).and_then(|index| module.actions[index].get());
        matches!(slot, Some(Expansion::Unknown(_)))
    };
    config.lifecycle.action_triggers.iter().flat_map(|trigger| &trigger.actions).any(is_unknown)
}

/// Adds what a deferred change would invoke to the deferred invocations.
pub fn deferred_with(instance: &resource::Instance<'_>, change: &ResourceChange) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let (Some(config), Some(module)) = (instance.config.filter(|_| has_triggers(instance)), &instance.module) else {
        return diagnostics;
    };
    let scope = ModuleScope::new(instance.run, module).with_each(each(instance)).with_self(change.change.after.clone());
    for (call, place) in diagnostics.take(calls(instance, config, change, &scope)) {
        match deferred_call(instance, call, place, change, &scope) {
            Ok(found) => {
                let mut changes = instance.run.results.changes();
                found.into_iter().for_each(|found| changes.defer_invocation(found, DeferredReason::DeferredPrereq));
            }
            Err(found) => diagnostics.extend(found),
        }
    }
    diagnostics
}

/// The calls that a change comes to, in order. A condition that is false leaves its calls out.
fn calls<'c>(
    instance: &resource::Instance<'_>,
    config: &'c Resource,
    change: &ResourceChange,
    scope: &ModuleScope<'_>,
) -> (Vec<(&'c ActionCall, LifecycleTrigger)>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut found = Vec::new();
    for (block, trigger) in config.lifecycle.action_triggers.iter().enumerate() {
        let events = events(trigger, change);
        let may_run = if events.is_empty() { Ok(false) } else { may_run(trigger.condition.as_ref(), scope) };
        match may_run {
            Ok(true) => {}
            Ok(false) => continue,
            Err(problems) => {
                diagnostics.extend(problems);
                continue;
            }
        }
        let on_failure = trigger.on_failure;
        for event in events {
            found.extend(trigger.actions.iter().enumerate().map(|(position, call)| {
                let resource = instance.addr.clone();
                (call, LifecycleTrigger { resource, event, block, position, on_failure })
            }));
        }
    }
    (found, diagnostics)
}

fn events(trigger: &ActionTrigger, change: &ResourceChange) -> Vec<ActionEvent> {
    trigger.events.iter().copied().filter(|event| happens(*event, change.action)).collect()
}

/// The invocation of a deferred change, as far as it is known. None: an error was reported before the walk.
fn deferred_call(
    instance: &resource::Instance<'_>,
    call: &ActionCall,
    trigger: LifecycleTrigger,
    change: &ResourceChange,
    scope: &ModuleScope<'_>,
) -> Result<Option<ActionInvocation>, Diagnostics> {
    let Some((block, provider)) = called(instance, call) else { return Ok(None) };
    let run = instance.run;
    let config = run.blocks.tree.action(block);
    let addr = call::instance(call, config, scope)?.absolute(instance.addr.module.clone());
    let caller = if trigger.event.is_destroy() { &change.change.before } else { &change.change.after };
    let config = match ActionInstance::find(run, block, addr.clone(), None) {
        Ok(action) => {
            let (value, found) = action.evaluate(Some(caller.clone()), &action.addr.to_string());
            if found.has_errors() {
                return Err(found);
            }
            write_only::without_values(&action.schema.block, &value)
        }
        // Its instances are not known.
        Err(_) => Value::dynamic(),
    };
    let provider = run.blocks.providers.configs.get(provider).addr.clone();
    Ok(Some(ActionInvocation { addr, provider, trigger: InvocationTrigger::Lifecycle(trigger), config }))
}

/// The block of a called action, and its provider.
fn called(instance: &resource::Instance<'_>, call: &ActionCall) -> Option<(ActionId, ProviderId)> {
    let block = instance.run.blocks.tree.find_action(instance.block?.module, &call.action)?;
    Some((block, *instance.run.blocks.providers.of_actions.get(&block)?))
}

/// True if an action of the resource comes with the event. A replacement that leaves the old object alone destroys nothing.
fn happens(event: ActionEvent, action: Action) -> bool {
    match event {
        ActionEvent::BeforeCreate | ActionEvent::AfterCreate => action == Action::Create || action.is_replace(),
        ActionEvent::BeforeUpdate | ActionEvent::AfterUpdate => action == Action::Update,
        ActionEvent::BeforeDestroy | ActionEvent::AfterDestroy => action.destroys(),
    }
}

/// `count` and `each` of the resource; by the address, where the block has no such instance any more.
fn each(instance: &resource::Instance<'_>) -> Each {
    match (&instance.each, instance.addr.key()) {
        (Each::None, InstanceKey::Int(i)) => usize::try_from(*i).map_or(Each::None, Each::Index),
        (Each::None, InstanceKey::Str(key)) => Each::Entry(key.clone(), Value::dynamic()),
        (each, _) => each.clone(),
    }
}

/// False only if the condition is known to be false.
fn may_run(condition: Option<&Expression>, scope: &ModuleScope<'_>) -> Result<bool, Diagnostics> {
    let Some(expr) = condition else { return Ok(true) };
    let (value, found) = evaluate_to(expr, &Type::Bool, scope);
    if found.has_errors() {
        return Err(found);
    }
    let (value, _) = value.unmark_deep();
    Ok(!value.is_null() && value.as_bool() != Some(false))
}

async fn plan_call(
    instance: &resource::Instance<'_>,
    call: &ActionCall,
    trigger: LifecycleTrigger,
    change: &ResourceChange,
    scope: &ModuleScope<'_>,
) -> (Option<Call>, Diagnostics) {
    let run = instance.run;
    let mut diagnostics = Diagnostics::new();
    // Otherwise the error was reported before the walk.
    let Some((block, provider)) = called(instance, call) else { return (None, diagnostics) };
    let config = run.blocks.tree.action(block);
    let found = call::instance(call, config, scope).and_then(|found| {
        let addr = found.absolute(instance.addr.module.clone());
        ActionInstance::find(run, block, addr, Some(call.expr.range())).map_err(Diagnostics::from)
    });
    let action = match found {
        Ok(action) => action,
        Err(errors) => return (None, errors),
    };
    let is_destroy = trigger.event.is_destroy();
    let caller = if is_destroy { &change.change.before } else { &change.change.after };
    let address = format!("{}, called from {}", action.addr, instance.addr.resource);
    let value = diagnostics.take(action.evaluate(Some(caller.clone()), &address));
    if is_destroy && !diagnostics.has_errors() {
        diagnostics.extend(check_complete(&action, &value));
    }
    let Some(running) = run.results.provider(provider).filter(|_| !diagnostics.has_errors()) else {
        return (None, diagnostics);
    };
    let address = format!("{}, called from {}", instance.addr, config_addr(&run.blocks.tree, block.module, config));
    let answer = action.ask_for_plan(&running, &value, &address).await;
    diagnostics.extend(answer.diagnostics);
    if answer.deferred.is_some() && !run.inputs.scope.deferral_allowed {
        diagnostics.push(unexpected_deferral(&action.addr.action));
    }
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let invocation = ActionInvocation {
        addr: action.addr.clone(),
        provider: run.blocks.providers.configs.get(provider).addr.clone(),
        trigger: InvocationTrigger::Lifecycle(trigger),
        // What is evaluated again keeps no secrets in the plan.
        config: if is_destroy { value } else { write_only::without_values(&action.schema.block, &value) },
    };
    (Some((invocation, answer.deferred)), diagnostics)
}

/// What apply does not evaluate again has to be complete.
fn check_complete(action: &ActionInstance<'_>, value: &Value) -> Option<Diagnostic> {
    let (summary, detail) = if !value.is_wholly_known() {
        ("Unknown action config", "Action configuration must be known to plan a destroy action.")
    } else if value.deep_marks().contains(Marks::EPHEMERAL) {
        (EPHEMERAL_CONFIG, "A destroy action configuration must be fully planned, and cannot contain ephemeral values.")
    } else {
        return None;
    };
    Some(Diagnostic::error(summary, detail).at(action.config.range.clone()))
}

/// A configuration that the plan cannot keep.
pub const EPHEMERAL_CONFIG: &str = "Action config contains ephemeral values";

/// The actions of an object whose module is gone cannot be evaluated.
fn without_module(instance: &resource::Instance<'_>, trigger: &ActionTrigger) -> Diagnostic {
    let names: String = trigger.actions.iter().map(|call| format!("\n  - {}", call.action)).collect();
    let detail = format!(
        "{} will be destroyed because {} is no longer in the configuration. Its actions need the values of that module, so these \
         will not be invoked:{names}",
        instance.addr, instance.addr.module
    );
    Diagnostic::warning("Actions will not be invoked", detail)
}
