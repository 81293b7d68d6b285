//! Strings that hold JSON documents: shown as the documents.

use base::dialect::Dialect;
use terrane_value::{Value, json};

use super::Diff;
use super::change::Change;
use super::dynamic::dynamic;

/// The value of a text that is a JSON object or array; others are shown as strings.
pub(super) fn document(text: &str) -> Option<Value> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let ty = json::implied_type(text.as_bytes()).ok()?;
    json::from_json(text.as_bytes(), &ty).ok()
}

/// The difference of two documents; `None`: there is none on that side.
pub(super) fn documents_diff(before: Option<&Value>, after: Option<&Value>, dialect: Dialect) -> Diff {
    let null = Value::null_dynamic();
    dynamic(Change {
        before_explicit: before.is_some(),
        after_explicit: after.is_some(),
        ..Change::root(before.unwrap_or(&null), after.unwrap_or(&null), &[], dialect)
    })
}
