//! Small bridges between values and Rust.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::lang::value::Value;

/// The attribute as text; none if it is null, unknown or absent.
pub fn text_of<'v>(object: &'v Value, name: &str) -> Option<&'v str> {
    object.get(name).and_then(Value::as_str)
}

pub fn int_of(object: &Value, name: &str) -> Option<i64> {
    object.get(name).and_then(Value::as_i64)
}

pub fn bool_of(object: &Value, name: &str) -> Option<bool> {
    object.get(name).and_then(Value::as_bool)
}

/// The object with some attributes replaced.
pub fn object_with<const N: usize>(object: &Value, changes: [(&'static str, Value); N]) -> Value {
    let mut attributes: BTreeMap<Arc<str>, Value> = object.entries().clone();
    for (name, value) in changes {
        attributes.insert(Arc::from(name), value);
    }
    Value::object(attributes)
}

/// A map of texts; null elements are left out.
pub fn strings_map(value: &Value) -> BTreeMap<String, String> {
    value.entries().iter().filter_map(|(key, value)| Some((key.to_string(), value.as_str()?.to_owned()))).collect()
}

pub fn b64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
