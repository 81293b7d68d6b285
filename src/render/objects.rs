//! Stored objects as values that can be shown.

use std::fmt;

use model::addr::{AbsResourceInstance, Provider, Resource};
use model::state::{Attributes, Object};
use terrane_protocol::schema::{ResourceMode, Schema};
use terrane_value::Value;
use terrane_value::json::{JsonError, from_json};

use crate::schemas::with_schema_marks;

/// Why a stored object cannot be shown, worded as the reference does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectError {
    /// The provider has no such type.
    NoSchema { resource: Resource, provider: Provider },
    /// The provider describes the type in another version.
    Version { resource: Resource, stored: i64, schema: i64 },
    /// The object does not fit the provider's description.
    Value(JsonError),
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectError::NoSchema { resource, provider } => {
                write!(f, "no schema found for {resource} (in provider {provider})")
            }
            ObjectError::Version { resource, stored, schema } => write!(
                f,
                "schema version {stored} for {resource} in state does not match version {schema} from the provider"
            ),
            ObjectError::Value(error) => error.fmt(f),
        }
    }
}

/// A stored object's value with everything marked that is sensitive.
///
/// Fails if the provider has no such type, or describes it in another version or with other attributes than the object was
/// stored with: what is sensitive in it would not be known.
pub fn object_value(
    addr: &AbsResourceInstance,
    provider: &Provider,
    object: &Object,
    schema: Option<&Schema>,
) -> Result<Value, ObjectError> {
    let resource = &addr.resource.resource;
    let schema =
        schema.ok_or_else(|| ObjectError::NoSchema { resource: resource.clone(), provider: provider.clone() })?;
    // Earlier versions of Terrane wrote the schema's version for data sources too.
    if resource.mode == ResourceMode::Managed && schema.version != object.schema_version {
        return Err(ObjectError::Version {
            resource: resource.clone(),
            stored: object.schema_version,
            schema: schema.version,
        });
    }
    let value = match &object.attributes {
        Attributes::Value { value, .. } => value.clone(),
        Attributes::Json(text) => from_json(text.as_bytes(), schema.implied_type()).map_err(ObjectError::Value)?,
        Attributes::Flat(pairs) => {
            Value::object(pairs.iter().map(|(key, text)| (key.as_str(), Value::string(text))).collect::<Vec<_>>())
        }
    };
    Ok(with_schema_marks(&value.mark_at_paths(&object.sensitive), &schema.block))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use model::addr::{InstanceKey, ModuleInstance};
    use model::state::ObjectStatus;
    use terrane_protocol::schema::{Attribute, Block};
    use terrane_value::Type;

    use super::*;

    /// An object without anything else, also for other tests.
    pub(crate) fn object(schema_version: i64, text: &str) -> Object {
        Object {
            status: ObjectStatus::Ready,
            schema_version,
            attributes: Attributes::Json(text.into()),
            sensitive: Arc::default(),
            identity: None,
            private: Arc::default(),
            dependencies: Arc::default(),
            create_before_destroy: false,
            keep: false,
            provider_key: None,
        }
    }

    /// What the reference says of the same objects.
    #[test]
    fn objects_must_fit_their_schema() {
        let addr = Resource::managed("x", "a").absolute(ModuleInstance::root()).instance(InstanceKey::Int(1));
        let provider = Provider::builtin("test");
        let mut block = Block::default();
        block.attributes.insert("id".into(), Attribute::new(Type::String));
        let schema = Schema::new(2, block);
        let cases = [
            (2, r#"{"id":"1"}"#, Some(&schema), ""),
            (2, "{}", None, "no schema found for x.a (in provider terraform.io/builtin/test)"),
            (1, "{}", Some(&schema), "schema version 1 for x.a in state does not match version 2 from the provider"),
            (2, r#"{"old":"1"}"#, Some(&schema), "unsupported attribute \"old\""),
        ];
        for (version, text, schema, expected) in cases {
            let found = object_value(&addr, &provider, &object(version, text), schema);
            assert_eq!(found.err().map(|error| error.to_string()).unwrap_or_default(), expected);
        }
    }
}
