//! JSON as Go's encoder and decoder have it, where others read what we write.

use std::fmt;

use serde_json::{Map, Value as Json};
use terrane_value::json_error::syntax_error;

use super::payload::{Base64Error, string};

/// Why an answer or stored metadata in JSON cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonError {
    /// There is nothing.
    Empty,
    /// It ends in the middle of a value.
    CutShort,
    /// It is not JSON: what is wrong.
    Syntax(String),
    /// It is JSON of this kind, not an object.
    NotAnObject(&'static str),
    Null,
    UnknownField(String),
    /// A field is not `expected`, such as "a string".
    Field {
        name: String,
        expected: &'static str,
    },
    /// The field `payload` of an answer is not a string.
    Payload,
    Base64(Base64Error),
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonError::Empty => f.write_str("EOF"),
            JsonError::CutShort => f.write_str("unexpected EOF"),
            JsonError::Syntax(why) => f.write_str(why),
            JsonError::NotAnObject(kind) => write!(f, "json: cannot unmarshal {kind} into Go value"),
            JsonError::Null => f.write_str("the answer is null"),
            JsonError::UnknownField(name) => write!(f, "json: unknown field {name:?}"),
            JsonError::Field { name, expected } => write!(f, "json: {name} is not {expected}"),
            JsonError::Payload => {
                f.write_str("json: cannot unmarshal into Go struct field OutputV1.payload of type []uint8")
            }
            JsonError::Base64(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for JsonError {}

impl From<Base64Error> for JsonError {
    fn from(error: Base64Error) -> JsonError {
        JsonError::Base64(error)
    }
}

/// The first value of a stream; what follows it is not looked at.
pub fn first_value(text: &[u8]) -> Result<Json, JsonError> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Json>();
    match values.next() {
        None => Err(JsonError::Empty),
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) if error.is_eof() => Err(JsonError::CutShort),
        Some(Err(error)) => Err(JsonError::Syntax(syntax_error(text, &error))),
    }
}

/// The members of an object.
pub fn object(value: Json) -> Result<Map<String, Json>, JsonError> {
    match value {
        Json::Object(members) => Ok(members),
        Json::Array(_) => Err(JsonError::NotAnObject("array")),
        Json::String(_) => Err(JsonError::NotAnObject("string")),
        Json::Null => Err(JsonError::Null),
        _ => Err(JsonError::NotAnObject("number")),
    }
}

/// A value as Go writes what it read into an `any`: sorted names, numbers as floating point, safe within HTML.
pub fn write(out: &mut Vec<u8>, value: &Json) {
    match value {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(flag) => out.extend_from_slice(flag.to_string().as_bytes()),
        Json::Number(number) => match number.as_f64() {
            Some(number) => out.extend_from_slice(float(number).as_bytes()),
            None => out.extend_from_slice(number.to_string().as_bytes()),
        },
        Json::String(text) => string(out, text),
        Json::Array(elements) => {
            out.push(b'[');
            for (i, element) in elements.iter().enumerate() {
                out.extend_from_slice(if i > 0 { b"," } else { b"" });
                write(out, element);
            }
            out.push(b']');
        }
        Json::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|a, b| a.0.cmp(b.0));
            out.push(b'{');
            for (i, (name, value)) in sorted.into_iter().enumerate() {
                out.extend_from_slice(if i > 0 { b"," } else { b"" });
                string(out, name);
                out.push(b':');
                write(out, value);
            }
            out.push(b'}');
        }
    }
}

/// The shortest digits that give the number again; an exponent for what is very large or very small.
fn float(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{number:e}");
        // Go has a sign in every exponent.
        return match text.split_once('e') {
            Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
            _ => text,
        };
    }
    format!("{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_go_writes_them() {
        let cases = [
            ("{\"b\":1,\"a\":[null,true]}", "{\"a\":[null,true],\"b\":1}"),
            ("1.0", "1"),
            ("1e3", "1000"),
            ("12345678901234567890", "12345678901234567000"),
            ("1e21", "1e+21"),
            ("0.0000001", "1e-7"),
            ("-0.5", "-0.5"),
            ("\"<&>\\u2028é\"", "\"\\u003c\\u0026\\u003e\\u2028é\""),
        ];
        for (text, expected) in cases {
            let mut out = Vec::new();
            write(&mut out, &first_value(text.as_bytes()).unwrap());
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{text}");
        }
    }
}
