//! Source files, byte ranges in them, and the lines and columns that people count.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use unicode_segmentation::UnicodeSegmentation;

use super::dialect::Dialect;

/// A text that a user wrote: its name as shown to the user and its content.
pub struct SourceFile {
    name: String,
    text: String,
    is_secret: bool,
    dialect: Dialect,
    line_starts: OnceLock<Vec<u32>>,
    sections: OnceLock<Vec<Section>>,
}

/// A part of a file that messages name to say where they are, as byte offsets.
#[derive(Debug)]
pub struct Section {
    pub start: usize,
    pub end: usize,
    pub header: String,
}

impl SourceFile {
    /// A source of at most 4 GiB; `name` is a path relative to the working directory where there is one. For texts that mean the
    /// same in every dialect, such as a lock file.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<SourceFile> {
        SourceFile::written_in(Dialect::default(), name, text)
    }

    /// A source that is read as a program reads it.
    pub fn written_in(dialect: Dialect, name: impl Into<String>, text: impl Into<String>) -> Arc<SourceFile> {
        SourceFile::of(dialect, name, text, false)
    }

    /// A text that is not shown to anyone, such as the value of a sensitive variable.
    pub fn secret(name: impl Into<String>, text: impl Into<String>) -> Arc<SourceFile> {
        SourceFile::of(Dialect::default(), name, text, true)
    }

    fn of(dialect: Dialect, name: impl Into<String>, text: impl Into<String>, is_secret: bool) -> Arc<SourceFile> {
        Arc::new(SourceFile {
            name: name.into(),
            text: text.into(),
            is_secret,
            dialect,
            line_starts: OnceLock::new(),
            sections: OnceLock::new(),
        })
    }

    pub fn is_secret(&self) -> bool {
        self.is_secret
    }

    /// The dialect that the text is written in.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The sections in their order, found at the first question.
    pub fn sections(&self, find: impl FnOnce(&str) -> Vec<Section>) -> &[Section] {
        self.sections.get_or_init(|| find(&self.text))
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let newlines = self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
            std::iter::once(0).chain(newlines.map(|(i, _)| i as u32 + 1)).collect()
        })
    }

    fn bom_len(&self) -> usize {
        if self.text.starts_with('\u{feff}') { 3 } else { 0 }
    }

    /// Where a byte offset is; offsets past the end count as the end.
    pub fn position(&self, byte: u32) -> Position {
        let byte = (byte as usize).min(self.text.len());
        let starts = self.line_starts();
        let line = starts.partition_point(|s| *s as usize <= byte) - 1;
        // A byte order mark takes no column.
        let start = if line == 0 && byte >= self.bom_len() { self.bom_len() } else { starts[line] as usize };
        let column = match self.text.get(start..byte) {
            Some(before) if before.is_ascii() => before.len(),
            Some(before) => before.graphemes(true).count(),
            None => byte - start,
        };
        Position { line: line + 1, column: column + 1 + self.wide_tabs(start..byte), byte }
    }

    /// In JSON files a tab counts as two columns: so the reference counts, and so do the tools that read its places.
    fn wide_tabs(&self, within: std::ops::Range<usize>) -> usize {
        match self.name.ends_with(".json") {
            true => self.text.as_bytes()[within].iter().filter(|byte| **byte == b'\t').count(),
            false => 0,
        }
    }

    /// The text of a line (counted from 1) without its line ending; empty past the end.
    pub fn line(&self, line: usize) -> &str {
        let starts = self.line_starts();
        let Some(start) = line.checked_sub(1).and_then(|i| starts.get(i)) else { return "" };
        let end = starts.get(line).map_or(self.text.len(), |e| *e as usize);
        self.text[*start as usize..end].trim_end_matches(['\n', '\r'])
    }

    /// Byte offset of the start of a line (counted from 1), or of the end of the file.
    pub fn line_start(&self, line: usize) -> usize {
        self.line_starts().get(line.saturating_sub(1)).map_or(self.text.len(), |s| *s as usize)
    }
}

impl fmt::Debug for SourceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceFile({:?})", self.name)
    }
}

/// A place in a file as people count it: line and column from 1, columns in grapheme clusters; bytes from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
    pub byte: usize,
}

/// Byte offsets in a file that the context names: `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    pub fn in_file(self, file: &Arc<SourceFile>) -> Range {
        Range { file: file.clone(), span: self }
    }
}

/// A span with its file: enough to show a snippet anywhere.
#[derive(Clone)]
pub struct Range {
    pub file: Arc<SourceFile>,
    pub span: Span,
}

impl Range {
    /// Line 0 of no file: the location in JSON output where text output shows none.
    pub fn nowhere() -> Range {
        Span::default().in_file(&SourceFile::new("", ""))
    }

    pub fn is_nowhere(&self) -> bool {
        self.file.name().is_empty() && self.file.text().is_empty()
    }

    /// The dialect of the file.
    pub fn dialect(&self) -> Dialect {
        self.file.dialect()
    }

    pub fn filename(&self) -> &str {
        self.file.name()
    }

    pub fn start(&self) -> Position {
        self.file.position(self.span.start)
    }

    pub fn end(&self) -> Position {
        self.file.position(self.span.end)
    }

    pub fn text(&self) -> &str {
        self.file.text().get(self.span.start as usize..self.span.end as usize).unwrap_or("")
    }

    /// The smallest range of this file that holds both spans.
    pub fn to(&self, other: &Range) -> Range {
        Range { file: self.file.clone(), span: self.span.to(other.span) }
    }
}

/// As `main.tf:3,5-9`: the form that messages use for "declared at".
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = (self.start(), self.end());
        if start.line == end.line {
            write!(f, "{}:{},{}-{}", self.filename(), start.line, start.column, end.column)
        } else {
            write!(f, "{}:{},{}-{},{}", self.filename(), start.line, start.column, end.line, end.column)
        }
    }
}

impl fmt::Debug for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for Range {
    fn eq(&self, other: &Range) -> bool {
        self.span == other.span && (Arc::ptr_eq(&self.file, &other.file) || self.file.name() == other.file.name())
    }
}

impl Eq for Range {}

impl Hash for Range {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.file.name().hash(state);
        self.span.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_grapheme_clusters() {
        let file = SourceFile::new("a.tf", "ab\ne\u{301}x\r\nz");
        let at = |byte| {
            let p = file.position(byte);
            (p.line, p.column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(3), (2, 1));
        assert_eq!(at(6), (2, 2));
        assert_eq!(at(99), (3, 2));
        assert_eq!(file.line(2), "e\u{301}x");
        assert_eq!(file.line(9), "");
        let file = SourceFile::new("a.tf", "\u{feff}ab\ncd");
        assert_eq!([0, 3, 4, 6].map(|byte| file.position(byte).column), [1, 1, 2, 1]);
        assert_eq!(file.position(4).byte, 4);
    }

    #[test]
    fn tabs_of_json_are_two_columns_wide() {
        let columns = |name| {
            let file = SourceFile::new(name, "\t{\t\"é\": 1\n\t}");
            [0, 1, 2, 3, 6, 11, 12].map(|byte| file.position(byte).column)
        };
        assert_eq!(columns("a.tf"), [1, 2, 3, 4, 6, 1, 2]);
        assert_eq!(columns("a.tf.json"), [1, 3, 4, 6, 8, 1, 3]);
    }
}
