//! Identities of objects, and their schemas, between the wire and the model.

use std::collections::BTreeMap;
use std::sync::Arc;

use terrane_value::Type;
use wire::resource_identity_schema::IdentityAttribute as WireAttribute;

use super::message as wire;
use super::{WireError, value};
use crate::provider::{Identity, IdentityAttribute, IdentityError, IdentitySchema, IdentityUse};
use crate::schema::{SchemaError, SchemaPart};

pub fn schema_from_wire(schema: wire::ResourceIdentitySchema) -> Result<IdentitySchema, SchemaError> {
    let mut attributes = BTreeMap::new();
    for attribute in schema.identity_attributes {
        let ty = Type::from_json_bytes(&attribute.r#type)
            .map_err(|error| SchemaError::Type(SchemaPart::IdentityAttribute(attribute.name.clone()), error))?;
        let import = match (attribute.required_for_import, attribute.optional_for_import) {
            (true, _) => IdentityUse::Required,
            (false, true) => IdentityUse::Optional,
            (false, false) => IdentityUse::Never,
        };
        attributes
            .insert(Arc::from(attribute.name), IdentityAttribute { ty, import, description: attribute.description });
    }
    Ok(IdentitySchema { version: schema.version, attributes })
}

pub fn schema_to_wire(schema: &IdentitySchema) -> wire::ResourceIdentitySchema {
    let attribute = |(name, attribute): (&Arc<str>, &IdentityAttribute)| WireAttribute {
        name: name.to_string(),
        r#type: attribute.ty.to_json_bytes().into(),
        required_for_import: attribute.import == IdentityUse::Required,
        optional_for_import: attribute.import == IdentityUse::Optional,
        description: attribute.description.clone(),
    };
    let identity_attributes = schema.attributes.iter().map(attribute).collect();
    wire::ResourceIdentitySchema { version: schema.version, identity_attributes }
}

/// None if it does not identify an object: see [`Identity::from_value`].
pub fn from_wire(
    data: Option<wire::ResourceIdentityData>,
    schema: &IdentitySchema,
) -> Result<Option<Identity>, WireError> {
    let Some(data) = data.and_then(|data| data.identity_data) else { return Ok(None) };
    let value = value::from_wire(Some(data), &schema.implied_type())?;
    Identity::from_value(&value, schema).map_err(WireError::Identity)
}

pub fn to_wire(identity: &Identity, schema: &IdentitySchema) -> Result<wire::ResourceIdentityData, IdentityError> {
    let identity_data = value::to_wire(&identity.to_value(schema)?, &schema.implied_type());
    Ok(wire::ResourceIdentityData { identity_data })
}

#[cfg(test)]
mod tests {
    use terrane_value::Value;

    use super::*;

    fn schema() -> IdentitySchema {
        let never = IdentityAttribute { import: IdentityUse::Never, ..IdentityAttribute::required(Type::Bool) };
        let described =
            IdentityAttribute { description: "where".to_owned(), ..IdentityAttribute::optional(Type::Number) };
        let named = IdentityAttribute::required(Type::String);
        let attributes = [(Arc::from("name"), named), (Arc::from("place"), described), (Arc::from("seen"), never)];
        IdentitySchema { version: 3, attributes: attributes.into() }
    }

    #[test]
    fn schemas_cross_the_wire_unchanged() {
        assert_eq!(schema_from_wire(schema_to_wire(&schema())), Ok(schema()));
        let mut broken = schema_to_wire(&schema());
        broken.identity_attributes[1].r#type = b"\"strong\""[..].into();
        assert!(schema_from_wire(broken).unwrap_err().to_string().contains("\"place\" has an invalid type"));
    }

    #[test]
    fn identities_cross_the_wire() {
        let of = |json: &str| Identity { schema_version: 3, json: json.into() };
        let whole = of(r#"{"name":"n","place":1,"seen":null}"#);
        assert_eq!(from_wire(Some(to_wire(&whole, &schema()).unwrap()), &schema()), Ok(Some(whole.clone())));
        let empty = of(r#"{"name":null,"place":null,"seen":null}"#);
        assert_eq!(from_wire(Some(to_wire(&empty, &schema()).unwrap()), &schema()), Ok(None));
        let unknown = Value::unknown(schema().implied_type());
        let data = wire::ResourceIdentityData { identity_data: value::to_wire(&unknown, unknown.ty()) };
        assert_eq!(from_wire(Some(data), &schema()), Ok(None));
        assert_eq!(from_wire(None, &schema()), Ok(None));
        let older = Identity { schema_version: 2, ..whole };
        assert!(to_wire(&older, &schema()).unwrap_err().to_string().contains("version 2, not 3"));
        assert!(to_wire(&of("[]"), &schema()).is_err());
    }
}
