//! `terrane-plan.json`: addresses.

use super::error::PlanFileError;
use crate::addr::{AbsActionInstance, AbsResourceInstance, ModuleInstance, Pattern, Target, command_line};
use crate::state::file::{deferred_instance, module_instance, resource_instance};

pub(super) fn instance_of(text: &str) -> Result<AbsResourceInstance, PlanFileError> {
    resource_instance(text).ok_or_else(|| PlanFileError::not(ADDRESS, text))
}

/// As [`instance_of`], also with the wildcard keys that deferred changes and what depends on them have.
pub(super) fn placeholder_of(text: &str) -> Result<AbsResourceInstance, PlanFileError> {
    deferred_instance(text).ok_or_else(|| PlanFileError::not(ADDRESS, text))
}

const ADDRESS: &str = "address";

pub(super) fn action_address(text: &str) -> Result<AbsActionInstance, PlanFileError> {
    command_line::action(text).map_err(|_| PlanFileError::not("address of an action", text))
}

pub(super) fn target_text(target: &Target) -> (u8, String) {
    match target {
        Target::Module(module) => (0, module.to_string()),
        Target::Resource(resource) => (1, resource.to_string()),
        Target::Instance(instance) => (2, instance.to_string()),
        Target::Pattern(pattern) => (3, pattern.to_string()),
    }
}

pub(super) fn target_of((kind, text): (u8, String)) -> Result<Target, PlanFileError> {
    let module = |text: &str| match text {
        "" => Ok(ModuleInstance::root()),
        text => module_instance(text),
    };
    Ok(match kind {
        0 => Target::Module(module(&text)?),
        1 => Target::Resource(instance_of(&text)?.containing_resource()),
        2 => Target::Instance(instance_of(&text)?),
        3 => Target::Pattern(Pattern::parse(&text)?),
        _ => return Err(PlanFileError::number("unknown kind of target", kind)),
    })
}
