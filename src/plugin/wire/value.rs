//! Values between the wire and the language.

use bytes::Bytes;

use super::v6::message::DynamicValue;
use crate::lang::value::text::lossy_text;
use crate::lang::value::{Type, Value, json, msgpack};

/// A value for the wire. It carries no marks.
pub fn to_wire(value: &Value, ty: &Type) -> Option<DynamicValue> {
    Some(DynamicValue { msgpack: msgpack::encode(value, ty).into(), json: Bytes::new() })
}

/// A value of the type; null where the plugin sent nothing.
pub fn from_wire(value: Option<DynamicValue>, ty: &Type) -> Result<Value, String> {
    let Some(value) = value else { return Ok(Value::null(ty.clone())) };
    if !value.msgpack.is_empty() {
        msgpack::decode(&value.msgpack, ty).map_err(|error| error.to_string())
    } else if !value.json.is_empty() {
        json::from_json(lossy_text(&value.json).as_bytes(), ty).map_err(|error| error.to_string())
    } else {
        Ok(Value::null(ty.clone()))
    }
}
