//! A value as `output` and the console show it: in the language's own syntax, with types where the syntax alone would
//! not tell.

use std::fmt::Write;

use crate::lang::value::{Marks, Type, Value};

/// The text of a value whose first line follows something at the given indentation.
pub fn value_text(value: &Value, indent: usize) -> String {
    let mut out = String::new();
    write_value(&mut out, value, indent);
    out
}

fn write_value(out: &mut String, value: &Value, indent: usize) {
    if value.marks().contains(Marks::SENSITIVE) {
        out.push_str("(sensitive value)");
    } else if value.marks().contains(Marks::EPHEMERAL) {
        out.push_str("(ephemeral value)");
    } else if !value.is_known() {
        out.push_str("(known after apply)");
    } else if value.is_null() {
        out.push_str(&null_text(&value.ty()));
    } else {
        write_known(out, value, indent);
    }
}

fn write_known(out: &mut String, value: &Value, indent: usize) {
    if let Some(text) = value.as_str() {
        write_string(out, text, indent);
    } else if let Some(number) = value.as_number() {
        let _ = write!(out, "{number}");
    } else if let Some(truth) = value.as_bool() {
        let _ = write!(out, "{truth}");
    } else {
        match value.ty() {
            Type::List(_) => wrapped(out, "tolist", |out| sequence(out, value, indent)),
            Type::Set(_) => wrapped(out, "toset", |out| sequence(out, value, indent)),
            Type::Map(_) => wrapped(out, "tomap", |out| mapping(out, value, indent)),
            Type::Object(_) => mapping(out, value, indent),
            _ => sequence(out, value, indent),
        }
    }
}

fn wrapped(out: &mut String, function: &str, inside: impl FnOnce(&mut String)) {
    out.push_str(function);
    out.push('(');
    inside(out);
    out.push(')');
}

fn sequence(out: &mut String, value: &Value, indent: usize) {
    if value.elements().is_empty() {
        out.push_str("[]");
        return;
    }
    out.push('[');
    for element in value.elements() {
        new_line(out, indent + 2);
        write_value(out, element, indent + 2);
        out.push(',');
    }
    new_line(out, indent);
    out.push(']');
}

fn mapping(out: &mut String, value: &Value, indent: usize) {
    if value.entries().is_empty() {
        out.push_str("{}");
        return;
    }
    out.push('{');
    for (key, element) in value.entries() {
        new_line(out, indent + 2);
        quote(out, key);
        out.push_str(" = ");
        write_value(out, element, indent + 2);
    }
    new_line(out, indent);
    out.push('}');
}

fn new_line(out: &mut String, indent: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}

fn null_text(ty: &Type) -> String {
    let of = |element: &Type| element.friendly_name();
    match ty {
        Type::String => "tostring(null)".into(),
        Type::Number => "tonumber(null)".into(),
        Type::Bool => "tobool(null)".into(),
        Type::List(element) => format!("tolist(null) /* of {} */", of(element)),
        Type::Set(element) => format!("toset(null) /* of {} */", of(element)),
        Type::Map(element) => format!("tomap(null) /* of {} */", of(element)),
        Type::Dynamic => "null".into(),
        _ => format!("null /* {} */", ty.friendly_name()),
    }
}

/// A string of several lines is a heredoc, any other is quoted.
fn write_string(out: &mut String, text: &str, indent: usize) {
    if !text.contains('\n') {
        quote(out, text);
        return;
    }
    let mut marker = "EOT".to_string();
    while text.split('\n').any(|line| line.trim() == marker) {
        marker.push('_');
    }
    out.push_str(if indent > 0 { "<<-" } else { "<<" });
    out.push_str(&marker);
    for line in text.split('\n').chain([marker.as_str()]) {
        new_line(out, indent);
        out.push_str(line);
    }
}

/// As Go quotes a string: what cannot be printed is escaped.
fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            '\u{80}'..='\u{a0}' | '\u{ad}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
        Value::object(entries.map(|(name, value)| (std::sync::Arc::<str>::from(name), value)))
    }

    /// As the reference shows them.
    #[test]
    fn values() {
        let cases = [
            (Value::string("a\tb\"\u{1}é"), "\"a\\tb\\\"\\x01é\""),
            (Value::list(Type::Dynamic, vec![]), "tolist([])"),
            (Value::tuple(vec![]), "[]"),
            (Value::set(Type::Number, vec![Value::int(1)]), "toset([\n  1,\n])"),
            (
                object([("a", Value::null(Type::Dynamic)), ("b c", Value::tuple(vec![Value::null(Type::String)]))]),
                "{\n  \"a\" = null\n  \"b c\" = [\n    tostring(null),\n  ]\n}",
            ),
            (Value::string("a\n  b\n"), "<<EOT\na\n  b\n\nEOT"),
            (Value::tuple(vec![Value::string("EOT\nx")]), "[\n  <<-EOT_\n  EOT\n  x\n  EOT_,\n]"),
            (object([("s", Value::int(1).mark(Marks::SENSITIVE))]), "{\n  \"s\" = (sensitive value)\n}"),
        ];
        for (value, expected) in cases {
            assert_eq!(value_text(&value, 0), expected);
        }
    }
}
