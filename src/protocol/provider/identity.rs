//! What identifies the objects of a resource type.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use terrane_value::json::JsonError;
use terrane_value::{Type, Value, json};

/// A type whose objects nothing identifies but an id.
pub const NO_IDENTITY: &str = "Import by identity is not supported";

/// The summary where an identity does not fit the schema of its type.
pub const INVALID_IDENTITY: &str = "Invalid resource identity";

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

    /// The type that the identity of an import is converted to: attributes that are not required may be left out.
    pub fn import_type(&self) -> Type {
        let attributes = self.attributes.iter().map(|(name, attribute)| (name.clone(), attribute.ty.clone()));
        let optional = self.attributes.iter().filter(|(_, attribute)| !attribute.is_required());
        Type::object_with_optional(attributes, optional.map(|(name, _)| name.clone()))
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

impl Identity {
    /// Of an object of the type of the schema. None if it is null, has no value in it, or is not completely known, as in the
    /// plan of a new object.
    pub fn from_value(value: &Value, schema: &IdentitySchema) -> Result<Option<Identity>, IdentityError> {
        if value.is_null() || !value.is_wholly_known() || value.entries().values().all(Value::is_null) {
            return Ok(None);
        }
        let json = json::to_json(value, &schema.implied_type()).map_err(IdentityError::Json)?;
        Ok(Some(Identity { schema_version: schema.version, json: json.into() }))
    }

    /// As [`identity_text`].
    pub fn text(&self) -> String {
        json::from_untyped_json(self.json.as_bytes())
            .map_or_else(|_| "(decode error)".to_string(), |v| identity_text(&v))
    }

    /// The identity as an object of the type of the schema, which must have the same version.
    pub fn to_value(&self, schema: &IdentitySchema) -> Result<Value, IdentityError> {
        if self.schema_version != schema.version {
            return Err(IdentityError::Version { stored: self.schema_version, schema: schema.version });
        }
        json::from_json(self.json.as_bytes(), &schema.implied_type()).map_err(IdentityError::Json)
    }
}

/// Why an identity does not fit its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdentityError {
    /// It is stored with another version of the schema.
    Version { stored: i64, schema: i64 },
    /// Its JSON is not an object of the schema's type, or the object has no such JSON.
    Json(JsonError),
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IdentityError::Version { stored, schema } => write!(f, "it has the schema version {stored}, not {schema}"),
            IdentityError::Json(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for IdentityError {}

/// An identity as text for people: its attributes by name.
pub fn identity_text(identity: &Value) -> String {
    if identity.is_null() {
        return "<null>".to_string();
    }
    if !identity.is_wholly_known() {
        return "<unknown>".to_string();
    }
    if identity.entries().is_empty() {
        return "<empty>".to_string();
    }
    let attributes = identity.entries().iter().map(|(name, value)| format!("{name}={}", attribute_text(value)));
    attributes.collect::<Vec<_>>().join(",")
}

fn attribute_text(value: &Value) -> String {
    if value.is_null() {
        return "<null>".to_string();
    }
    if value.is_sensitive() {
        return "<sensitive>".to_string();
    }
    match (value.as_str(), value.as_bool(), value.as_number()) {
        (Some(text), _, _) => text.to_string(),
        (_, Some(truth), _) => truth.to_string(),
        (_, _, Some(number)) => number.to_string(),
        _ if value.ty().is_list() => {
            format!("[{}]", value.elements().iter().map(attribute_text).collect::<Vec<_>>().join(","))
        }
        _ => "<unknown type>".to_string(),
    }
}
