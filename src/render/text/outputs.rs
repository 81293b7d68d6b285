//! Values in the language's own notation: outputs, and whatever people ask for.

use std::fmt::Write;

use crate::lang::value::text::go_quoted;
use crate::lang::value::{Marks, Type, Value};
use crate::model::state::OutputValue;

/// The outputs, one entry each, as shown after an apply and by `output`.
pub fn outputs_text<'a>(outputs: impl Iterator<Item = (&'a str, &'a OutputValue)>) -> String {
    let mut out = String::new();
    for (name, output) in outputs {
        let text = if output.sensitive { "<sensitive>".to_owned() } else { value_text(&output.value, 0) };
        let _ = writeln!(out, "{name} = {text}");
    }
    out
}

/// A value as an expression that would give it; nested parts are indented by `indent` blanks.
pub fn value_text(value: &Value, indent: usize) -> String {
    if value.marks().contains(Marks::SENSITIVE) {
        return "(sensitive value)".into();
    }
    if value.marks().contains(Marks::EPHEMERAL) {
        return "(ephemeral value)".into();
    }
    if !value.is_known() {
        return "(known after apply)".into();
    }
    if value.is_null() {
        return typed_null(value.ty());
    }
    if let Some(text) = value.as_str() {
        return heredoc(text, indent).unwrap_or_else(|| go_quoted(text));
    }
    if let Some(b) = value.as_bool() {
        return b.to_string();
    }
    if let Some(n) = value.as_number() {
        return n.to_string();
    }
    match value.ty() {
        Type::List(_) => wrapped("tolist", sequence(value, indent)),
        Type::Set(_) => wrapped("toset", sequence(value, indent)),
        Type::Map(_) => wrapped("tomap", mapping(value, indent)),
        Type::Tuple(_) => sequence(value, indent),
        _ => mapping(value, indent),
    }
}

fn wrapped(function: &str, text: String) -> String {
    format!("{function}({text})")
}

fn typed_null(ty: &Type) -> String {
    match ty {
        Type::Dynamic => "null".into(),
        Type::String => "tostring(null)".into(),
        Type::Number => "tonumber(null)".into(),
        Type::Bool => "tobool(null)".into(),
        Type::List(element) => format!("tolist(null) /* of {} */", element.friendly_name()),
        Type::Set(element) => format!("toset(null) /* of {} */", element.friendly_name()),
        Type::Map(element) => format!("tomap(null) /* of {} */", element.friendly_name()),
        _ => format!("null /* {} */", ty.friendly_name()),
    }
}

/// Texts of several lines are shown as such, unless a line would be taken for the end.
fn heredoc(text: &str, indent: usize) -> Option<String> {
    if text.len() < 2 || !text.contains('\n') {
        return None;
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let pad = " ".repeat(indent);
    let (open, start) = if indent > 0 { ("<<-", "  ") } else { ("<<", "") };
    let mut marker = "EOT".to_owned();
    while lines.iter().any(|line| line.trim() == marker) {
        marker.push('_');
    }
    let mut out = format!("{open}{marker}\n");
    for line in lines {
        let blank = if indent > 0 { format!("{pad}{start}") } else { String::new() };
        let _ = writeln!(out, "{blank}{line}");
    }
    let _ = write!(out, "{pad}{marker}");
    Some(out)
}

fn sequence(value: &Value, indent: usize) -> String {
    if value.is_empty() {
        return "[]".into();
    }
    let pad = " ".repeat(indent);
    let mut out = String::from("[\n");
    for element in value.elements() {
        let _ = writeln!(out, "{pad}  {},", value_text(element, indent + 2));
    }
    let _ = write!(out, "{pad}]");
    out
}

fn mapping(value: &Value, indent: usize) -> String {
    if value.is_empty() {
        return "{}".into();
    }
    let pad = " ".repeat(indent);
    let mut out = String::from("{\n");
    for (key, element) in value.entries() {
        let _ = writeln!(out, "{pad}  {} = {}", go_quoted(key), value_text(element, indent + 2));
    }
    let _ = write!(out, "{pad}}}");
    out
}
