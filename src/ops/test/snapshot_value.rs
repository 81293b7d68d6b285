//! Values of snapshots as JSON: nothing secret, and nothing that could be taken for another value.

use serde_json::{Map, Value as Json};
use terrane_value::{Marks, Type, Value, json};

const UNKNOWN: &str = "(known after apply)";
const SENSITIVE: &str = "(sensitive value)";
const EPHEMERAL: &str = "(ephemeral value)";

/// What stands before a text that would otherwise stand for what is not shown.
const ESCAPE: char = '\\';

/// A value with texts in the place of what is unknown, sensitive or ephemeral. A string that is one of these texts gets a backslash.
pub fn snapshot_json(value: &Value) -> Json {
    let (value, marks) = value.unmark();
    if marks.intersects(Marks::SENSITIVE) {
        return SENSITIVE.into();
    }
    if marks.intersects(Marks::EPHEMERAL) {
        return EPHEMERAL.into();
    }
    if !value.is_known() {
        return UNKNOWN.into();
    }
    if value.is_null() {
        return Json::Null;
    }
    match value.ty() {
        Type::String => string(value.as_str().unwrap_or_default()),
        Type::Bool | Type::Number => {
            let text = json::to_simple_json(&value).unwrap_or_default();
            serde_json::from_str(&text).unwrap_or(Json::Null)
        }
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => {
            Json::Array(value.elements().iter().map(snapshot_json).collect())
        }
        _ => {
            let entries = value.entries().iter().map(|(name, value)| (name.to_string(), snapshot_json(value)));
            sorted(&Json::Object(entries.collect()))
        }
    }
}

fn string(text: &str) -> Json {
    let is_reserved = [UNKNOWN, SENSITIVE, EPHEMERAL].contains(&text.trim_start_matches(ESCAPE));
    if is_reserved { format!("{ESCAPE}{text}").into() } else { text.into() }
}

/// The same with sorted keys.
pub fn sorted(value: &Json) -> Json {
    match value {
        Json::Array(elements) => Json::Array(elements.iter().map(sorted).collect()),
        Json::Object(fields) => {
            let mut fields: Vec<(&String, &Json)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            let fields = fields.into_iter().map(|(name, value)| (name.clone(), sorted(value)));
            Json::Object(fields.collect::<Map<String, Json>>())
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json as document;

    use super::*;

    #[test]
    fn nothing_secret_or_ambiguous_is_shown() {
        let marker = Value::string("marker");
        let cases = [
            (Value::object([("b", Value::int(1)), ("a", Value::bool(true))]), document!({ "a": true, "b": 1 })),
            (Value::dynamic(), document!(UNKNOWN)),
            (Value::tuple(vec![Value::unknown(Type::String), Value::null_dynamic()]), document!([UNKNOWN, null])),
            (marker.clone().mark(Marks::SENSITIVE), document!(SENSITIVE)),
            (marker.clone().mark(Marks::EPHEMERAL), document!(EPHEMERAL)),
            (Value::object([("x", marker.mark(Marks::SENSITIVE))]), document!({ "x": SENSITIVE })),
            (Value::unknown(Type::String).mark(Marks::SENSITIVE), document!(SENSITIVE)),
            (Value::string(UNKNOWN), document!("\\(known after apply)")),
            (Value::string("\\(sensitive value)"), document!("\\\\(sensitive value)")),
            (Value::string("\\n"), document!("\\n")),
        ];
        for (value, expected) in cases {
            assert_eq!(snapshot_json(&value), expected, "{value:?}");
        }
    }
}
