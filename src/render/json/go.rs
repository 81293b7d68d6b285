//! JSON text as the reference's encoder writes it: `<`, `>`, `&` and two line separators escaped.

use serde::Serialize;

/// The text without blanks.
pub fn compact(value: &impl Serialize) -> String {
    escape(&serde_json::to_string(value).unwrap_or_default())
}

/// The text with two blanks per level.
pub fn pretty(value: &impl Serialize) -> String {
    escape(&serde_json::to_string_pretty(value).unwrap_or_default())
}

/// As `pretty`, in parts of about this many bytes: a long text is never there as a whole.
const PART: usize = 64 * 1024;

/// Gives the text that `pretty` makes part by part.
pub fn pretty_in_parts(value: &impl Serialize, put: impl FnMut(&str)) {
    let mut parts = Parts { put, text: Vec::with_capacity(PART) };
    // Nothing in a document fails to be written; what was until then is shown, as the whole would be.
    let _ = serde_json::to_writer_pretty(&mut parts, value);
    parts.pass_on();
}

struct Parts<F: FnMut(&str)> {
    put: F,
    text: Vec<u8>,
}

impl<F: FnMut(&str)> Parts<F> {
    fn pass_on(&mut self) {
        (self.put)(&escape(&String::from_utf8_lossy(&self.text)));
        self.text.clear();
    }
}

impl<F: FnMut(&str)> std::io::Write for Parts<F> {
    /// The serializer writes whole characters, and escape sequences as a whole.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.text.len() + bytes.len() > PART && !self.text.is_empty() {
            self.pass_on();
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Appends a text as a string of JSON, quotes and all.
pub fn string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    let special = |c: char| c < ' ' || matches!(c, '"' | '\\' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
    while let Some(at) = rest.find(special) {
        out.push_str(&rest[..at]);
        let c = rest[at..].chars().next().unwrap_or_default();
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push_str(&format!("\\u{:04x}", c as u32)),
        }
        rest = &rest[at + c.len_utf8()..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Escapes within the strings of a JSON text; outside of strings these characters do not occur.
pub fn escape(text: &str) -> String {
    let special = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\u{8}' | '\u{c}');
    if !text.contains(special) && !text.contains("\\b") && !text.contains("\\f") {
        return text.to_string();
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if special(c) => out.push_str(&format!("\\u{:04x}", c as u32)),
            '\\' => match chars.next() {
                Some('b') => out.push_str("\\u0008"),
                Some('f') => out.push_str("\\u000c"),
                next => {
                    out.push('\\');
                    out.extend(next);
                }
            },
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_as_the_reference_does() {
        assert_eq!(compact(&"a<b>&\u{2028}\n\u{8}"), r#""a\u003cb\u003e\u0026\u2028\n\u0008""#);
        for text in ["", "a\"\\b", "a<b>&\u{2028}\n\u{8}", "\t\r\u{1}\u{7f}é"] {
            let mut out = String::new();
            string(&mut out, text);
            assert_eq!(out, compact(&text));
        }
        assert_eq!(pretty(&serde_json::json!({ "a": [] })), "{\n  \"a\": []\n}");
    }

    #[test]
    fn parts_are_the_whole_and_never_long() {
        let odd: Vec<String> = (0..20_000).map(|i| format!("ä<\u{8}\\&\u{2028}{}", "x".repeat(i % 40))).collect();
        let (mut whole, mut most) = (String::new(), 0);
        pretty_in_parts(&odd, |part| {
            whole.push_str(part);
            most = most.max(part.len());
        });
        assert!(whole == pretty(&odd) && whole.len() > 10 * PART);
        // Escaping lengthens a part at most six times.
        assert!(most < 6 * PART, "{most}");
    }
}
