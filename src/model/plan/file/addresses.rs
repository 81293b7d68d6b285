//! `terrane-plan.json`: addresses.

use crate::addr::{AbsActionInstance, AbsResourceInstance, ModuleInstance, Pattern, Target, command_line};
use crate::state::file::{deferred_instance, module_instance, problems_text, resource_instance};

pub(super) fn instance_of(text: &str) -> Result<AbsResourceInstance, String> {
    resource_instance(text).ok_or_else(|| no_address(text))
}

/// As [`instance_of`], also with the wildcard keys that deferred changes and what depends on them have.
pub(super) fn placeholder_of(text: &str) -> Result<AbsResourceInstance, String> {
    deferred_instance(text).ok_or_else(|| no_address(text))
}

fn no_address(text: &str) -> String {
    format!("{text:?} is no address")
}

pub(super) fn action_address(text: &str) -> Result<AbsActionInstance, String> {
    command_line::action(text).map_err(|_| format!("{text:?} is no address of an action"))
}

pub(super) fn target_text(target: &Target) -> (u8, String) {
    match target {
        Target::Module(module) => (0, module.to_string()),
        Target::Resource(resource) => (1, resource.to_string()),
        Target::Instance(instance) => (2, instance.to_string()),
        Target::Pattern(pattern) => (3, pattern.to_string()),
    }
}

pub(super) fn target_of((kind, text): (u8, String)) -> Result<Target, String> {
    let module = |text: &str| match text {
        "" => Ok(ModuleInstance::root()),
        text => module_instance(text).map_err(|d| d.detail),
    };
    Ok(match kind {
        0 => Target::Module(module(&text)?),
        1 => Target::Resource(instance_of(&text)?.containing_resource()),
        2 => Target::Instance(instance_of(&text)?),
        3 => Target::Pattern(Pattern::parse(&text).map_err(|problems| problems_text(&problems))?),
        _ => return Err(format!("unknown kind of target {kind}")),
    })
}
