//! The piece of source text that a diagnostic speaks of: its lines, what to highlight, and the block around it.

use std::borrow::Cow;

use base::diag::Diagnostic;
use base::source::{Range, Section, SourceFile, Span};
use lang::syntax::ast::Block;
use lang::syntax::{json, parser};
use terrane_value::text::go_quoted;

/// Input at the console's prompt; it is not shown again.
pub const CONSOLE_INPUT: &str = "<console-input>";

/// An encryption configuration in the environment; its passphrases are not shown again.
const ENCRYPTION_VARIABLE: &str = "TF_ENCRYPTION";

/// Source lines around a diagnostic's subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet<'a> {
    /// The header of the top-level block around the subject: `resource "x" "y"`; in JSON `resource.x.y.argument`.
    pub context: Option<String>,
    /// Whole lines, without the last line's ending. The reference leaves out those that are empty.
    pub code: Cow<'a, str>,
    pub start_line: usize,
    /// Byte offsets within `code`, counted as if no line had been left out.
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
    let file = &*diagnostic.subject.as_ref()?.file;
    if is_typed(file) || file.name() == ENCRYPTION_VARIABLE { None } else { lines(diagnostic) }
}

/// As [`snippet`], of what was typed: at a prompt, or on the command line. Not of secrets.
pub fn typed_snippet(diagnostic: &Diagnostic) -> Option<Snippet<'_>> {
    let file = &*diagnostic.subject.as_ref()?.file;
    if !is_typed(file) || file.is_secret() {
        return None;
    }
    Some(Snippet { context: None, ..lines(diagnostic)? })
}

/// Whether a text was given on the command line or at a prompt. The reference does not show it again.
fn is_typed(file: &SourceFile) -> bool {
    matches!(file.name(), "" | CONSOLE_INPUT) || file.name().starts_with("<value for ")
}

fn lines(diagnostic: &Diagnostic) -> Option<Snippet<'_>> {
    let subject = diagnostic.subject.as_ref()?;
    let file = &*subject.file;
    let shown = shown_subject(subject).span;
    let whole =
        diagnostic.context.as_ref().filter(|c| c.file.name() == file.name()).map_or(shown, |c| c.span.to(shown));
    if file.text().is_empty() && !file.name().ends_with(".json") {
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
    let code = without_empty_lines(file.text().get(from..to)?);
    let clamp = |byte: u32| (byte as usize).saturating_sub(from).min(code.len());
    let highlight = (clamp(shown.start), clamp(shown.end));
    // The byte before the subject: a block's own header is not within the block.
    let context = (subject.span.start as usize).checked_sub(1).and_then(|byte| context(file, byte));
    Some(Snippet { context, code, start_line, highlight })
}

fn without_empty_lines(code: &str) -> Cow<'_, str> {
    let is_empty = |line: &&str| line.trim_end_matches('\r').is_empty();
    match code.split('\n').any(|line| is_empty(&line)) {
        false => Cow::Borrowed(code),
        true => Cow::Owned(code.split('\n').filter(|line| !is_empty(line)).collect::<Vec<_>>().join("\n")),
    }
}

/// The header of the top-level block whose text, from header to closing brace, holds the byte. In JSON: the names on the
/// way to the value that holds it.
fn context(file: &SourceFile, byte: usize) -> Option<String> {
    if file.name().ends_with(".json") {
        let text = SourceFile::new(file.name(), file.text());
        let place = json::context(&parser::json::parse_tree(&text).0, byte);
        return Some(place).filter(|p| !p.is_empty());
    }
    let sections = file.sections(blocks);
    let found = &sections[..sections.partition_point(|s| s.start <= byte)];
    found.last().filter(|s| byte < s.end).map(|s| s.header.clone())
}

/// No block has as many labels. What does have more is text that a missing quote has turned inside out, and its header
/// would be as long as the file, in each of its diagnostics.
const MOST_LABELS: usize = 4;

/// The top-level blocks of a file, with their headers: the kind, and the labels in quotes. A header that is broken is none.
fn blocks(text: &str) -> Vec<Section> {
    let (body, _) = parser::parse_file(SourceFile::new("", text));
    let section = |block: &Block| {
        let labels = block.labels.iter().map(|label| format!(" {}", go_quoted(&label.text)));
        let header = std::iter::once(block.kind.name.to_string()).chain(labels).collect();
        Section { start: block.kind.span.start as usize, end: block.close.end as usize, header }
    };
    let is_whole = |block: &&Block| block.open != block.kind.span && block.labels.len() <= MOST_LABELS;
    body.blocks().into_iter().filter(is_whole).map(section).collect()
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

    /// Observed, 1.11.4.
    #[test]
    fn headers_are_those_of_the_blocks_that_were_read() {
        let cases = [
            ("a \"b\\u0041\" c {\n", Some("a \"bA\" \"c\"")),
            ("a \"b${x}\" {\n", Some("a \"b${ ... }\"")),
            ("a /* x */ \"b\" {\n", Some("a \"b\"")),
            ("a \"b {\n  c = \"d\"\n  e = \"{\"\n", Some("a \"b {\" \"d\" \"\"")),
            ("a \"b\" - {\n", None),
            ("a 1 {\n", None),
        ];
        for (head, expected) in cases {
            let text = format!("{head}  here = 1\n}}\n");
            let file = SourceFile::new("a.tf", text.as_str());
            assert_eq!(context(&file, text.find("here").unwrap()).as_deref(), expected, "{head}");
        }
    }

    #[test]
    fn headers_do_not_grow_with_the_file() {
        let longest = |lines: usize| {
            let text = format!("a \"b {{\n{}  z = \"{{\"\n}}\n", "  c = \"d\"\n".repeat(lines));
            blocks(&text).iter().map(|section| section.header.len()).max().unwrap_or_default()
        };
        assert!(longest(400) <= longest(2) + 100, "{} characters", longest(400));
    }

    #[test]
    fn shows_whole_lines_and_highlights_the_subject() {
        let file = SourceFile::new("a.tf", "a = 1\nb = foo(\n  2,\n)\n");
        let diagnostic =
            Diagnostic::error("s", "d").at(Span::new(10, 14).in_file(&file)).within(Span::new(10, 21).in_file(&file));
        let found = snippet(&diagnostic).unwrap();
        assert_eq!((&*found.code, found.start_line, found.highlight), ("b = foo(\n  2,\n)", 2, (4, 8)));
        let at_end = Diagnostic::error("s", "d").at(Span::new(22, 22).in_file(&file));
        assert!(snippet(&at_end).is_some());
    }

    #[test]
    fn encryption_settings_of_the_environment_are_not_shown() {
        let text = "key_provider \"pbkdf2\" \"k\" { passphrase = \"secret\" }";
        let file = SourceFile::new("TF_ENCRYPTION", text);
        assert!(snippet(&Diagnostic::error("s", "d").at(Span::new(0, 12).in_file(&file))).is_none());
    }

    /// Observed, 1.11.4: the line between the braces is left out, and the highlight is not moved.
    #[test]
    fn empty_lines_are_left_out() {
        let file = SourceFile::new("a.tf", "x = {\n\n\r\n  é = 1\n \n} + 1\n");
        let start = file.text().find('{').unwrap();
        let end = file.text().find("} +").unwrap() + 1;
        let diagnostic = Diagnostic::error("s", "d").at(Span::new(start, end).in_file(&file));
        let found = snippet(&diagnostic).unwrap();
        assert_eq!((&*found.code, found.highlight), ("x = {\n  é = 1\n \n} + 1", (4, 21)));
    }
}
