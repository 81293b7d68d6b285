//! JSON text as the reference's encoder writes it: `<`, `>`, `&` and two line separators escaped.

use gotext::json::html_safe;
use serde::Serialize;

/// The text without blanks.
pub fn compact(value: &impl Serialize) -> String {
    html_safe(&serde_json::to_string(value).unwrap_or_default()).into_owned()
}

/// The text with two blanks per level.
pub fn pretty(value: &impl Serialize) -> String {
    html_safe(&serde_json::to_string_pretty(value).unwrap_or_default()).into_owned()
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
        (self.put)(&html_safe(&String::from_utf8_lossy(&self.text)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_as_the_reference_does() {
        // Observed on the reference, 1.11.4: `output -json`, and diagnostics of `plan -json`.
        assert_eq!(compact(&"a<b>&\u{2028}\n\u{8}\u{c}"), r#""a\u003cb\u003e\u0026\u2028\n\b\f""#);
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
