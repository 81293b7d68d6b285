//! Stored objects: the JSON of the state file as a value of today's type.

use terrane_protocol::provider::{ProviderDiagnostic, RawState};
use terrane_value::document::Document;
use terrane_value::{Number, Type, Value};

/// The stored JSON as an object of `ty`: missing attributes are null, unknown ones are dropped.
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
    let json = Document::parse(bytes).map_err(|error| error.to_string())?;
    let (Document::Object(_), Some(wanted)) = (&json, ty.object_type()) else {
        return Err("it is not an object".into());
    };
    let mut attributes = Vec::with_capacity(wanted.attributes.len());
    for (name, ty) in &wanted.attributes {
        let value = value_of(json.get(name).unwrap_or(&Document::Null), ty)
            .map_err(|error| format!("attribute {name:?}: {error}"))?;
        attributes.push((name.clone(), value));
    }
    Ok(Value::object(attributes))
}

fn value_of(json: &Document, ty: &Type) -> Result<Value, String> {
    if *json == Document::Null {
        return Ok(Value::null(ty.clone()));
    }
    let list = |element: &Type| match json {
        Document::Array(items) => items.iter().map(|item| value_of(item, element)).collect::<Result<Vec<_>, _>>(),
        _ => Err("a list is required".to_owned()),
    };
    match (ty, json) {
        (Type::Dynamic, Document::Object(_)) => {
            let ty = json.get("type").ok_or("a dynamic value without its type")?;
            let ty = Type::from_document(ty).map_err(|error| error.to_string())?;
            value_of(json.get("value").unwrap_or(&Document::Null), &ty)
        }
        (Type::Bool, Document::Bool(flag)) => Ok(Value::bool(*flag)),
        (Type::Bool, Document::String(text)) if text == "true" || text == "false" => Ok(Value::bool(text == "true")),
        (Type::Number, Document::Number(number)) => number_of(number),
        (Type::Number, Document::String(text)) => number_of(text),
        (Type::String, Document::String(text)) => Ok(Value::string(text)),
        (Type::String, Document::Number(number)) => Ok(Value::string(&**number)),
        (Type::String, Document::Bool(flag)) => Ok(Value::string(flag.to_string())),
        (Type::List(element), _) => Ok(Value::list((**element).clone(), list(element)?)),
        (Type::Set(element), _) => Ok(Value::set((**element).clone(), list(element)?)),
        (Type::Map(element), Document::Object(fields)) => {
            let entries: Result<Vec<_>, String> =
                fields.iter().map(|(key, field)| Ok((key.as_str(), value_of(field, element)?))).collect();
            Ok(Value::map((**element).clone(), entries?))
        }
        (Type::Tuple(types), Document::Array(items)) if types.len() == items.len() => {
            let elements: Result<Vec<_>, _> = items.iter().zip(types.iter()).map(|(i, ty)| value_of(i, ty)).collect();
            Ok(Value::tuple(elements?))
        }
        (Type::Object(wanted), Document::Object(_)) => {
            let attributes: Result<Vec<_>, String> = wanted
                .attributes
                .iter()
                .map(|(name, ty)| Ok((name.clone(), value_of(json.get(name).unwrap_or(&Document::Null), ty)?)))
                .collect();
            Ok(Value::object(attributes?))
        }
        (ty, _) => Err(format!("{} is required", ty.friendly_name())),
    }
}

fn number_of(text: &str) -> Result<Value, String> {
    Number::parse(text).map(Value::number).ok_or_else(|| format!("{text:?} is not a number"))
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
