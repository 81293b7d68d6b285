//! JSON as Go's encoder and decoder have it, where others read what we write.

use gotext::json::push_string;
use serde_json::{Map, Value as Json};
use terrane_value::json_error::syntax_error;

/// The first value of a stream; what follows it is not looked at.
pub fn first_value(text: &[u8]) -> Result<Json, String> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Json>();
    match values.next() {
        None => Err("EOF".into()),
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) if error.is_eof() => Err("unexpected EOF".into()),
        Some(Err(error)) => Err(syntax_error(text, &error)),
    }
}

/// The members of an object.
pub fn object(value: Json) -> Result<Map<String, Json>, String> {
    match value {
        Json::Object(members) => Ok(members),
        Json::Array(_) => Err("json: cannot unmarshal array into Go value".into()),
        Json::String(_) => Err("json: cannot unmarshal string into Go value".into()),
        Json::Null => Err("the answer is null".into()),
        _ => Err("json: cannot unmarshal number into Go value".into()),
    }
}

pub fn unknown_field(name: &str) -> String {
    format!("json: unknown field {name:?}")
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
        Json::String(text) => push_string(text, out),
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
                push_string(name, out);
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
