//! `terrane-plan.json`: the invocations of actions.

use serde::{Deserialize, Serialize};
use terrane_value::Value;

use super::addresses::{action_address, instance_of};
use super::error::PlanFileError;
use super::values::ValueText;
use crate::addr::AbsProviderConfig;
use crate::config::{ActionEvent, OnActionFailure};
use crate::plan::{ActionInvocation, InvocationTrigger, LifecycleTrigger};

#[derive(Serialize, Deserialize)]
pub(super) struct InvocationText {
    addr: String,
    pub(super) provider: String,
    pub(super) config: ValueText,
    /// The object that calls the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caller: Option<String>,
    /// None: the action was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trigger: Option<TriggerText>,
}

/// Of a lifecycle: event, block, position in its list, what happens on failure.
#[derive(Serialize, Deserialize)]
struct TriggerText(String, usize, usize, String);

pub(super) fn text_of(invocation: &ActionInvocation, config: ValueText) -> InvocationText {
    let failure = |on_failure| match on_failure {
        OnActionFailure::Halt => "halt",
        OnActionFailure::Taint => "taint",
        OnActionFailure::Continue => "continue",
    };
    InvocationText {
        addr: invocation.addr.to_string(),
        provider: invocation.provider.to_string(),
        config,
        caller: invocation.caller().map(ToString::to_string),
        trigger: invocation
            .lifecycle()
            .map(|of| TriggerText(of.event.keyword().into(), of.block, of.position, failure(of.on_failure).into())),
    }
}

pub(super) fn of_text(
    text: InvocationText,
    provider: AbsProviderConfig,
    config: Value,
) -> Result<ActionInvocation, PlanFileError> {
    let caller = text.caller.map(|text| instance_of(&text)).transpose()?;
    let trigger = match (text.trigger, caller) {
        (Some(TriggerText(event, block, position, on_failure)), Some(resource)) => {
            InvocationTrigger::Lifecycle(LifecycleTrigger {
                resource,
                event: ActionEvent::of_keyword(&event).ok_or_else(|| PlanFileError::word("unknown event", &event))?,
                block,
                position,
                on_failure: OnActionFailure::of_keyword(&on_failure)
                    .ok_or_else(|| PlanFileError::word("unknown reaction to failure", &on_failure))?,
            })
        }
        (Some(_), None) => return Err(PlanFileError::Incomplete("a trigger without a resource")),
        (None, caller) => InvocationTrigger::Request { caller },
    };
    Ok(ActionInvocation { addr: action_address(&text.addr)?, provider, trigger, config })
}
