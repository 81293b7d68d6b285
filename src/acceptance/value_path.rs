//! Paths into JSON values, as checks write them: `reminder[0].at`, `labels["a.b"]`.

use serde_json::Value as Json;

/// The keys and indexes of a path, from the outside inwards. The empty text is the value itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValuePath(Vec<String>);

impl ValuePath {
    /// Names are separated by full stops; indexes and quoted keys are in brackets.
    pub fn parse(text: &str) -> Result<ValuePath, String> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (step, after) = match rest.strip_prefix('[') {
                Some(inner) => bracket(inner),
                None => name(rest),
            }
            .ok_or_else(|| format!("{text:?} is not a path: write, for example, reminder[0].at or labels[\"a.b\"]"))?;
            steps.push(step);
            rest = match after.strip_prefix('.') {
                Some("") => return Err(format!("{text:?} is not a path: it ends with a full stop")),
                Some(next) => next,
                None => after,
            };
        }
        Ok(ValuePath(steps))
    }

    /// The nested value; none if a step does not exist.
    pub fn find<'v>(&self, value: &'v Json) -> Option<&'v Json> {
        self.0.iter().try_fold(value, |value, step| child(value, step))
    }

    /// As [`ValuePath::find`] in a tree of flags, such as `after_unknown`, where `true` stands for a value with all parts.
    pub fn is_flagged(&self, flags: &Json) -> bool {
        let mut flags = flags;
        for step in &self.0 {
            match child(flags, step) {
                _ if flags == &Json::Bool(true) => return true,
                Some(inner) => flags = inner,
                None => return false,
            }
        }
        flags == &Json::Bool(true)
    }
}

fn child<'v>(value: &'v Json, step: &str) -> Option<&'v Json> {
    match value {
        Json::Object(attributes) => attributes.get(step),
        Json::Array(elements) => elements.get(step.parse::<usize>().ok()?),
        _ => None,
    }
}

/// A name, and the text behind it.
fn name(text: &str) -> Option<(String, &str)> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    (end > 0).then(|| (text[..end].to_owned(), &text[end..]))
}

/// An index or a quoted key whose opening bracket was read, and the text behind the closing one.
fn bracket(text: &str) -> Option<(String, &str)> {
    if !text.starts_with('"') {
        let (index, after) = text.split_once(']')?;
        return index.parse::<usize>().ok().map(|index| (index.to_string(), after));
    }
    let mut keys = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let key = keys.next()?.ok()?;
    Some((key, text[keys.byte_offset()..].strip_prefix(']')?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_lead_to_nested_values() {
        let value = json!({ "a": { "b": [1, { "c.d": 2 }] }, "x[0]": 3 });
        let cases = [
            ("", Some(value.clone())),
            ("a.b[0]", Some(json!(1))),
            ("a.b.0", Some(json!(1))),
            ("a[\"b\"][1][\"c.d\"]", Some(json!(2))),
            ("[\"x[0]\"]", Some(json!(3))),
            ("a.b[2]", None),
            ("a.c", None),
            ("a.b.c", None),
        ];
        for (path, expected) in cases {
            assert_eq!(ValuePath::parse(path).unwrap().find(&value), expected.as_ref(), "{path}");
        }
        for wrong in [".", "a..b", "a.", "a[", "a[x]", "a[\"b]", "a[-1]"] {
            assert!(ValuePath::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn flags_of_a_value_are_flags_of_its_parts() {
        let flags = json!({ "a": true, "b": { "c": true, "d": false }, "e": [false, { "f": true }] });
        let cases = [("a", true), ("a.x[0]", true), ("b", false), ("b.c", true), ("b.d", false), ("e[1].f", true)];
        for (path, expected) in cases {
            assert_eq!(ValuePath::parse(path).unwrap().is_flagged(&flags), expected, "{path}");
        }
    }
}
