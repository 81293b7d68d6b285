//! Invocations of actions: by the change of an object, or by request.

use std::fmt;

use terrane_value::Value;

use crate::addr::{AbsActionInstance, AbsProviderConfig, AbsResourceInstance};
use crate::config::{ActionEvent, OnActionFailure};

/// An action to be invoked.
#[derive(Clone, Debug)]
pub struct ActionInvocation {
    pub addr: AbsActionInstance,
    pub provider: AbsProviderConfig,
    pub trigger: InvocationTrigger,
    /// The configuration, null if there is none; ephemeral values are null. The type is that of the action's schema.
    pub config: Value,
}

/// What makes an action run.
#[derive(Clone, Debug, PartialEq)]
pub enum InvocationTrigger {
    Lifecycle(LifecycleTrigger),
    /// `-invoke`, with the object that the action's configuration calls `caller`.
    Request {
        caller: Option<AbsResourceInstance>,
    },
}

/// An `action_trigger` block of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct LifecycleTrigger {
    pub resource: AbsResourceInstance,
    pub event: ActionEvent,
    /// Of the block among those of the resource.
    pub block: usize,
    /// Of the action in the block's list.
    pub position: usize,
    pub on_failure: OnActionFailure,
}

impl ActionInvocation {
    /// The trigger, if a change of an object invokes the action.
    pub fn lifecycle(&self) -> Option<&LifecycleTrigger> {
        match &self.trigger {
            InvocationTrigger::Lifecycle(trigger) => Some(trigger),
            InvocationTrigger::Request { .. } => None,
        }
    }

    /// The object whose change invokes the action, or for which it was requested.
    pub fn caller(&self) -> Option<&AbsResourceInstance> {
        match &self.trigger {
            InvocationTrigger::Lifecycle(trigger) => Some(&trigger.resource),
            InvocationTrigger::Request { caller } => caller.as_ref(),
        }
    }

    pub fn is_request(&self) -> bool {
        matches!(self.trigger, InvocationTrigger::Request { .. })
    }

    /// The order in which a plan lists the invocations of one object, and those by request.
    pub fn order(&self) -> (Option<usize>, Option<usize>) {
        self.lifecycle().map_or((None, None), |trigger| (Some(trigger.block), Some(trigger.position)))
    }
}

/// What makes the action run, as people read it.
impl fmt::Display for InvocationTrigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvocationTrigger::Lifecycle(trigger) => trigger.resource.fmt(f),
            InvocationTrigger::Request { caller: None } => f.write_str("CLI"),
            InvocationTrigger::Request { caller: Some(caller) } => write!(f, "CLI, called from {caller}"),
        }
    }
}
