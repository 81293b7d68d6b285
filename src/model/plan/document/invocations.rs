//! The invocations of actions in a plan's document.

use serde_json::Value as Json;
use terrane_protocol::schema::Schema;
use terrane_value::Type;

use super::error::PlanDocumentError;
use super::{Schemas, address, provider, values};
use crate::addr::{AbsProviderConfig, command_line};
use crate::config::{ActionEvent, OnActionFailure};
use crate::plan::{ActionInvocation, InvocationTrigger, LifecycleTrigger};

/// None if the event is not known here.
pub fn invocation(document: &Json, schemas: &Schemas) -> Result<Option<ActionInvocation>, PlanDocumentError> {
    let Some(trigger) = trigger(document)? else { return Ok(None) };
    let text = document["address"].as_str().unwrap_or_default();
    let addr = command_line::action(text).map_err(|_| PlanDocumentError::Address(text.to_owned()))?;
    let provider = provider(document["provider_name"].as_str().unwrap_or_default())?;
    let schema = schemas.get(&provider).and_then(|schemas| schemas.actions.get(&addr.action.action.kind));
    let ty = schema.map_or(&Type::Dynamic, |schema| Schema::implied_type(schema));
    Ok(Some(ActionInvocation {
        config: values::config(document, ty).map_err(|error| PlanDocumentError::value(&addr, error))?,
        trigger,
        provider: AbsProviderConfig::root(provider),
        addr,
    }))
}

fn trigger(document: &Json) -> Result<Option<InvocationTrigger>, PlanDocumentError> {
    let trigger = &document["lifecycle_action_trigger"];
    if trigger.is_null() {
        let caller = &document["invoke_action_trigger"]["calling_resource_address"];
        let caller = if caller.is_null() { None } else { Some(address(caller)?) };
        return Ok(Some(InvocationTrigger::Request { caller }));
    }
    let number = |name: &str| trigger[name].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or_default();
    let event = trigger["action_trigger_event"].as_str().and_then(ActionEvent::of_json_name);
    let Some(event) = event else { return Ok(None) };
    let all = [OnActionFailure::Halt, OnActionFailure::Taint, OnActionFailure::Continue];
    let on_failure = all.into_iter().find(|reaction| trigger["on_failure"] == reaction.json_name());
    Ok(Some(InvocationTrigger::Lifecycle(LifecycleTrigger {
        resource: address(&trigger["triggering_resource_address"])?,
        event,
        block: number("action_trigger_block_index"),
        position: number("actions_list_index"),
        on_failure: on_failure.unwrap_or_default(),
    })))
}
