//! What identifies the objects of a resource type.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::lang::value::Type;

/// A type whose objects nothing identifies but an id.
pub const NO_IDENTITY: &str = "Import by identity is not supported";

/// The attributes that together identify an object of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdentitySchema {
    pub version: i64,
    pub attributes: BTreeMap<Arc<str>, IdentityAttribute>,
}

impl IdentitySchema {
    pub fn implied_type(&self) -> Type {
        Type::object(self.attributes.iter().map(|(name, attribute)| (name.clone(), attribute.ty.clone())))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityAttribute {
    pub ty: Type,
    pub import: IdentityUse,
    /// Markdown.
    pub description: String,
}

/// Whether an import by identity sets an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityUse {
    Required,
    /// The provider knows the value if it is not set.
    Optional,
    /// The protocol allows this, although such an attribute cannot be set.
    Never,
}

impl IdentityAttribute {
    /// An attribute that an import must set.
    pub fn required(ty: Type) -> IdentityAttribute {
        IdentityAttribute { ty, import: IdentityUse::Required, description: String::new() }
    }

    /// An attribute that an import may set.
    pub fn optional(ty: Type) -> IdentityAttribute {
        IdentityAttribute { import: IdentityUse::Optional, ..IdentityAttribute::required(ty) }
    }

    pub fn is_required(&self) -> bool {
        self.import == IdentityUse::Required
    }
}

/// What identifies an object, as the state keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub schema_version: i64,
    /// The text of a JSON object, of the type that the schema of that version gives.
    pub json: Arc<str>,
}
