//! Values as JSON, the way states, plans and `jsonencode` write them.
//!
//! Owns both directions. With a known type, the text has only the value; if the type is `Dynamic`, value and
//! type travel together. Never knows indentation or files.

use std::fmt;
use std::sync::Arc;

use super::convert::convert;
use super::document::Document;
use super::{Number, Path, PathStep, Type, Value};

/// Why a text is not a value of the type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    pub path: Path,
    pub message: String,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for JsonError {}

fn fail<T>(path: &Path, message: impl Into<String>) -> Result<T, JsonError> {
    Err(JsonError { path: path.clone(), message: message.into() })
}

/// Writes a wholly known value for readers that know its type. Marks are ignored; an unknown is an error. Where the
/// type says `Dynamic`, the value is wrapped as `{"value":...,"type":...}`.
pub fn to_json(value: &Value, ty: &Type) -> Result<String, JsonError> {
    let mut out = String::new();
    write(value, ty, &mut out, &mut Path::new())?;
    Ok(out)
}

/// Writes a wholly known value without any trace of its type.
pub fn to_simple_json(value: &Value) -> Result<String, JsonError> {
    let mut out = String::new();
    write_simple(value, &mut out, &mut Path::new())?;
    Ok(out)
}

/// Reads a text as a value of the type.
pub fn from_json(text: &[u8], ty: &Type) -> Result<Value, JsonError> {
    read(&parse(text)?, ty, &mut Path::new())
}

/// As `from_json`, from JSON that was read before.
pub fn from_document(json: &Document, ty: &Type) -> Result<Value, JsonError> {
    read(json, ty, &mut Path::new())
}

/// As `from_json`, from parsed JSON.
pub fn from_json_value(json: &serde_json::Value, ty: &Type) -> Result<Value, JsonError> {
    read(&Document::from(json), ty, &mut Path::new())
}

/// The type that a text has by itself: objects, tuples and primitives; `Dynamic` for null.
pub fn implied_type(text: &[u8]) -> Result<Type, JsonError> {
    Ok(type_of(&parse(text)?))
}

/// The value that a text has by itself, as `jsondecode` reads it.
pub fn from_untyped_json(text: &[u8]) -> Result<Value, JsonError> {
    parse(text).map(|json| value_of(&json))
}

/// A value from parsed JSON, by itself.
pub fn untyped(json: &serde_json::Value) -> Value {
    value_of(&Document::from(json))
}

fn parse(text: &[u8]) -> Result<Document, JsonError> {
    Document::parse(text).map_err(|error| JsonError { path: Path::new(), message: error.to_string() })
}

fn type_of(json: &Document) -> Type {
    match json {
        Document::Null => Type::Dynamic,
        Document::Bool(_) => Type::Bool,
        Document::Number(_) => Type::Number,
        Document::String(_) => Type::String,
        Document::Array(elements) => Type::tuple(elements.iter().map(type_of)),
        Document::Object(members) => Type::object(members.iter().map(|(name, v)| (normal_name(name), type_of(v)))),
    }
}

fn normal_name(name: &str) -> Arc<str> {
    Value::string(name).as_arc_str().unwrap_or_default()
}

fn value_of(json: &Document) -> Value {
    match json {
        Document::Null => Value::null_dynamic(),
        Document::Bool(b) => Value::bool(*b),
        Document::Number(n) => Number::parse(n).map_or_else(Value::null_dynamic, Value::number),
        Document::String(s) => Value::string(s),
        Document::Array(elements) => Value::tuple(elements.iter().map(value_of).collect()),
        Document::Object(members) => Value::object(members.iter().map(|(name, v)| (normal_name(name), value_of(v)))),
    }
}

fn read(json: &Document, ty: &Type, path: &mut Path) -> Result<Value, JsonError> {
    if ty.is_dynamic() {
        return read_dynamic(json, path);
    }
    match (json, ty) {
        (Document::Null, _) => Ok(Value::null(ty.clone())),
        (Document::String(s), Type::String) => Ok(Value::string(s)),
        (Document::Number(n), Type::String) => Ok(Value::string(&**n)),
        (Document::Bool(b), Type::String) => Ok(Value::string(if *b { "true" } else { "false" })),
        (Document::Number(n), Type::Number) => read_number(n, path),
        (Document::String(s), Type::Number) => read_number(s, path),
        (Document::Bool(b), Type::Bool) => Ok(Value::bool(*b)),
        (Document::String(s), Type::Bool) => convert(&Value::string(s), ty).or_else(|error| fail(path, error.message)),
        (Document::Array(elements), Type::List(t)) => Ok(Value::list((**t).clone(), read_elements(elements, t, path)?)),
        (Document::Array(elements), Type::Set(t)) => Ok(Value::set((**t).clone(), read_elements(elements, t, path)?)),
        (Document::Array(elements), Type::Tuple(types)) => read_tuple(elements, types, path),
        (Document::Object(members), Type::Map(t)) => {
            let mut entries = Vec::with_capacity(members.len());
            for (key, member) in members {
                let key = normal_name(key);
                entries.push((key.clone(), nested(member, t, PathStep::Index(Value::shared_string(key)), path)?));
            }
            Ok(Value::map((**t).clone(), entries))
        }
        (Document::Object(members), Type::Object(_)) => read_object(members, ty, path),
        (_, Type::List(_) | Type::Set(_) | Type::Tuple(_)) => fail(path, "an array is required"),
        (_, Type::Map(_) | Type::Object(_)) => fail(path, "an object is required"),
        (_, Type::Bool) => fail(path, "bool is required"),
        (_, Type::Number) => fail(path, "number is required"),
        _ => fail(path, "string is required"),
    }
}

fn nested(json: &Document, ty: &Type, step: PathStep, path: &mut Path) -> Result<Value, JsonError> {
    path.push(step);
    let value = read(json, ty, path)?;
    path.pop();
    Ok(value)
}

fn read_number(text: &str, path: &Path) -> Result<Value, JsonError> {
    Number::parse(text).map_or_else(|| fail(path, "a number is required"), |n| Ok(Value::number(n)))
}

fn read_elements(elements: &[Document], ty: &Type, path: &mut Path) -> Result<Vec<Value>, JsonError> {
    let mut values = Vec::with_capacity(elements.len());
    for (i, element) in elements.iter().enumerate() {
        values.push(match (element, ty) {
            (Document::String(s), Type::String) => Value::string(s),
            _ => nested(element, ty, PathStep::Index(Value::int(i as i64)), path)?,
        });
    }
    Ok(values)
}

fn read_tuple(elements: &[Document], types: &[Type], path: &mut Path) -> Result<Value, JsonError> {
    if elements.len() > types.len() {
        return fail(path, format!("too many tuple elements (need {})", types.len()));
    }
    if elements.len() < types.len() {
        return fail(path, format!("not enough tuple elements (need {})", types.len()));
    }
    let mut values = Vec::with_capacity(types.len());
    for (i, (element, ty)) in elements.iter().zip(types).enumerate() {
        values.push(nested(element, ty, PathStep::Index(Value::int(i as i64)), path)?);
    }
    Ok(Value::tuple(values))
}

fn read_object(members: &[(String, Document)], ty: &Type, path: &mut Path) -> Result<Value, JsonError> {
    let Some(object) = ty.object_type() else { return fail(path, "an object is required") };
    let mut attributes = std::collections::BTreeMap::new();
    for (name, member) in members {
        let Some((name, ty)) = object.attributes.get_key_value(name.as_str()) else {
            return fail(path, format!("unsupported attribute {name:?}"));
        };
        attributes.insert(name.clone(), nested(member, ty, PathStep::Attr(name.clone()), path)?);
    }
    for (name, ty) in &object.attributes {
        if !attributes.contains_key(name) {
            attributes.insert(name.clone(), Value::null(ty.clone()));
        }
    }
    Ok(if ty.has_dynamic() {
        Value::object(attributes)
    } else {
        Value::object_of(ty.without_optional_deep(), attributes)
    })
}

fn read_dynamic(json: &Document, path: &mut Path) -> Result<Value, JsonError> {
    let Document::Object(members) = json else {
        return match json {
            Document::Null => Ok(Value::null_dynamic()),
            _ => fail(path, "an object is required"),
        };
    };
    let member = |name: &str| members.iter().find(|(own, _)| own == name).map(|(_, member)| member);
    let (Some(ty), Some(value)) = (member("type"), member("value")) else {
        let missing = if member("type").is_some() { "value" } else { "type" };
        return fail(path, format!("missing {missing} in dynamically-typed value"));
    };
    let ty = Type::from_document(ty).or_else(|e| fail(path, e.to_string()))?;
    read(value, &ty, path)
}

fn write(value: &Value, ty: &Type, out: &mut String, path: &mut Path) -> Result<(), JsonError> {
    if ty.is_dynamic() {
        if value.is_null() && value.ty().is_dynamic() {
            out.push_str("null");
            return Ok(());
        }
        out.push_str("{\"value\":");
        write(value, value.ty(), out, path)?;
        out.push_str(",\"type\":");
        out.push_str(&value.ty().to_json().to_string());
        out.push('}');
        return Ok(());
    }
    let element = |step: &PathStep| -> &Type {
        match (ty, step) {
            (Type::List(t) | Type::Set(t) | Type::Map(t), _) => t,
            (Type::Tuple(types), PathStep::Index(i)) => {
                i.as_number().and_then(Number::as_usize).and_then(|i| types.get(i)).unwrap_or(&Type::Dynamic)
            }
            (Type::Object(object), PathStep::Attr(name)) => object.attributes.get(name).unwrap_or(&Type::Dynamic),
            _ => &Type::Dynamic,
        }
    };
    write_with(value, out, path, &mut |v, step, out, path| write(v, element(step), out, path))
}

fn write_simple(value: &Value, out: &mut String, path: &mut Path) -> Result<(), JsonError> {
    write_with(value, out, path, &mut |v, _, out, path| write_simple(v, out, path))
}

type WriteChild<'f> = dyn FnMut(&Value, &PathStep, &mut String, &mut Path) -> Result<(), JsonError> + 'f;

fn write_with(value: &Value, out: &mut String, path: &mut Path, child: &mut WriteChild<'_>) -> Result<(), JsonError> {
    if !value.is_known() {
        return fail(path, "value is not known");
    }
    if value.is_null() {
        out.push_str("null");
    } else if let Some(text) = value.as_str() {
        write_string(text, out);
    } else if let Some(n) = value.as_number() {
        if n.is_infinite() {
            return fail(path, "cannot serialize infinity as JSON");
        }
        out.push_str(&n.to_string());
    } else if let Some(b) = value.as_bool() {
        out.push_str(if b { "true" } else { "false" });
    } else {
        write_compound(value, out, path, child)?;
    }
    Ok(())
}

fn write_compound(
    value: &Value,
    out: &mut String,
    path: &mut Path,
    child: &mut WriteChild<'_>,
) -> Result<(), JsonError> {
    let is_mapping = value.ty().is_map() || value.ty().is_object();
    out.push(if is_mapping { '{' } else { '[' });
    for (i, (step, v)) in value.children().into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        if is_mapping {
            match &step {
                PathStep::Attr(name) => write_string(name, out),
                PathStep::Index(key) => write_string(key.as_str().unwrap_or_default(), out),
            }
            out.push(':');
        }
        path.push(step.clone());
        child(v, &step, out, path)?;
        path.pop();
    }
    out.push(if is_mapping { '}' } else { ']' });
    Ok(())
}

/// Writes a text as a JSON string the way Go does: with `<`, `>`, `&` and the two line separators escaped for HTML.
pub fn write_string(text: &str, out: &mut String) {
    string_parts(text, |part| out.push_str(part));
}

/// Gives the parts of what [`write_string`] writes, for other kinds of output.
pub fn string_parts(text: &str, mut put: impl FnMut(&str)) {
    put("\"");
    let bytes = text.as_bytes();
    let (mut done, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        let (escape, length) = match byte {
            b'"' => ("\\\"", 1),
            b'\\' => ("\\\\", 1),
            b'\n' => ("\\n", 1),
            b'\r' => ("\\r", 1),
            b'\t' => ("\\t", 1),
            0x08 => ("\\b", 1),
            0x0c => ("\\f", 1),
            b'<' => ("\\u003c", 1),
            b'>' => ("\\u003e", 1),
            b'&' => ("\\u0026", 1),
            0xe2 if text[at..].starts_with('\u{2028}') => ("\\u2028", 3),
            0xe2 if text[at..].starts_with('\u{2029}') => ("\\u2029", 3),
            0..0x20 => ("", 1),
            _ => {
                at += 1;
                continue;
            }
        };
        put(&text[done..at]);
        match escape {
            "" => put(&format!("\\u{byte:04x}")),
            escape => put(escape),
        }
        at += length;
        done = at;
    }
    put(&text[done..]);
    put("\"");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_as_go_does() {
        let v = Value::object([
            ("b", Value::string("<a href=\"x\">&\u{2028}\u{1}\n")),
            ("a", Value::tuple(vec![Value::number(1.5), Value::null_dynamic(), Value::bool(false)])),
        ]);
        assert_eq!(
            to_simple_json(&v).unwrap(),
            r#"{"a":[1.5,null,false],"b":"\u003ca href=\"x\"\u003e\u0026\u2028\u0001\n"}"#
        );
        assert!(to_simple_json(&Value::unknown(Type::String)).is_err());
        let mut out = String::new();
        write_string("é\u{8}\u{c}\u{1f}\u{7f}\\\u{2027}\u{2029}>", &mut out);
        assert_eq!(out, "\"é\\b\\f\\u001f\u{7f}\\\\\u{2027}\\u2029\\u003e\"");
    }

    #[test]
    fn dynamic_travels_with_its_type() {
        let ty = Type::object([("d", Type::Dynamic), ("s", Type::set(Type::Number))]);
        let v = Value::object([
            ("d", Value::map(Type::String, [("k", Value::string("v"))])),
            ("s", Value::set(Type::Number, vec![Value::int(2), Value::int(1)])),
        ]);
        let text = to_json(&v, &ty).unwrap();
        assert_eq!(text, r#"{"d":{"value":{"k":"v"},"type":["map","string"]},"s":[1,2]}"#);
        assert_eq!(from_json(text.as_bytes(), &ty).unwrap(), v);
    }

    #[test]
    fn untyped_and_strict() {
        let v = from_untyped_json(br#"{"a":[1,"x",null],"n":123456789012345678901234567890}"#).unwrap();
        assert_eq!(v.get("n").unwrap().as_number().unwrap().to_string(), "123456789012345678901234567890");
        assert_eq!(implied_type(br#"{"a":[1]}"#).unwrap(), Type::object([("a", Type::tuple([Type::Number]))]));
        for bad in ["01", "+1", "[1,]", "{'a':1}", "", "1 2"] {
            assert!(from_untyped_json(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn primitives_are_read_as_the_reference_reads_them() {
        let read = |text: &str, ty: &Type| match from_json(text.as_bytes(), ty) {
            Ok(value) => format!("{value:?}"),
            Err(error) => format!("{}: {}", error.path, error.message),
        };
        let cases = [
            ("1", Type::String, "\"1\""),
            ("\"1.5\"", Type::Number, "1.5"),
            ("\"true\"", Type::Bool, "true"),
            ("\"1\"", Type::Bool, "true"),
            ("\"0\"", Type::Bool, "false"),
            ("1", Type::Bool, ": bool is required"),
            ("\"yes\"", Type::Bool, ": a bool is required"),
            ("\"TRUE\"", Type::Bool, ": a bool is required; to convert from string, use lowercase \"true\""),
            ("true", Type::Number, ": number is required"),
            ("\"x\"", Type::Number, ": a number is required"),
            ("[]", Type::String, ": string is required"),
        ];
        for (text, ty, expected) in cases {
            assert_eq!(read(text, &ty), expected, "{text}");
        }
        assert_eq!(read(r#"{"a":[1]}"#, &Type::map(Type::String)), "[\"a\"]: string is required");
    }
}
