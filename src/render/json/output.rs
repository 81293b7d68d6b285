//! Root outputs, as `output -json` and the events of an apply have them.

use model::state::OutputValue;
use serde_json::{Map, Value as Json};
use terrane_value::{Value, json as value_json};

/// An output; events have no values of those that are sensitive.
pub fn output_json(output: &OutputValue, with_value: bool) -> Json {
    let mut out = Map::new();
    out.insert("sensitive".into(), output.sensitive.into());
    if let Some(message) = &output.deprecated {
        out.insert("deprecated".into(), (**message).into());
    }
    out.insert("type".into(), output.value.ty().to_json());
    if with_value {
        out.insert("value".into(), plain_json(&output.value));
    }
    Json::Object(out)
}

/// A known value as a JSON document.
pub fn plain_json(value: &Value) -> Json {
    let text = value_json::to_simple_json(value).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or(Json::Null)
}
