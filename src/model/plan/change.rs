//! Changes of one object and of one output.

use std::sync::Arc;

use terrane_protocol::provider::Identity;
use terrane_value::{Path, Value};

use super::{Action, ActionReason};
use crate::addr::{AbsProviderConfig, AbsResourceInstance};
use crate::state::DeposedKey;

/// Before and after of one object. Values carry marks; null stands for absence.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub before: Value,
    /// Holds unknowns for what only apply can tell.
    pub after: Value,
}

/// A planned (or found) change of one object.
#[derive(Clone, Debug)]
pub struct ResourceChange {
    pub addr: AbsResourceInstance,
    /// The same as `addr` unless the object was moved.
    pub previous_addr: AbsResourceInstance,
    /// Set for a deposed object.
    pub deposed: Option<DeposedKey>,
    pub provider: AbsProviderConfig,
    pub action: Action,
    pub reason: ActionReason,
    pub change: Change,
    /// What forces a replacement.
    pub required_replace: Vec<Path>,
    /// What the provider wants back at apply.
    pub private: Arc<[u8]>,
    pub importing: Option<Importing>,
    pub identity: IdentityChange,
    pub generated_config: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Importing {
    /// None while unknown, or where an identity is given instead.
    pub id: Option<String>,
    /// A JSON object.
    pub identity: Option<String>,
}

/// The identities of an object, as far as the provider gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdentityChange {
    pub before: Option<Identity>,
    pub after: Option<Identity>,
}

#[derive(Clone, Debug)]
pub struct OutputChange {
    pub name: Arc<str>,
    pub action: Action,
    pub change: Change,
    pub sensitive: bool,
}
