//! Texts of others as they stand on one line of a page or a comment.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with everything written out that is no visible character: control characters, line breaks, and what changes the
/// direction of writing or has no width, so that it looks like what it is.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("    "),
            // Writing to a string does not fail.
            c if is_hidden(c) => _ = write!(out, "\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn is_hidden(c: char) -> bool {
    let directs = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let has_no_width =
        matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}' | '\u{2060}' | '\u{feff}');
    c.is_control() || directs || has_no_width || matches!(c, '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_written_out() {
        let cases = [
            ("plain é 漢 <&>", "plain é 漢 <&>"),
            ("a\nb\r\tc", "a\\nb\\r    c"),
            ("\u{1b}[31m\u{9b}", "\\u001b[31m\\u009b"),
            ("\u{202e}gpj.exe\u{2069}", "\\u202egpj.exe\\u2069"),
            ("a\u{200b}b\u{feff}\u{2028}", "a\\u200bb\\ufeff\\u2028"),
            ("\u{e0041}", "\\ue0041"),
        ];
        for (text, expected) in cases {
            assert_eq!(one_line(text), expected);
        }
    }
}
