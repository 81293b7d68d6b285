//! JSON in the output of commands: which documents there are, and which schema describes each.

use serde_json::{Deserializer, Value};

/// The documents in a text: one, or one after the other. None if it is something else.
pub fn documents(text: &str) -> Option<Vec<Value>> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    Deserializer::from_str(text).into_iter::<Value>().collect::<Result<Vec<Value>, _>>().ok()
}

/// The schema of a document that a command wrote; `words` are the arguments. None: it has no schema, such as a state file.
pub fn schema_of(words: &[&str], document: &Value) -> Option<&'static str> {
    if document.get("@level").is_some() {
        return Some("stream");
    }
    let has = |flag: &str| words.iter().any(|word| word.starts_with(flag));
    let names: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
    Some(match names.as_slice() {
        ["plan" | "show", ..] if has("-summary=json") => "summary",
        ["explain", ..] => "explain",
        ["validate", ..] | ["policy", "validate", ..] => "validate",
        ["version", ..] => "version",
        [] if has("-version") => "version",
        ["modules", ..] => "modules",
        ["output"] => "output",
        ["metadata", "functions", ..] => "functions",
        ["providers", "schema", ..] => "providers-schema",
        ["workspace", "list", ..] => "workspace-list",
        ["state", "history", ..] => "state-history",
        ["test", ..] if has("-coverage=json") => "test-coverage",
        ["state", "identities", ..] => "state-identities",
        ["state", "show", ..] if document.get("resource").is_some() => "state-show",
        ["show", ..] if has("-config") || has("-module") => "configuration",
        ["show", ..] if document.get("planned_values").is_some() => "plan",
        ["show", ..] | ["state", "show", ..] => "state",
        // A state file, a single value, a message of the text interface.
        ["state", "pull"] | ["cat", ..] | ["output", ..] | ["console", ..] => return None,
        other => panic!("no schema for the document of {other:?}: {document}"),
    })
}
