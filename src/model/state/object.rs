//! One object of a resource instance as the state keeps it.

use std::fmt;
use std::sync::Arc;

use terrane_protocol::provider::Identity;
use terrane_value::{Marks, Path, Type, Value};

use crate::addr::ConfigResource;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectStatus {
    Ready,
    Tainted,
}

/// The attributes of a stored object: the text that the file holds, until a provider's schema gives them a type.
#[derive(Clone, Debug, PartialEq)]
pub enum Attributes {
    /// The text of a JSON object, written by the schema version beside it.
    Json(Arc<str>),
    /// The flat form of states before version 4.
    Flat(Arc<[(String, String)]>),
    /// Decoded with the provider's current schema; carries no marks. The type is the one that the schema implies: what
    /// is dynamic there is stored together with its own type, which the value alone does not tell.
    Value { value: Value, ty: Type },
}

/// One object: current or deposed. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    pub status: ObjectStatus,
    pub schema_version: i64,
    pub attributes: Attributes,
    /// Paths within the attributes that are sensitive, beyond what the schema says.
    pub sensitive: Arc<[(Path, Marks)]>,
    /// The identity, if the provider returned one.
    pub identity: Option<Identity>,
    /// What the provider keeps for itself.
    pub private: Arc<[u8]>,
    /// Everything that this object depends on, transitively; sorted; shared between objects where equal.
    pub dependencies: Arc<[ConfigResource]>,
    pub create_before_destroy: bool,
    /// Left alone where it would be destroyed, also when its block is gone.
    pub keep: bool,
    /// Which instance of the resource's provider configuration manages it, of one with `for_each`.
    pub provider_key: Option<Arc<str>>,
}

/// The eight hex digits that name a deposed object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeposedKey(pub Arc<str>);

impl fmt::Display for DeposedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
