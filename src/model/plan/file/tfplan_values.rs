//! Plans that Terraform or OpenTofu wrote: values, paths, addresses and reasons.

use terrane_value::{Marks, Path, PathStep, Type, Value, msgpack};

use super::error::PlanFileError;
use super::protobuf::Message;
use crate::addr::{AbsProviderConfig, AbsResourceInstance, Provider};
use crate::plan::DeferredReason;
use crate::state::file::{provider_config, resource_instance};

#[derive(Clone, Debug)]
pub(super) struct RawValue {
    pub(super) msgpack: Vec<u8>,
    pub(super) sensitive: Vec<(Path, Marks)>,
}

/// The type of the values of a resource.
pub type TypeOf<'a> = &'a dyn Fn(&Provider, &AbsResourceInstance) -> Result<Type, PlanFileError>;

/// The type of the configuration of an action, by the name of its type.
pub type ActionTypeOf<'a> = &'a dyn Fn(&Provider, &str) -> Result<Type, PlanFileError>;

pub(super) fn deferral_reason(number: u64) -> DeferredReason {
    match number {
        1 => DeferredReason::InstanceCountUnknown,
        2 => DeferredReason::ResourceConfigUnknown,
        3 => DeferredReason::ProviderConfigUnknown,
        4 => DeferredReason::AbsentPrereq,
        5 => DeferredReason::DeferredPrereq,
        _ => DeferredReason::Unknown,
    }
}

pub(super) fn instance(text: &str) -> Result<AbsResourceInstance, PlanFileError> {
    resource_instance(text).ok_or_else(|| invalid_address(text))
}

pub(super) fn invalid_address(text: &str) -> PlanFileError {
    PlanFileError::InvalidInstance(text.to_owned())
}

pub(super) fn provider(text: &str) -> Result<AbsProviderConfig, PlanFileError> {
    Ok(provider_config(text)?)
}

/// Other values have a type beside them; a key is one of the primitive types.
fn key_of_step(message: &Message<'_>) -> Result<Value, PlanFileError> {
    Ok(msgpack::primitive(message.bytes(1).unwrap_or_default())?)
}

pub(super) fn path(message: &Message<'_>) -> Result<Path, PlanFileError> {
    let step = |step: Result<Message<'_>, PlanFileError>| {
        let step = step?;
        Ok(match step.bytes(2) {
            Some(key) => PathStep::Index(key_of_step(&Message::read(key)?)?),
            None => PathStep::Attr(step.text(1)?.into()),
        })
    };
    message.messages(1).map(step).collect::<Result<Vec<_>, PlanFileError>>().map(Path)
}
