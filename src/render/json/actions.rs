//! Actions in JSON: the messages of the streams, and the invocations of a plan's document.

use engine::event::Event;
use model::addr::AbsActionInstance;
use model::config::Action;
use model::plan::{ActionInvocation, DeferredInvocation, InvocationTrigger, LifecycleTrigger};
use serde_json::{Map, Value as Json, json};
use terrane_protocol::schema::Schema;
use terrane_value::Value;

use super::expressions::expression_json;
use super::message::{Message, instance_key, resource};
use super::shape::{known_json, put, sensitive_json, set, unknown_json};
use crate::schemas::{ActionLookup, with_schema_marks};

fn action(addr: &AbsActionInstance) -> Json {
    let key = instance_key(&addr.action.key);
    json!({
        "addr": addr.to_string(),
        "module": addr.module.to_string(),
        "action": addr.action.to_string(),
        "implied_provider": addr.action.action.implied_provider(),
        "action_type": &*addr.action.action.kind,
        "action_name": &*addr.action.action.name,
        "action_key": key,
    })
}

/// An action of a plan.
pub fn planned(invocation: &ActionInvocation) -> Message {
    let mut document = Map::new();
    document.insert("action_addr".into(), action(&invocation.addr));
    match &invocation.trigger {
        InvocationTrigger::Lifecycle(trigger) => {
            let trigger = json!({
                "triggering_resource": resource(&trigger.resource),
                "triggering_event": trigger.event.json_name(),
                "action_trigger_block_index": trigger.block,
                "actions_list_index": trigger.position,
                "on_failure": trigger.on_failure.json_name(),
            });
            document.insert("lifecycle_trigger".into(), trigger);
        }
        InvocationTrigger::Request { .. } => {
            document.insert("action_trigger".into(), json!({}));
        }
    }
    let text = format!("planned action invocation: {}", invocation.addr);
    Message::new("planned_action_invocation", text, json!({ "invocation": document }))
}

/// The message of an event of an action; none for other events.
pub fn event(event: &Event) -> Option<Message> {
    Some(match event {
        Event::ActionStarted(of) => {
            let text = match of.lifecycle() {
                Some(trigger) => {
                    format!("{}.trigger[{}]: Action started: {}", trigger.resource, trigger.block, of.addr)
                }
                None => format!("Action started: {}", of.addr),
            };
            Message::new("action_start", text, hook(of, None))
        }
        Event::ActionProgress { invocation, message } => {
            let text = format!("{}{} - {message}", lead(invocation), invocation.addr);
            Message::new("action_progress", text, hook(invocation, Some(("message", message))))
        }
        Event::ActionFinished { invocation, error: None } => {
            let text = format!("{}Action complete: {}", lead(invocation), invocation.addr);
            Message::new("action_complete", text, hook(invocation, None))
        }
        Event::ActionFinished { invocation, error: Some(error) } => {
            let text = format!("{}Action errored: {} - {error}", lead(invocation), invocation.addr);
            Message::new("action_errored", text, hook(invocation, Some(("error", error))))
        }
        _ => return None,
    })
}

/// The object that an action belongs to, ahead of a text.
fn lead(of: &ActionInvocation) -> String {
    of.lifecycle().map_or_else(String::new, |trigger| format!("{} ({}): ", trigger.resource, trigger.block))
}

fn hook(of: &ActionInvocation, more: Option<(&str, &String)>) -> Json {
    let mut hook = Map::new();
    hook.insert("action".into(), action(&of.addr));
    if let Some((name, text)) = more {
        hook.insert(name.into(), text.as_str().into());
    }
    match of.lifecycle() {
        Some(trigger) => hook.insert("lifecycle".into(), lifecycle(trigger)),
        None => hook.insert("invoke".into(), json!({})),
    };
    json!({ "hook": hook })
}

fn lifecycle(trigger: &LifecycleTrigger) -> Json {
    json!({
        "resource": resource(&trigger.resource),
        "trigger_index": trigger.block,
        "actions_index": trigger.position,
        "trigger_event": trigger.event.json_name(),
        "on_failure": trigger.on_failure.json_name(),
    })
}

/// The invocations of a plan's document: those that were asked for first.
pub fn invocations_json(plan: &[std::sync::Arc<ActionInvocation>], actions: &ActionLookup<'_>) -> Vec<Json> {
    let document = |of: &std::sync::Arc<ActionInvocation>| {
        let schema = actions(&of.provider.provider, &of.addr.action.action.kind);
        invocation_json(of, schema.as_deref())
    };
    plan.iter().map(document).collect()
}

/// The deferred invocations of a plan.
pub fn deferred_json(deferred: &[DeferredInvocation], actions: &ActionLookup<'_>) -> Vec<Json> {
    let document = |deferred: &DeferredInvocation| {
        let of = &deferred.invocation;
        let schema = actions(&of.provider.provider, &of.addr.action.action.kind);
        json!({ "reason": deferred.reason.json_name(), "action_invocation": invocation_json(of, schema.as_deref()) })
    };
    deferred.iter().map(document).collect()
}

fn invocation_json(of: &ActionInvocation, schema: Option<&Schema>) -> Json {
    let action = &of.addr.action.action;
    let mut out = Map::new();
    set(&mut out, "address", of.addr.to_string());
    set(&mut out, "type", &*action.kind);
    set(&mut out, "name", &*action.name);
    let config = without_write_only(&of.config, schema);
    set(&mut out, "config_values", known_json(&config));
    set(&mut out, "config_sensitive", sensitive_json(&config));
    set(&mut out, "config_unknown", unknown_json(&config));
    set(&mut out, "provider_name", of.provider.provider.to_string());
    match &of.trigger {
        InvocationTrigger::Lifecycle(trigger) => {
            let mut entry = Map::new();
            set(&mut entry, "triggering_resource_address", trigger.resource.to_string());
            set(&mut entry, "action_trigger_event", trigger.event.json_name());
            set(&mut entry, "action_trigger_block_index", trigger.block);
            set(&mut entry, "actions_list_index", trigger.position);
            set(&mut entry, "on_failure", trigger.on_failure.json_name());
            set(&mut out, "lifecycle_action_trigger", entry);
        }
        InvocationTrigger::Request { caller } => {
            let mut entry = Map::new();
            put(&mut entry, "calling_resource_address", caller.as_ref().map(ToString::to_string).unwrap_or_default());
            set(&mut out, "invoke_action_trigger", entry);
        }
    }
    Json::Object(out)
}

/// The configuration as documents show it: without the values of write-only attributes.
fn without_write_only(config: &Value, schema: Option<&Schema>) -> Value {
    let Some(schema) = schema else { return config.clone() };
    let hidden = |name: &str| schema.block.attributes.get(name).is_some_and(|attribute| attribute.write_only);
    let config = with_schema_marks(config, &schema.block);
    if !config.is_known() || config.is_null() || !schema.block.has_write_only() {
        return config;
    }
    let without = config.transform::<()>(&mut |path, value| {
        let is_hidden = path.steps().last().is_some_and(|step| match step {
            terrane_value::PathStep::Attr(name) => hidden(name),
            terrane_value::PathStep::Index(_) => false,
        });
        Ok(if is_hidden { Value::null(value.ty().clone()) } else { value })
    });
    // The transformation cannot fail.
    without.unwrap_or_else(|()| Value::null(config.ty().clone()))
}

/// The action blocks of a module, sorted by address. `key`: the entry of an action's provider configuration.
pub fn config_json<'a>(actions: impl Iterator<Item = &'a Action>, key: &dyn Fn(&Action) -> String) -> Vec<Json> {
    let mut sorted: Vec<&Action> = actions.collect();
    sorted.sort_by_cached_key(|action| action.addr.to_string());
    let document = |action: &Action| {
        let mut out = Map::new();
        set(&mut out, "address", action.addr.to_string());
        set(&mut out, "type", &*action.addr.kind);
        set(&mut out, "name", &*action.addr.name);
        set(&mut out, "provider_config_key", key(action));
        if let Some(count) = &action.count {
            put(&mut out, "count_expression", expression_json(count));
        } else if let Some(for_each) = &action.for_each {
            put(&mut out, "for_each_expression", expression_json(for_each));
        }
        Json::Object(out)
    };
    sorted.into_iter().map(document).collect()
}
