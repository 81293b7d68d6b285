//! From a text to what stands for it between quotes: the one place that knows what a quoted string must escape.
//!
//! Owns the escaping of everything that writes configuration. Never adds the quotes of anything but a string.

use std::fmt::Write;

use terrane_value::text::is_printable;

/// The text as a string in quotes, which gives the text again when it is evaluated.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    write_escaped(text.chars(), &mut out);
    out.push('"');
    out
}

/// Writes characters as they stand between quotes: with escape sequences, and without template sequences.
pub fn write_escaped(text: impl Iterator<Item = char>, out: &mut String) {
    let mut rest = text.peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '$' | '%' => {
                out.push(c);
                if rest.peek() == Some(&'{') {
                    out.push(c);
                }
            }
            c if is_printable(c) => out.push(c),
            // Writing to a string does not fail.
            c if (c as u32) < 0x10000 => drop(write!(out, "\\u{:04x}", c as u32)),
            c => drop(write!(out, "\\U{:08x}", c as u32)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes() {
        let cases = [
            ("a \"b\" \\", r#""a \"b\" \\""#),
            ("${x} %{y} $x %", r#""$${x} %%{y} $x %""#),
            ("é\n\t\u{1}\u{7f}", r#""é\n\t\u0001\u007f""#),
            ("\u{2028}\u{e0001}", r#""\u2028\U000e0001""#),
        ];
        for (text, expected) in cases {
            assert_eq!(quoted(text), expected);
        }
    }
}
