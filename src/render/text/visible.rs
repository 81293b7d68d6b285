//! Text of others (providers, configurations, states) without what would move the cursor or change the terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with its control characters written out as Go's `%q` does: `\x1b`, `\u009b`. Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if matches!(chars.peek(), None | Some('\n')) => out.push(c),
            '\r' => out.push_str("\\r"),
            // Writing to a string does not fail.
            c if is_hidden(c) && c.is_ascii() => _ = write!(out, "\\x{:02x}", c as u32),
            c if is_hidden(c) => _ = write!(out, "\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn is_hidden(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_out() {
        let cases = [
            ("plain é\ttext\nline\r\n", "plain é\ttext\nline\r\n"),
            ("\x1b[2J\x07", "\\x1b[2J\\x07"),
            ("good\rbad", "good\\rbad"),
            ("\u{9b}31m\u{7f}\0", "\\u009b31m\\x7f\\x00"),
        ];
        for (text, expected) in cases {
            assert_eq!(visible(text), expected);
        }
    }
}
