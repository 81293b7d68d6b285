//! The JSON of queries and answers.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;
use terrane_value::text::lossy_text;

/// Encodes a query as the reference does: sorted by key, with escapes for characters that are special in HTML and
/// JavaScript.
pub fn encode(query: &BTreeMap<String, Option<String>>) -> String {
    let mut out = String::from("{");
    for (key, value) in query {
        let Some(value) = value else { continue };
        if out.len() > 1 {
            out.push(',');
        }
        push_string(&mut out, key);
        out.push(':');
        push_string(&mut out, value);
    }
    out.push('}');
    out
}

fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)))
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// Why the output of a program is not a map of strings, as Go's decoder says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputError {
    Empty,
    /// It is not JSON: why.
    Json(String),
    /// It is JSON of this kind, not an object.
    NotAnObject(&'static str),
    /// A value is of this kind, not a string.
    NotAString(&'static str),
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutputError::Empty => f.write_str("unexpected end of JSON input"),
            OutputError::Json(why) => f.write_str(why),
            OutputError::NotAnObject(kind) => {
                write!(f, "json: cannot unmarshal {kind} into Go value of type map[string]string")
            }
            OutputError::NotAString(kind) => {
                write!(f, "json: cannot unmarshal {kind} into Go value of type string")
            }
        }
    }
}

impl std::error::Error for OutputError {}

/// Decodes a result. Null values are empty strings; a null result is `None`.
pub fn decode(output: &[u8]) -> Result<Option<BTreeMap<String, String>>, OutputError> {
    let text = lossy_text(output);
    if text.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
        return Err(OutputError::Empty);
    }
    let answer: Value = serde_json::from_str(&text).map_err(|error| OutputError::Json(error.to_string()))?;
    let entries = match answer {
        Value::Object(entries) => entries,
        Value::Null => return Ok(None),
        other => return Err(OutputError::NotAnObject(kind(&other))),
    };
    let text = |value: Value| match value {
        Value::String(text) => Ok(text),
        Value::Null => Ok(String::new()),
        other => Err(OutputError::NotAString(kind(&other))),
    };
    entries.into_iter().map(|(key, value)| Ok((key, text(value)?))).collect::<Result<_, _>>().map(Some)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
