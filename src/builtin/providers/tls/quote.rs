//! Texts between quotes, as Go's `strconv.Quote` writes them.

use std::fmt::Write;

/// The text in double quotes; what cannot be printed is escaped.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if is_printable(c) => out.push(c),
            // A string takes everything.
            c if c < ' ' || c == '\u{7f}' => drop(write!(out, "\\x{:02x}", c as u32)),
            c if (c as u32) < 0x1_0000 => drop(write!(out, "\\u{:04x}", c as u32)),
            c => drop(write!(out, "\\U{:08x}", c as u32)),
        }
    }
    out.push('"');
    out
}

/// Whether the character is a letter, mark, number, sign or the ASCII space.
fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    // What the debug form escapes behind a letter, where marks stand for themselves.
    !c.is_whitespace() && !['a', c].iter().collect::<String>().escape_debug().skip(1).any(|c| c == '\\')
}

#[cfg(test)]
mod tests {
    use crate::builtin::providers::tls::golden::{cases, text};

    #[test]
    fn texts_are_quoted_as_go_does() {
        for case in cases("quote.json") {
            assert_eq!(super::quoted(text(&case, "text")), text(&case, "is"));
        }
    }
}
