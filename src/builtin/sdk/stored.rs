//! Stored objects: the JSON of the state file as a value of today's type.

use serde_json::Value as Json;

use crate::lang::value::json::from_json_value;
use crate::lang::value::{Type, Value};
use crate::model::provider::{ProviderDiagnostic, RawState};

/// The stored JSON as an object of `ty`: attributes that it lacks are null, ones that are no more are dropped.
pub fn stored_object(raw: &RawState, ty: &Type) -> Result<Value, ProviderDiagnostic> {
    read(raw, ty).map_err(|error| {
        ProviderDiagnostic::error(
            "Unable to Read Previously Saved State",
            format!("The stored object does not fit the resource type's schema: {error}."),
        )
    })
}

fn read(raw: &RawState, ty: &Type) -> Result<Value, String> {
    let RawState::Json(bytes) = raw else { return Err("it is in the form of Terraform 0.11 or earlier".into()) };
    let json: Json = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let (Json::Object(mut fields), Some(wanted)) = (json, ty.object_type()) else {
        return Err("it is not an object".into());
    };
    let mut attributes = Vec::with_capacity(wanted.attributes.len());
    for (name, ty) in &wanted.attributes {
        let field = fields.remove(&**name).unwrap_or(Json::Null);
        let value = from_json_value(&field, ty).map_err(|error| format!("attribute {name:?}: {error}"))?;
        attributes.push((name.clone(), value));
    }
    Ok(Value::object(attributes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_states_hold() {
        let ty = Type::object([
            ("d", Type::Dynamic),
            ("m", Type::map(Type::String)),
            ("n", Type::Number),
            ("new", Type::list(Type::String)),
        ]);
        let text = r#"{"d":{"value":["a",1],"type":["tuple",["string","number"]]},"m":{"k":"v"},"n":1e3,"old":true}"#;
        let value = stored_object(&RawState::Json(text.as_bytes().into()), &ty).unwrap();
        assert_eq!(value.get("d"), Some(&Value::tuple(vec![Value::string("a"), Value::int(1)])));
        assert_eq!(value.get("m"), Some(&Value::map(Type::String, [("k", Value::string("v"))])));
        assert_eq!(value.get("n"), Some(&Value::int(1000)));
        assert!(value.get("new").unwrap().is_null() && value.get("old").is_none());
        assert!(stored_object(&RawState::Json(b"[]".as_slice().into()), &ty).is_err());
        assert!(stored_object(&RawState::Json(br#"{"n":{}}"#.as_slice().into()), &ty).is_err());
    }
}
