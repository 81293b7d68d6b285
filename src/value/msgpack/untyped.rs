//! MessagePack whose type is not known: as JSON, or as the key of a step of a path.

use rmp::Marker;
use rmp::decode::{self as dec, Bytes};

use super::{
    DEEPEST, Result, array_length, broken, decode, fail, map_length, marker, nests_deeper_than, read_key, read_number,
    read_text,
};
use crate::document::Document;
use crate::{Type, Value};

/// Reads a value without unknown parts; anything after it is an error.
pub fn to_json(bytes: &[u8]) -> Result<Document> {
    if nests_deeper_than(bytes, DEEPEST) {
        return fail(format!("nested more than {DEEPEST} levels deep"));
    }
    let mut input = Bytes::new(bytes);
    let json = read(&mut input)?;
    if input.remaining_slice().is_empty() { Ok(json) } else { fail("extra bytes after msgpack value") }
}

/// Reads a primitive value, whose type is that of its encoding.
pub fn primitive(bytes: &[u8]) -> Result<Value> {
    let ty = match marker(&Bytes::new(bytes))? {
        Marker::Null => return Ok(Value::null_dynamic()),
        Marker::True | Marker::False => Type::Bool,
        Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => Type::String,
        _ => Type::Number,
    };
    decode(bytes, &ty)
}

fn read(input: &mut Bytes<'_>) -> Result<Document> {
    let marker = marker(input)?;
    Ok(match marker {
        Marker::Null => {
            dec::read_nil(input).map_err(broken)?;
            Document::Null
        }
        Marker::True | Marker::False => Document::Bool(dec::read_bool(input).map_err(broken)?),
        Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
            Document::String(read_text(input, marker)?.into_owned())
        }
        Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => {
            let length = array_length(input, "a list is required")?;
            Document::Array((0..length).map(|_| read(input)).collect::<Result<_>>()?)
        }
        Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => {
            let length = map_length(input, "a map is required")?;
            let entry = |input: &mut Bytes<'_>| Ok((read_key(input)?.into_owned(), read(input)?));
            Document::Object((0..length).map(|_| entry(input)).collect::<Result<_>>()?)
        }
        _ => {
            let number = read_number(input, marker)?.to_string();
            match Document::parse(number.as_bytes()) {
                Ok(number) => number,
                Err(_) => return fail("a number is required"),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primitive_values_have_the_type_of_their_encoding() {
        let cases: [(&[u8], Value); 4] = [
            (b"\xa1r", Value::string("r")),
            (b"\x03", Value::int(3)),
            (b"\xc3", Value::bool(true)),
            (b"\xc0", Value::null_dynamic()),
        ];
        for (bytes, expected) in cases {
            assert_eq!(primitive(bytes).unwrap(), expected, "{bytes:?}");
        }
        for broken in [&b""[..], b"\x92\x01\x02", b"\x01\x02", b"\xd4\x00\x00x"] {
            assert!(primitive(broken).is_err(), "{broken:?}");
        }
    }

    #[test]
    fn values_without_a_type() {
        let bytes = b"\x84\xa1a\xc0\xa1b\x92\xc3\x05\xa1c\xa1x\xa1d\x81\xa1e\xcb\x3f\xe0\x00\x00\x00\x00\x00\x00";
        assert_eq!(to_json(bytes).unwrap().to_string(), r#"{"a":null,"b":[true,5],"c":"x","d":{"e":0.5}}"#);
        for broken in [&b""[..], b"\x81", b"\xc0\xc0", b"\xd4\x00\x00", b"\xdd\xff\xff\xff\xff"] {
            assert!(to_json(broken).is_err(), "{broken:?}");
        }
        assert!(to_json(&[vec![0x91; 100_000], vec![0xc0]].concat()).is_err());
    }
}
