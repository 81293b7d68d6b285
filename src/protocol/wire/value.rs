//! Values between the wire and the language.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use terrane_value::text::lossy_text;
use terrane_value::{Type, Value, json, msgpack};

use super::WireError;
use super::dynamic_value::DynamicValue;

/// A value for the wire. It carries no marks.
pub fn to_wire(value: &Value, ty: &Type) -> Option<DynamicValue> {
    Some(DynamicValue::of(msgpack::encode_in_pieces(value, ty)))
}

/// A value of the type; null where the plugin sent nothing.
pub fn from_wire(value: Option<DynamicValue>, ty: &Type) -> Result<Value, WireError> {
    from_wire_like(value, ty, &[])
}

/// As `from_wire`; long texts and attributes that are in one of the other values are shared with it.
pub fn from_wire_like(value: Option<DynamicValue>, ty: &Type, others: &[&Value]) -> Result<Value, WireError> {
    let Some(value) = value else { return Ok(Value::null(ty.clone())) };
    let bytes = value.msgpack();
    if !bytes.is_empty() {
        let mut known = HashSet::new();
        if bytes.len() >= msgpack::LONG_TEXT {
            others.iter().for_each(|other| msgpack::long_texts(other, &mut known));
        }
        let value = msgpack::decode_sharing(&bytes, ty, known).map_err(WireError::Msgpack)?;
        Ok(value.sharing(others))
    } else if !value.json.is_empty() {
        json::from_json(lossy_text(&value.json).as_bytes(), ty).map_err(WireError::Json)
    } else {
        Ok(Value::null(ty.clone()))
    }
}

/// Private data for the wire.
pub fn bytes_of(data: &[u8]) -> Bytes {
    if data.is_empty() { Bytes::new() } else { Bytes::copy_from_slice(data) }
}

/// Private data from the wire.
pub fn shared(data: &[u8]) -> Arc<[u8]> {
    Arc::from(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shared_with_other_values() {
        let text = Value::string("x".repeat(msgpack::LONG_TEXT));
        let value = Value::object([("input", text.clone()), ("output", text.clone())]);
        let same = |a: &Value, b: &Value| Arc::ptr_eq(&a.as_arc_str().unwrap(), &b.as_arc_str().unwrap());
        let received = from_wire_like(to_wire(&value, value.ty()), value.ty(), &[&text]).unwrap();
        assert_eq!(received, value);
        assert!(same(received.get("input").unwrap(), &text) && same(received.get("output").unwrap(), &text));
        let received = from_wire(to_wire(&value, value.ty()), value.ty()).unwrap();
        assert!(!same(received.get("input").unwrap(), &text));
        assert!(same(received.get("input").unwrap(), received.get("output").unwrap()));
    }
}
