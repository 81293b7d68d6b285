//! Text forms that the reference's runtime has and ours has not.
//!
//! Owns Go's quoted string form and its reading of text that is not UTF-8. Never knows values.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;

/// Bytes as text. Each byte that belongs to no valid character becomes U+FFFD, as Go's JSON writer does it.
pub fn lossy_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(out)
}

/// The bytes of a text, without a copy.
pub fn text_bytes(text: Arc<str>) -> Bytes {
    struct Text(Arc<str>);
    impl AsRef<[u8]> for Text {
        fn as_ref(&self) -> &[u8] {
            self.0.as_bytes()
        }
    }
    Bytes::from_owner(Text(text))
}

/// Writes a string the way Go's `%q` does.
pub fn write_go_quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c if is_printable(c) => out.push(c),
            c if (c as u32) < 0x10000 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => {
                let _ = write!(out, "\\U{:08x}", c as u32);
            }
        }
    }
    out.push('"');
}

pub fn go_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_go_quoted(text, &mut out);
    out
}

/// Whether a character may stand in quotes as it is: letters, marks, numbers, punctuation, symbols and the plain space.
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    // What our own debug form escapes behind a letter, where marks stand for themselves.
    !c.is_whitespace() && !['a', c].iter().collect::<String>().escape_debug().skip(1).any(|c| c == '\\')
}

#[cfg(test)]
mod tests {
    use super::{go_quoted, lossy_text};

    /// Observed on the reference, 1.11.4.
    #[test]
    fn invalid_bytes_become_replacement_characters() {
        let cases: [(&[u8], &str); 6] = [
            (b"plain \xc3\xa9", "plain é"),
            (b"a\xffb", "a\u{fffd}b"),
            (b"\xe2\x82", "\u{fffd}\u{fffd}"),
            (b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}"),
            (b"\xe2\x82\xac\x80", "€\u{fffd}"),
            (b"", ""),
        ];
        for (bytes, expected) in cases {
            assert_eq!(lossy_text(bytes), expected);
        }
    }

    /// Recorded with Go 1.26.
    #[test]
    fn texts_are_quoted_as_in_go() {
        let cases = [
            ("", r#""""#),
            ("a b", r#""a b""#),
            ("\"\\'`", r#""\"\\'`""#),
            ("\u{7}\u{8}\u{c}\n\r\t\u{b}", r#""\a\b\f\n\r\t\v""#),
            ("\0\u{1f}\u{7f}", r#""\x00\x1f\x7f""#),
            ("é€😀", r#""é€😀""#),
            ("\u{a0}\u{ad}\u{200b}\u{2028}\u{feff}\u{fffd}", "\"\\u00a0\\u00ad\\u200b\\u2028\\ufeff\u{fffd}\""),
            ("\u{e0001}\u{10ffff}\u{ffff}", r#""\U000e0001\U0010ffff\uffff""#),
            ("\u{378}\u{3000}", r#""\u0378\u3000""#),
            ("CN=\\#x", r#""CN=\\#x""#),
        ];
        for (text, expected) in cases {
            assert_eq!(go_quoted(text), expected);
        }
    }
}
