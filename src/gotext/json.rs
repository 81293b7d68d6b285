//! JSON text that is safe within HTML, as Go's encoder writes it.
//!
//! Strings on their own are written by `terrane_value::json`, which values need.

use std::borrow::Cow;

/// Appends a text as a JSON string to bytes.
pub fn push_string(text: &str, out: &mut Vec<u8>) {
    terrane_value::json::string_parts(text, |part| out.extend_from_slice(part.as_bytes()));
}

/// The same JSON with `<`, `>`, `&` and the two line separators escaped. They occur in strings only.
pub fn html_safe(json: &str) -> Cow<'_, str> {
    if !json.bytes().any(|byte| matches!(byte, b'<' | b'>' | b'&' | 0xe2)) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    html_safe_parts(json, |part| out.push_str(part));
    Cow::Owned(out)
}

/// Gives what [`html_safe`] returns in parts.
pub fn html_safe_parts(json: &str, mut put: impl FnMut(&str)) {
    let bytes = json.as_bytes();
    let (mut done, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        let (escape, length) = match byte {
            b'<' => ("\\u003c", 1),
            b'>' => ("\\u003e", 1),
            b'&' => ("\\u0026", 1),
            0xe2 if json[at..].starts_with('\u{2028}') => ("\\u2028", 3),
            0xe2 if json[at..].starts_with('\u{2029}') => ("\\u2029", 3),
            _ => {
                at += 1;
                continue;
            }
        };
        put(&json[done..at]);
        put(escape);
        at += length;
        done = at;
    }
    put(&json[done..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_escape_what_go_escapes() {
        let mut out = Vec::new();
        push_string("<a>\"\n\u{1}\u{7f}&é\u{2029}", &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "\"\\u003ca\\u003e\\\"\\n\\u0001\u{7f}\\u0026é\\u2029\"");
    }

    #[test]
    fn documents_become_safe_within_html() {
        for (json, expected) in [
            (r#"{"a":"\\b é"}"#, r#"{"a":"\\b é"}"#),
            ("[\"<b>&\u{2027}\u{2028}\"]", "[\"\\u003cb\\u003e\\u0026\u{2027}\\u2028\"]"),
            ("", ""),
        ] {
            assert_eq!(html_safe(json), expected);
        }
    }
}
