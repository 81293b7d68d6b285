//! Validating actions: as their callers see them; those without a caller by themselves.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use lang::eval::evaluate_to;
use lang::syntax::ast::{Expression, Traversal};
use model::addr::parse::parse_reference;
use model::addr::{InstanceKey, Subject};
use model::config::{Action, ActionEvent, ActionTrigger, Resource};
use model::provider_diagnostics::about_body;
use model::schema::decode::{decode_body, references_in_body};
use terrane_value::{Type, Value};

use super::call::{check_key, key};
use super::instance::unknown_type;
use crate::blocks::references::{names, refers_to_itself};
use crate::build::actions::config_addr;
use crate::ids::{ActionId, ModuleId};
use crate::pending_request::PendingRequest;
use crate::run::Run;
use crate::run::module_scope::ModuleScope;
use crate::run::results::{Each, ModuleSlots};
use crate::step::expansion::{Unknown, expand};
use crate::step::resource::ephemeral_use;

/// The object that calls an action, while it is not known, and its address.
struct UnknownCaller {
    value: Value,
    address: String,
}

/// A block that no resource calls.
pub async fn without_caller(run: &Run, block: ActionId) -> Diagnostics {
    let action = run.blocks.tree.action(block);
    let Some(instance) = run.results.module_instances(block.module).first() else { return Diagnostics::new() };
    if !run.blocks.tree.callers(block).is_empty() {
        return Diagnostics::new();
    }
    validate(run, instance, action, None).await
}

/// The triggers of a resource, and the actions that they call, each once. The scope has `count` and `each` of the resource.
pub async fn triggers(run: &Run, instance: &Arc<ModuleSlots>, config: &Resource, each: Each) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    if config.lifecycle.action_triggers.is_empty() {
        return diagnostics;
    }
    let value = run.blocks.schemas.resource(&config.provider, &config.addr);
    let value = value.map_or_else(Value::dynamic, |schema| Value::unknown(schema.implied_type().clone()));
    let scope = ModuleScope::new(run, instance).with_each(each).with_self(value.clone());
    let mut called: Vec<&Action> = Vec::new();
    for trigger in &config.lifecycle.action_triggers {
        diagnostics.extend(condition(trigger, config, &scope));
        for call in &trigger.actions {
            // Reported with the references of the resource.
            let Some(action) = run.blocks.tree.module(instance.id).actions.get(&call.action) else { continue };
            match key(call, &scope) {
                Ok(key) => diagnostics.extend(check_key(action, &key, &call.expr.range())),
                Err(errors) => diagnostics.extend(errors),
            }
            diagnostics.extend(references_to_caller(run, action, config));
            if !called.iter().any(|other| other.addr == action.addr) {
                called.push(action);
            }
        }
    }
    let key = match (&config.count, &config.for_each) {
        (Some(_), _) => InstanceKey::Int(0),
        (_, Some(_)) => InstanceKey::Str("".into()),
        _ => InstanceKey::None,
    };
    for action in called {
        let caller = UnknownCaller { value: value.clone(), address: config.addr.instance(key.clone()).to_string() };
        diagnostics.extend(validate(run, instance, action, Some(caller)).await);
    }
    diagnostics
}

/// What can be said of the condition of a trigger without values.
fn condition(trigger: &ActionTrigger, config: &Resource, scope: &ModuleScope<'_>) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let Some(expr) = &trigger.condition else { return diagnostics };
    let says_self = subjects(expr).any(|(_, subject)| matches!(subject, Subject::SelfObject | Subject::Caller));
    if says_self && trigger.events.contains(&ActionEvent::BeforeCreate) {
        let detail = "Computed attributes from self may not be known before the resource is created.";
        diagnostics.push(Diagnostic::error("Reference to self in before_create condition", detail).at(expr.range()));
    }
    for _ in trigger.events.iter().filter(|event| event.is_destroy()) {
        let detail = "Condition expression may not be used with a destroy action.";
        diagnostics.push(Diagnostic::error("Condition on destroy action", detail).at(expr.range()));
    }
    let own = subjects(expr).filter(|(_, subject)| names(subject, &config.addr));
    let own: Diagnostics = own
        .filter_map(|(traversal, _)| parse_reference(traversal, &expr.file).ok())
        .map(|reference| refers_to_itself(&config.addr.to_string(), &reference.range))
        .collect();
    if own.is_empty() {
        diagnostics.extend(evaluate_to(expr, &Type::Bool, scope).1);
    }
    diagnostics.extend(own);
    diagnostics
}

fn subjects(expr: &Expression) -> impl Iterator<Item = (&Traversal, Subject)> {
    let of = |traversal| Some((traversal, parse_reference(traversal, &expr.file).ok()?.subject));
    expr.variables().into_iter().filter_map(of)
}

/// Warnings of references to the calling resource, for which there is a name.
fn references_to_caller(run: &Run, action: &Action, config: &Resource) -> Diagnostics {
    let mut found: Vec<(Traversal, Expression)> = Vec::new();
    if let (Some(body), Some(schema)) = (&action.config, run.blocks.schemas.action(&action.provider, &action.addr.kind))
    {
        found = references_in_body(body, &schema.block);
    }
    let references = found.iter().filter_map(|(traversal, expr)| parse_reference(traversal, &expr.file).ok());
    let of_caller = references.filter(|reference| match &reference.subject {
        Subject::Resource(resource) => *resource == config.addr && !reference.remaining.is_empty(),
        subject => names(subject, &config.addr),
    });
    let warning = |range| {
        let detail = "The triggering resource object can be accessed via the \"caller\" symbol to avoid unexpected graph cycles.";
        Diagnostic::warning("Reference to triggering resource", detail).at(range)
    };
    of_caller.map(|reference| warning(reference.range)).collect()
}

async fn validate(
    run: &Run,
    instance: &Arc<ModuleSlots>,
    action: &Action,
    caller: Option<UnknownCaller>,
) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let module = instance.id;
    let Some(schema) = run.blocks.schemas.action(&action.provider, &action.addr.kind) else {
        if run.blocks.schemas.provider(&action.provider).is_some() {
            diagnostics.push(unknown_type(action));
        }
        return diagnostics;
    };
    if has_invalid_references(run, module, action) {
        return diagnostics;
    }
    let _ = diagnostics.take(expand(action.repetition(), &ModuleScope::new(run, instance), Unknown::Skipped));
    let each = match (&action.count, &action.for_each) {
        (Some(_), _) => Each::UnknownIndex,
        (_, Some(_)) => Each::UnknownEntry,
        _ => Each::None,
    };
    let mut address = config_addr(&run.blocks.tree, module, action);
    let mut scope = ModuleScope::new(run, instance).with_each(each);
    if let Some(caller) = caller {
        address = format!("{address}, called from {}", caller.address);
        scope.self_value = Some(caller.value);
    }
    let body = action.config_body();
    let (value, mut found) = decode_body(&body, &schema.block, &scope);
    if action.config.is_none() {
        // There is no body that lacks an argument.
        found.iter_mut().for_each(|error| error.subject = None);
    }
    diagnostics.extend(found);
    if diagnostics.has_errors() {
        return diagnostics;
    }
    diagnostics.extend(ephemeral_use::check(&value, &schema.block, Some(&body), &address));
    if diagnostics.has_errors() {
        return diagnostics;
    }
    let answer = async {
        let provider = run.ports.providers.unconfigured(&action.provider).await?;
        Ok::<_, Diagnostics>(provider.validate_action_config(&action.addr.kind, value.unmark_deep().0).await)
    };
    let request = PendingRequest { name: "ValidateActionConfig", provider: &action.provider, subject: &address };
    match request.answered(&run.ports, answer).await {
        Ok(found) => diagnostics.extend(about_body(found, Some(&body), Some(&address))),
        Err(errors) => diagnostics.extend(errors),
    }
    diagnostics
}

/// True if the references of the block have errors, which its node reports.
fn has_invalid_references(run: &Run, module: ModuleId, action: &Action) -> bool {
    let block = run.blocks.tree.find_action(module, &action.addr);
    let node = block.and_then(|block| run.schedule.action_nodes.get(&block));
    node.is_some_and(|node| run.schedule.needs[node.index()].problems.has_errors())
}
