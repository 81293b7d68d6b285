//! JSON as text, laid out the way Go's encoder does it: two spaces, `<`, `>` and `&` escaped.
//!
//! Works on text only, so that values pass through unchanged without being decoded. Expects valid JSON.

use gotext::json::{html_safe_parts, push_string};
use indexmap::IndexMap;
use serde::de::{self, Deserialize, Deserializer};
use serde_json::value::RawValue;

const INDENT: &[u8] = b"  ";

/// Appends valid JSON laid out over lines. `depth` is the nesting of the line that it starts on.
pub fn indent(raw: &str, depth: usize, out: &mut Vec<u8>) {
    let bytes = raw.as_bytes();
    let mut depth = depth;
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b' ' | b'\n' | b'\t' | b'\r' => i += 1,
            b'"' => i = copy_string(raw, i, out),
            open @ (b'{' | b'[') => {
                out.push(open);
                let next = skip_space(bytes, i + 1);
                if matches!(bytes.get(next), Some(b'}' | b']')) {
                    out.push(bytes[next]);
                    i = next + 1;
                } else {
                    depth += 1;
                    new_line(depth, out);
                    i = next;
                }
            }
            close @ (b'}' | b']') => {
                depth = depth.saturating_sub(1);
                new_line(depth, out);
                out.push(close);
                i += 1;
            }
            b',' => {
                out.push(b',');
                new_line(depth, out);
                i += 1;
            }
            b':' => {
                out.extend_from_slice(b": ");
                i += 1;
            }
            other => {
                out.push(other);
                i += 1;
            }
        }
    }
}

/// Starts a line at a nesting depth.
pub fn new_line(depth: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    for _ in 0..depth {
        out.extend_from_slice(INDENT);
    }
}

/// The same JSON without the space between tokens; text in strings and the digits of numbers stay as they are.
pub fn compact(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    compact_parts(raw, |part| out.push_str(part));
    out
}

/// As `compact`, part by part.
pub fn compact_parts(raw: &str, mut write: impl FnMut(&str)) {
    let bytes = raw.as_bytes();
    let (mut start, mut i) = (0, 0);
    while i < bytes.len() {
        match bytes[i] {
            b' ' | b'\n' | b'\t' | b'\r' => {
                write(&raw[start..i]);
                i = skip_space(bytes, i);
                start = i;
            }
            b'"' => i = string_end(bytes, i),
            _ => i += 1,
        }
    }
    write(&raw[start..]);
}

/// How deep objects are looked into for repeated keys.
const REPEATS_DEPTH: usize = 32;

/// The same JSON with each key of an object once, as Go's decoder reads repeated ones: the last value counts, but objects at
/// `merged`, a key of the outermost object, are put together. None if it is not JSON.
pub fn without_repeated_keys(raw: &str, merged: &str) -> Option<String> {
    let mut out = String::with_capacity(raw.len());
    let Members(members) = serde_json::from_str(raw).ok()?;
    let mut joined = String::new();
    for (_, value) in members.iter().filter(|(key, value)| key == merged && value.get().starts_with('{')) {
        let inner = value.get()[1..value.get().len() - 1].trim();
        if !joined.is_empty() && !inner.is_empty() {
            joined.push(',');
        }
        joined.push_str(inner);
    }
    let joined = RawValue::from_string(format!("{{{joined}}}")).ok()?;
    let members = members.iter().map(|(key, value)| {
        let merges = key == merged && value.get().starts_with('{');
        (key.as_str(), if merges { &*joined } else { *value })
    });
    write_object(members, REPEATS_DEPTH, &mut out);
    Some(out)
}

fn write_object<'a>(members: impl Iterator<Item = (&'a str, &'a RawValue)>, depth: usize, out: &mut String) {
    let mut last: IndexMap<&str, &RawValue> = IndexMap::new();
    last.extend(members);
    out.push('{');
    for (i, (key, value)) in last.into_iter().enumerate() {
        out.push_str(if i == 0 { "" } else { "," });
        let mut name = Vec::new();
        push_string(key, &mut name);
        out.push_str(&String::from_utf8_lossy(&name));
        out.push(':');
        write_value(value.get(), depth - 1, out);
    }
    out.push('}');
}

fn write_value(raw: &str, depth: usize, out: &mut String) {
    let list = || serde_json::from_str::<Vec<&RawValue>>(raw).ok().filter(|_| raw.starts_with('['));
    if depth == 0 {
        out.push_str(raw);
    } else if let Ok(Members(members)) = serde_json::from_str(raw) {
        write_object(members.iter().map(|(key, value)| (key.as_str(), *value)), depth, out);
    } else if let Some(list) = list() {
        out.push('[');
        for (i, value) in list.into_iter().enumerate() {
            out.push_str(if i == 0 { "" } else { "," });
            write_value(value.get(), depth - 1, out);
        }
        out.push(']');
    } else {
        out.push_str(raw);
    }
}

/// The members of an object as they are written, repeated ones too.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Members<'a>, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                    members.push((key, value));
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Visitor)
    }
}

fn skip_space(bytes: &[u8], from: usize) -> usize {
    from + bytes[from..].iter().take_while(|b| matches!(b, b' ' | b'\n' | b'\t' | b'\r')).count()
}

/// The index after the string that begins at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut i = start + 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 2,
            b'"' => return i + 1,
            _ => i += 1,
        }
    }
    bytes.len()
}

fn copy_string(raw: &str, start: usize, out: &mut Vec<u8>) -> usize {
    let end = string_end(raw.as_bytes(), start);
    html_safe_parts(&raw[start..end], |part| out.extend_from_slice(part.as_bytes()));
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lays_out_as_go_does() {
        let cases = [
            ("{}", "{}"),
            ("[ ]", "[]"),
            (
                r#"{"a":[1,{"b":"<x>"}],"c":{}}"#,
                "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"\\u003cx\\u003e\"\n    }\n  ],\n  \"c\": {}\n}",
            ),
            ("\"a\\\"{\u{2028}\"", "\"a\\\"{\\u2028\""),
        ];
        for (raw, expected) in cases {
            let mut out = Vec::new();
            indent(raw, 0, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn compacting_keeps_strings_and_digits() {
        assert_eq!(compact("{ \"a b\" : [ 1.50 ,\n 2 ] }"), "{\"a b\":[1.50,2]}");
        assert_eq!(compact("\"\\\\\" "), "\"\\\\\"");
    }

    /// What Go's decoder takes from such texts.
    #[test]
    fn repeated_keys() {
        for (raw, expected) in [
            (r#"{"a": 1, "b": 2, "a": 3}"#, r#"{"a":3,"b":2}"#),
            (r#"{"o":{"a":1,"b":2},"o":{"b":{"c":1,"c":2}}}"#, r#"{"o":{"a":1,"b":{"c":2}}}"#),
            (r#"{"o":{},"o":{"b":2},"o":null}"#, r#"{"o":null}"#),
            (r#"{"l":[{"a":1,"a":[{"b":1,"b":1.50}]}]}"#, r#"{"l":[{"a":[{"b":1.50}]}]}"#),
        ] {
            assert_eq!(without_repeated_keys(raw, "o").as_deref(), Some(expected));
        }
        assert_eq!(without_repeated_keys("[]", "o"), None);
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(without_repeated_keys(&deep, "o"), Some(deep));
    }
}
