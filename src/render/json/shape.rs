//! The shadows of a value that JSON documents carry beside it: what is unknown, what is sensitive, what is left when
//! the unknown is left out.

use serde_json::{Map, Value as Json};
use terrane_value::{Marks, Path, PathStep, Type, Value, json};

/// The value as JSON, unknown parts left out of objects and maps and null in sequences.
pub fn known_json(value: &Value) -> Json {
    let (value, _) = value.unmark_deep();
    plain(&value)
}

fn plain(value: &Value) -> Json {
    if value.is_null() || !value.is_known() {
        return Json::Null;
    }
    match value.ty() {
        Type::Bool | Type::Number | Type::String => {
            let text = json::to_simple_json(value).unwrap_or_default();
            serde_json::from_str(&text).unwrap_or(Json::Null)
        }
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => Json::Array(value.elements().iter().map(plain).collect()),
        _ => {
            let known = value.entries().iter().filter(|(_, v)| v.is_known());
            Json::Object(known.map(|(name, v)| (name.to_string(), plain(v))).collect())
        }
    }
}

/// `true` where the value is unknown; objects and maps list only the keys under which something is.
pub fn unknown_json(value: &Value) -> Json {
    shadow(value, &|v| !v.is_known())
}

/// `true` where the value is sensitive; objects and maps list only the keys under which something is.
pub fn sensitive_json(value: &Value) -> Json {
    shadow(value, &|v| v.marks().contains(Marks::SENSITIVE))
}

fn shadow(value: &Value, is: &dyn Fn(&Value) -> bool) -> Json {
    if is(value) {
        return Json::Bool(true);
    }
    if value.is_null() {
        return Json::Bool(false);
    }
    match value.ty() {
        Type::Dynamic | Type::Bool | Type::Number | Type::String => Json::Bool(false),
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => {
            Json::Array(value.elements().iter().map(|v| shadow(v, is)).collect())
        }
        _ => {
            let parts = value.entries().iter().map(|(name, v)| (name.to_string(), shadow(v, is)));
            Json::Object(parts.filter(|(_, v)| *v != Json::Bool(false)).collect())
        }
    }
}

/// A path as a list of names, keys and indices.
pub fn path_json(path: &Path) -> Json {
    Json::Array(path.steps().iter().map(step_json).collect())
}

fn step_json(step: &PathStep) -> Json {
    match step {
        PathStep::Attr(name) => Json::String(name.to_string()),
        PathStep::Index(key) => known_json(key),
    }
}

/// A type in its JSON form.
pub fn type_json(ty: &Type) -> Json {
    ty.to_json()
}

/// Adds a field unless it is null, an empty string, an empty list or an empty object.
pub fn put(object: &mut Map<String, Json>, name: &str, value: impl Into<Json>) {
    let value = value.into();
    let empty = match &value {
        Json::Null => true,
        Json::String(s) => s.is_empty(),
        Json::Array(a) => a.is_empty(),
        Json::Object(o) => o.is_empty(),
        _ => false,
    };
    if !empty {
        object.insert(name.into(), value);
    }
}

/// Adds a field with any value.
pub fn set(object: &mut Map<String, Json>, name: &str, value: impl Into<Json>) {
    object.insert(name.into(), value.into());
}
