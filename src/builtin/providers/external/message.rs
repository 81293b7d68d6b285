//! The JSON of queries and answers.

use std::collections::BTreeMap;

use serde_json::Value;
use terrane_value::json::write_string;
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
        write_string(key, &mut out);
        out.push(':');
        write_string(value, &mut out);
    }
    out.push('}');
    out
}

/// Decodes a result. Null values are empty strings; a null result is `None`.
pub fn decode(output: &[u8]) -> Result<Option<BTreeMap<String, String>>, String> {
    let text = lossy_text(output);
    if text.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
        return Err("unexpected end of JSON input".to_owned());
    }
    let answer: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let entries = match answer {
        Value::Object(entries) => entries,
        Value::Null => return Ok(None),
        other => {
            return Err(format!("json: cannot unmarshal {} into Go value of type map[string]string", kind(&other)));
        }
    };
    let text = |value: Value| match value {
        Value::String(text) => Ok(text),
        Value::Null => Ok(String::new()),
        other => Err(format!("json: cannot unmarshal {} into Go value of type string", kind(&other))),
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
