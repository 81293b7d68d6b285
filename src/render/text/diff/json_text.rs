//! Strings that hold JSON documents: shown as the documents.

use terrane_value::{Value, json};

/// The value of a text that is a JSON object or array; others are shown as strings.
pub(super) fn document(text: &str) -> Option<Value> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let ty = json::implied_type(text.as_bytes()).ok()?;
    json::from_json(text.as_bytes(), &ty).ok()
}
