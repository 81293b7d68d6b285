//! Texts as Go writes them, for the messages that users know word by word.

use std::fmt::Write;
use std::io;

/// An I/O error: `open x: no such file or directory`.
pub fn io_text(verb: &str, path: &str, error: &io::Error) -> String {
    format!("{verb} {path}: {}", reason(error))
}

/// The system's own text, in lower case and without Rust's number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// Where base64 text stops being base64.
pub fn base64_text(text: &str, url: bool) -> String {
    let extra: &[u8] = if url { b"-_" } else { b"+/" };
    let valid = |byte: &u8| byte.is_ascii_alphanumeric() || extra.contains(byte);
    let at = text.bytes().position(|byte| !valid(&byte)).unwrap_or(text.len());
    format!("illegal base64 data at input byte {at}")
}

/// A text in quotes, as `%q` writes it.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if is_printable(c) => out.push(c),
            c => {
                let number = u32::from(c);
                // Writing to a string does not fail.
                let _ = match number {
                    0..0x80 => write!(out, "\\x{number:02x}"),
                    0x80..0x10000 => write!(out, "\\u{number:04x}"),
                    _ => write!(out, "\\U{number:08x}"),
                };
            }
        }
    }
    out.push('"');
    out
}

/// Letters, marks, numbers, punctuation, symbols and the plain space.
pub fn is_printable(c: char) -> bool {
    let invisible = matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{feff}');
    c == ' ' || !(c.is_control() || c.is_whitespace() || invisible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes() {
        for (text, expected) in
            [("a \"b\"", r#""a \"b\"""#), ("é\n\t\u{1}", r#""é\n\t\x01""#), ("\u{2028}'", r#""\u2028'""#)]
        {
            assert_eq!(quoted(text), expected);
        }
    }
}
