//! YAML as configuration files of Kubernetes use it, as a JSON value.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// Nesting beyond this is no configuration.
const MAX_DEPTH: usize = 100;

/// Reads the first document. Errors name a line, never what is on it.
pub fn read(text: &str) -> Result<Value, String> {
    let mut reader = Reader { parser: Parser::new_from_str(text), anchors: HashMap::new() };
    loop {
        match reader.next()? {
            Event::StreamStart | Event::DocumentStart(_) => {}
            Event::StreamEnd => return Ok(Value::Null),
            event => return reader.node(event, 0),
        }
    }
}

struct Reader<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    anchors: HashMap<usize, Value>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Event<'a>, String> {
        match self.parser.next() {
            Some(Ok((event, _))) => Ok(event),
            Some(Err(error)) => Err(format!("line {}: invalid YAML", error.marker().line())),
            None => Ok(Event::StreamEnd),
        }
    }

    fn node(&mut self, event: Event<'a>, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err("nested too deeply".into());
        }
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => (scalar(&text, style), anchor),
            Event::SequenceStart(anchor, _) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => break,
                        event => items.push(self.node(event, depth + 1)?),
                    }
                }
                (Value::Array(items), anchor)
            }
            Event::MappingStart(anchor, _) => {
                let mut entries = Map::new();
                loop {
                    let key = match self.next()? {
                        Event::MappingEnd => break,
                        event => self.node(event, depth + 1)?,
                    };
                    let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
                    let value = self.next()?;
                    entries.insert(key, self.node(value, depth + 1)?);
                }
                (Value::Object(entries), anchor)
            }
            Event::Alias(anchor) => {
                return self.anchors.get(&anchor).cloned().ok_or_else(|| "unknown alias".to_owned());
            }
            _ => return Err("unexpected end".into()),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }
}

/// Only what such files have: all else is text.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    match text {
        _ if style != ScalarStyle::Plain => Value::from(text),
        "" | "~" | "null" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => Value::from(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn configurations_are_read() {
        let text = "a: &x {b: [1, \"true\", true, ~]}\nc: *x\n'd': |\n  two\n  lines\n---\nother: 1\n";
        let x = json!({"b": ["1", "true", true, null]});
        assert_eq!(read(text).unwrap(), json!({"a": x, "c": x, "d": "two\nlines\n"}));
        assert_eq!(read("").unwrap(), Value::Null);
        assert_eq!(read("token: s3cret\n  bad: [").unwrap_err(), "line 2: invalid YAML");
        assert!(read(&"[".repeat(5000)).is_err());
    }
}
