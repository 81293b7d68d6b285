//! Values as the expressions that people would write.

use lang::syntax::quote::quoted;
use terrane_value::{Entries, Type, Value, json};

use super::layout::{BodyItem, write};

/// A value as an expression. Text that holds JSON is shown as what it means.
pub fn expression(value: &Value) -> String {
    if let Some(text) = value.as_str()
        && let Some(meaning) = json_meaning(text)
    {
        return format!("jsonencode({})", plain(&meaning));
    }
    plain(value)
}

fn json_meaning(text: &str) -> Option<Value> {
    let first = text.trim_start().chars().next()?;
    if first != '{' && first != '[' {
        return None;
    }
    let ty = json::implied_type(text.as_bytes()).ok()?;
    if !matches!(ty, Type::Object(_) | Type::Tuple(_)) {
        return None;
    }
    json::from_json(text.as_bytes(), &ty).ok()
}

fn plain(value: &Value) -> String {
    if value.is_null() || !value.is_known() {
        return "null".into();
    }
    if let Some(text) = value.as_str() {
        return quoted(text);
    }
    if let Some(truth) = value.as_bool() {
        return truth.to_string();
    }
    if let Some(number) = value.as_number() {
        return number.to_string();
    }
    let ty = value.ty();
    if ty.is_map() || ty.is_object() { object(value.entries()) } else { list(value.elements()) }
}

fn list(elements: &[Value]) -> String {
    format!("[{}]", elements.iter().map(plain).collect::<Vec<_>>().join(", "))
}

fn object(entries: &Entries) -> String {
    if entries.is_empty() {
        return "{}".into();
    }
    let items: Vec<BodyItem> = entries.iter().map(|(key, v)| BodyItem::line(&key_text(key), &plain(v), None)).collect();
    let mut out = "{\n".to_string();
    write(&items, 1, &mut out);
    out + "}"
}

/// A key of an object: in quotes if it is no name.
pub fn key_text(key: &str) -> String {
    let mut chars = key.chars();
    let starts = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    let is_name = starts && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if is_name { key.to_string() } else { quoted(key) }
}
