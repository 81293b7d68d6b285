//! The piece of source text that a diagnostic speaks of: its lines, what to highlight, and the block around it.

use crate::base::diag::Diagnostic;
use crate::base::source::{Range, SourceFile, Span};
use crate::lang::syntax::{json, parser};

/// What somebody types at the console's prompt; it is not shown again.
pub const CONSOLE_INPUT: &str = "<console-input>";

/// Source lines around a diagnostic's subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet<'a> {
    /// The header of the top-level block around the subject: `resource "x" "y"`; in JSON `resource.x.y.argument`.
    pub context: Option<String>,
    /// Whole lines, without the last line's ending.
    pub code: &'a str,
    pub start_line: usize,
    /// Byte offsets within `code`.
    pub highlight: (usize, usize),
}

/// The subject as it is shown: never empty, unless the file is.
pub fn shown_subject(range: &Range) -> Range {
    let mut range = range.clone();
    if range.span.is_empty() {
        let text = range.file.text();
        let start = (range.span.start as usize).min(text.len());
        let step = text.get(start..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        range.span = Span::new(start, start + step);
    }
    range
}

/// The lines of a diagnostic's subject and its context; none if it has no subject or the text is not there.
pub fn snippet(diagnostic: &Diagnostic) -> Option<Snippet<'_>> {
    let subject = diagnostic.subject.as_ref()?;
    let file = &*subject.file;
    let shown = shown_subject(subject).span;
    let whole =
        diagnostic.context.as_ref().filter(|c| c.file.name() == file.name()).map_or(shown, |c| c.span.to(shown));
    // What was given on the command line or in the environment is not shown again.
    let empty = file.text().is_empty() && !file.name().ends_with(".json");
    if empty || file.name().starts_with("<value for ") || file.name() == CONSOLE_INPUT {
        return None;
    }
    let start_line = file.position(whole.start).line;
    // What ends with a line's ending is shown with the line after it, unless that is empty.
    let after = file.position(whole.end);
    let last = file.position(whole.end.saturating_sub(1).max(whole.start)).line;
    let end_line = if file.line(after.line).is_empty() { last } else { after.line };
    // There is no line behind the last line ending.
    let end_line = if file.line_start(end_line) == file.text().len() { end_line - 1 } else { end_line }.max(start_line);
    let from = file.line_start(start_line);
    let to = file.line_start(end_line) + file.line(end_line).len();
    let code = file.text().get(from..to)?;
    let clamp = |byte: u32| (byte as usize).saturating_sub(from).min(code.len());
    let highlight = (clamp(shown.start), clamp(shown.end));
    // The byte before the subject: a block's own header is not within the block.
    let context = (subject.span.start as usize).checked_sub(1).and_then(|byte| context(file, byte));
    Some(Snippet { context, code, start_line, highlight })
}

/// The header of the top-level block whose text, from header to closing brace, holds the byte. In JSON: the names on the
/// way to the value that holds it.
fn context(file: &SourceFile, byte: usize) -> Option<String> {
    if file.name().ends_with(".json") {
        let text = SourceFile::new(file.name(), file.text());
        let place = json::context(&parser::json::parse_tree(&text).0, byte);
        return Some(place).filter(|p| !p.is_empty());
    }
    let mut scanner = Scanner { text: file.text().as_bytes(), at: 0 };
    while scanner.at <= byte {
        let (start, words, end) = scanner.block()?;
        if start <= byte && byte < end {
            return Some(words.join(" "));
        }
    }
    None
}

/// Finds top-level blocks: enough of the language to skip strings, heredocs and comments.
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    /// The next top-level block: where it starts, its header's words (labels quoted), and where it ends.
    fn block(&mut self) -> Option<(usize, Vec<String>, usize)> {
        let mut start = self.at;
        let mut words: Vec<String> = Vec::new();
        let mut attribute = false;
        loop {
            let byte = *self.text.get(self.at)?;
            match byte {
                b'\n' => {
                    words.clear();
                    attribute = false;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'=' => {
                    attribute = true;
                    self.at += 1;
                }
                b'{' if !attribute && !words.is_empty() => {
                    self.at += 1;
                    self.skip_nested();
                    return Some((start, words, self.at));
                }
                b'{' | b'(' | b'[' => {
                    self.at += 1;
                    self.skip_nested();
                }
                b'"' => {
                    let from = self.at;
                    self.skip_string();
                    words.push(String::from_utf8_lossy(&self.text[from..self.at]).into_owned());
                }
                b if b.is_ascii_alphabetic() || b == b'_' || b >= 0x80 => {
                    let from = self.at;
                    let is_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-') || *b >= 0x80;
                    while self.text.get(self.at).is_some_and(is_word) {
                        self.at += 1;
                    }
                    let word = String::from_utf8_lossy(&self.text[from..self.at]).into_owned();
                    if words.is_empty() {
                        start = from;
                        words.push(word);
                    } else {
                        words.push(format!("{word:?}"));
                    }
                }
                _ => self.skip_one(),
            }
        }
    }

    /// Skips to after the bracket that closes the one just passed.
    fn skip_nested(&mut self) {
        let mut depth = 1;
        while depth > 0 {
            match self.text.get(self.at) {
                None => return,
                Some(b'{' | b'(' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b')' | b']') => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(_) => self.skip_one(),
            }
        }
    }

    /// Skips a comment, a string, a heredoc or one byte.
    fn skip_one(&mut self) {
        let rest = &self.text[self.at..];
        if rest.starts_with(b"#") || rest.starts_with(b"//") {
            self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        } else if rest.starts_with(b"/*") {
            self.at += rest.windows(2).position(|w| w == b"*/").map_or(rest.len(), |i| i + 2);
        } else if rest.starts_with(b"\"") {
            self.skip_string();
        } else if rest.starts_with(b"<<") {
            self.skip_heredoc();
        } else {
            self.at += 1;
        }
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => self.at += 2,
                b'\n' => return,
                b'$' | b'%' if self.text.get(self.at + 1) == Some(&b'{') && self.text[self.at - 1] != *byte => {
                    self.at += 2;
                    self.skip_nested();
                }
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.text.len());
    }

    fn skip_heredoc(&mut self) {
        self.at += 2;
        if self.text.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        let rest = &self.text[self.at..];
        let Some(line_end) = rest.iter().position(|b| *b == b'\n') else {
            self.at = self.text.len();
            return;
        };
        let marker = rest[..line_end].trim_ascii();
        if marker.is_empty() || !marker.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')) {
            return;
        }
        let mut at = self.at + line_end + 1;
        while at < self.text.len() {
            let line = &self.text[at..];
            let end = line.iter().position(|b| *b == b'\n').unwrap_or(line.len());
            if line[..end].trim_ascii() == marker {
                self.at = at + end;
                return;
            }
            at += end + 1;
        }
        self.at = self.text.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# c {\nlocals { a = 1 }\nx = {\n b = 2\n}\nresource \"a\" \"b\" {\n  t = <<-E\n   }\n  E\n  u = \"${ {} }\\\"\"\n}\noutput o {}\n";

    fn context_at(needle: &str) -> Option<String> {
        let file = SourceFile::new("a.tf", TEXT);
        context(&file, TEXT.find(needle).unwrap())
    }

    #[test]
    fn finds_the_top_level_block() {
        let cases = [
            ("a = 1", Some("locals")),
            ("b = 2", None),
            ("u = ", Some("resource \"a\" \"b\"")),
            ("}\n  E", Some("resource \"a\" \"b\"")),
            ("# c", None),
            ("put o", Some("output \"o\"")),
        ];
        for (needle, expected) in cases {
            assert_eq!(context_at(needle).as_deref(), expected, "{needle}");
        }
    }

    #[test]
    fn shows_whole_lines_and_highlights_the_subject() {
        let file = SourceFile::new("a.tf", "a = 1\nb = foo(\n  2,\n)\n");
        let diagnostic =
            Diagnostic::error("s", "d").at(Span::new(10, 14).in_file(&file)).within(Span::new(10, 21).in_file(&file));
        let found = snippet(&diagnostic).unwrap();
        assert_eq!((found.code, found.start_line, found.highlight), ("b = foo(\n  2,\n)", 2, (4, 8)));
        let at_end = Diagnostic::error("s", "d").at(Span::new(22, 22).in_file(&file));
        assert!(snippet(&at_end).is_some());
    }
}
