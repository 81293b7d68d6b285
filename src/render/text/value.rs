//! A value as the console and outputs print it: in the language's own notation.

use std::fmt::Write;

use terrane_value::text::write_go_quoted;
use terrane_value::{Marks, Type, Value};

use super::visible::visible;

/// The value without a line ending.
pub fn console_text(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, 0, &mut out);
    out
}

/// The value; its further lines are indented by `indent` blanks.
fn write_value(value: &Value, indent: usize, out: &mut String) {
    if !value.is_known() {
        return out.push_str("(known after apply)");
    }
    if value.marks().contains(Marks::SENSITIVE) {
        return out.push_str("(sensitive value)");
    }
    if value.marks().contains(Marks::EPHEMERAL) {
        return out.push_str("(ephemeral value)");
    }
    if value.is_null() {
        return write_null(value.ty(), out);
    }
    if let Some(text) = value.as_str() {
        return write_text(text, indent, out);
    }
    let (open, close) = match value.ty() {
        Type::List(_) => ("tolist([", "])"),
        Type::Set(_) => ("toset([", "])"),
        Type::Map(_) => ("tomap({", "})"),
        Type::Tuple(_) => ("[", "]"),
        Type::Object(_) => ("{", "}"),
        Type::Bool | Type::Number | Type::String | Type::Dynamic => return write_primitive(value, out),
    };
    out.push_str(open);
    if !value.is_empty() {
        out.push('\n');
        write_parts(value, indent + 2, out);
        pad(indent, out);
    }
    out.push_str(close);
}

fn write_primitive(value: &Value, out: &mut String) {
    if let Some(b) = value.as_bool() {
        out.push_str(if b { "true" } else { "false" });
    } else if let Some(n) = value.as_number() {
        let _ = write!(out, "{n}");
    }
}

/// One line, or more, per element or attribute.
fn write_parts(value: &Value, indent: usize, out: &mut String) {
    for element in value.elements() {
        pad(indent, out);
        write_value(element, indent, out);
        out.push_str(",\n");
    }
    for (key, element) in value.entries() {
        pad(indent, out);
        write_text(key, indent, out);
        out.push_str(" = ");
        write_value(element, indent, out);
        out.push('\n');
    }
}

fn write_text(text: &str, indent: usize, out: &mut String) {
    if text.contains('\n') { write_heredoc(text, indent, out) } else { write_go_quoted(text, out) }
}

fn write_null(ty: &Type, out: &mut String) {
    let _ = match ty {
        Type::Dynamic => write!(out, "null"),
        Type::String | Type::Number | Type::Bool => write!(out, "to{}(null)", ty.friendly_name()),
        Type::List(element) => write!(out, "tolist(null) /* of {} */", element.friendly_name()),
        Type::Set(element) => write!(out, "toset(null) /* of {} */", element.friendly_name()),
        Type::Map(element) => write!(out, "tomap(null) /* of {} */", element.friendly_name()),
        Type::Tuple(_) | Type::Object(_) => write!(out, "null /* {} */", ty.friendly_name()),
    };
}

/// A text of several lines, under a marker that none of them would be taken for.
fn write_heredoc(text: &str, indent: usize, out: &mut String) {
    let mut marker = "EOT".to_owned();
    while text.split('\n').any(|line| line.trim() == marker) {
        marker.push('_');
    }
    out.push_str(if indent > 0 { "<<-" } else { "<<" });
    out.push_str(&marker);
    for line in text.split('\n').chain([marker.as_str()]) {
        out.push('\n');
        pad(indent, out);
        out.push_str(&visible(line));
    }
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the reference's console prints them.
    #[test]
    fn values_as_the_console_prints_them() {
        let sensitive = Value::string("s").mark(Marks::SENSITIVE);
        let cases = [
            (Value::null_dynamic(), "null"),
            (Value::null(Type::Bool), "tobool(null)"),
            (Value::null(Type::list(Type::empty_object())), "tolist(null) /* of object */"),
            (Value::null(Type::map(Type::Dynamic)), "tomap(null) /* of dynamic */"),
            (Value::null(Type::tuple([])), "null /* tuple */"),
            (Value::unknown(Type::String).mark(Marks::SENSITIVE), "(known after apply)"),
            (Value::tuple(vec![sensitive]), "[\n  (sensitive value),\n]"),
            (Value::int(1).mark(Marks::EPHEMERAL), "(ephemeral value)"),
            (Value::string("a\t\"é\u{200b}"), "\"a\\t\\\"é\\u200b\""),
            (Value::string("x\nEOT"), "<<EOT_\nx\nEOT\nEOT_"),
            (
                Value::object([("b", Value::string("x\n")), ("a", Value::empty_tuple())]),
                "{\n  \"a\" = []\n  \"b\" = <<-EOT\n  x\n  \n  EOT\n}",
            ),
            (
                Value::object([("k\nl", Value::tuple(vec![Value::string("x\ny")]))]),
                "{\n  <<-EOT\n  k\n  l\n  EOT = [\n    <<-EOT\n    x\n    y\n    EOT,\n  ]\n}",
            ),
            (Value::set(Type::Number, vec![Value::int(2), Value::int(1)]), "toset([\n  1,\n  2,\n])"),
            (Value::map(Type::Bool, [("k", Value::bool(true))]), "tomap({\n  \"k\" = true\n})"),
            (Value::list(Type::String, vec![]), "tolist([])"),
        ];
        for (value, expected) in cases {
            assert_eq!(console_text(&value), expected);
        }
    }
}
