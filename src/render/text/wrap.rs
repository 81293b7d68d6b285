//! Breaking paragraphs into lines.

use unicode_segmentation::UnicodeSegmentation;

/// The text with its lines broken at spaces so that none is wider than `limit` characters; a word that is wider than
/// that stays whole. Line breaks of the text are kept.
pub fn wrap(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 40);
    for (i, line) in text.split('\n').enumerate() {
        if i > 0 {
            out.push('\n');
        }
        wrap_line(&mut out, line, limit);
    }
    out
}

/// As [`wrap`], but lines that begin with a space are left as they are.
pub fn wrap_paragraphs(text: &str, limit: usize) -> String {
    let lines = text.split('\n').map(|line| if line.starts_with(' ') { line.to_string() } else { wrap(line, limit) });
    lines.collect::<Vec<_>>().join("\n")
}

fn wrap_line(out: &mut String, line: &str, limit: usize) {
    let mut column = 0;
    let mut rest = line;
    while !rest.is_empty() {
        let word_start = rest.find(|c: char| !is_break(c)).unwrap_or(rest.len());
        let (space, after) = rest.split_at(word_start);
        let word_end = after.find(is_break).unwrap_or(after.len());
        let (word, after) = after.split_at(word_end);
        let (space_width, word_width) = (width(space), width(word));
        if word.is_empty() {
            if column + space_width <= limit {
                out.push_str(space);
            }
        } else if column + space_width + word_width > limit && column + space_width > 1 {
            out.push('\n');
            out.push_str(word);
            column = word_width;
        } else {
            out.push_str(space);
            out.push_str(word);
            column += space_width + word_width;
        }
        rest = after;
    }
}

fn is_break(c: char) -> bool {
    c.is_whitespace() && c != '\u{a0}'
}

fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).count() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_at_spaces_only() {
        let cases = [
            ("one two three", 7, "one two\nthree"),
            ("one two three", 100, "one two three"),
            ("incomprehensible word", 5, "incomprehensible\nword"),
            ("a\nb c", 1, "a\nb\nc"),
            ("", 5, ""),
        ];
        for (text, limit, expected) in cases {
            assert_eq!(wrap(text, limit), expected, "{text:?}");
        }
        assert_eq!(wrap_paragraphs("aa bb\n  cc dd", 3), "aa\nbb\n  cc dd");
    }
}
