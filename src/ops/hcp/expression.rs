//! Values as expressions of the language, for the variables of a run.

use std::fmt::Write;

use terrane_value::json::to_simple_json;
use terrane_value::{Type, Value};

/// A known value as an expression.
pub fn expression(value: &Value) -> String {
    let mut out = String::new();
    write(&value.unmark_deep().0, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    if value.is_null() || !value.is_known() {
        out.push_str("null");
        return;
    }
    match value.ty() {
        Type::String => string(value.as_str().unwrap_or_default(), out),
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => {
            out.push('[');
            for (at, element) in value.elements().iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                write(element, out);
            }
            out.push(']');
        }
        Type::Map(_) | Type::Object(_) => {
            out.push('{');
            for (at, (name, element)) in value.entries().iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                string(name, out);
                out.push_str(" = ");
                write(element, out);
            }
            out.push('}');
        }
        _ => out.push_str(&to_simple_json(value).unwrap_or_else(|_| "null".to_owned())),
    }
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for (at, c) in text.char_indices() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '$' | '%' if text[at + 1..].starts_with('{') => out.extend([c, c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_expressions() {
        let object = Value::object([
            ("a", Value::tuple(vec![Value::int(1), Value::bool(true)])),
            ("k\"${x}", Value::null(Type::String)),
        ]);
        let cases = [
            (Value::string("a\"${b}%{c}$"), r#""a\"$${b}%%{c}$""#),
            (Value::string("\\\n\u{8}é<"), r#""\\\n\u0008é<""#),
            (Value::int(5), "5"),
            (object, r#"{"a" = [1, true], "k\"$${x}" = null}"#),
            (Value::list(Type::String, Vec::new()), "[]"),
            (Value::null(Type::String), "null"),
        ];
        for (value, expected) in cases {
            assert_eq!(expression(&value), expected);
        }
    }
}
