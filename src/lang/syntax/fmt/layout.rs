//! Blanks: indentation by open brackets, spaces within a line, columns of `=` and of comments over neighbouring lines.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::super::token::TokenKind;
use super::{Piece, spacing};

/// The pieces with their blanks set, and `tail` spaces at the end of the file.
pub fn print(mut pieces: Vec<Piece<'_>>, tail: usize) -> String {
    let lines = lines(&pieces);
    indent(&mut pieces, &lines);
    for line in &lines {
        space(&mut pieces, line.lead());
        space(&mut pieces, line.assign());
        if line.has_assign() {
            pieces[line.assign].blanks = 1;
        }
    }
    align(&mut pieces, &lines, Cell::Assign);
    align(&mut pieces, &lines, Cell::Comment);
    written(&pieces, tail)
}

/// A line of tokens in three cells: what is assigned to (or all of it), `=` and the value, the comment at its end. The
/// last two may be empty. A heredoc is part of one line.
#[derive(Debug)]
struct Line {
    start: usize,
    assign: usize,
    comment: usize,
    end: usize,
}

impl Line {
    fn lead(&self) -> Range<usize> {
        self.start..self.assign
    }

    fn assign(&self) -> Range<usize> {
        self.assign..self.comment
    }

    fn has_assign(&self) -> bool {
        self.assign < self.comment
    }

    /// From `=` or the comment on.
    fn cell(&self, cell: Cell) -> Option<usize> {
        match cell {
            Cell::Assign => self.has_assign().then_some(self.assign),
            Cell::Comment => (self.comment < self.end).then_some(self.comment),
        }
    }
}

#[derive(Clone, Copy)]
enum Cell {
    Assign,
    Comment,
}

fn lines(pieces: &[Piece<'_>]) -> Vec<Line> {
    let mut lines = Vec::with_capacity(pieces.len() / 6 + 1);
    let mut start = 0;
    for (i, piece) in pieces.iter().enumerate() {
        if piece.ends_line() || i + 1 == pieces.len() {
            lines.push(cells(pieces, start, i + 1));
            start = i + 1;
        }
    }
    lines
}

fn cells(pieces: &[Piece<'_>], start: usize, end: usize) -> Line {
    let last_is_comment = pieces[end - 1].kind == TokenKind::Comment;
    let comment = if last_is_comment && end - start > 1 { end - 1 } else { end };
    let content = &pieces[start..comment];
    let equals = content.iter().skip(1).position(|p| p.kind == TokenKind::Equal).map(|i| i + 1);
    // A value that goes on in the next line is not set in a column.
    let whole = |at: &usize| content[*at..].iter().map(|p| p.bracket_change()).sum::<i32>() == 0;
    let assign = equals.filter(whole).map_or(comment, |at| start + at);
    Line { start, assign, comment, end }
}

/// A level for each line that opens more brackets than it closes, however many those are.
fn indent(pieces: &mut [Piece<'_>], lines: &[Line]) {
    let mut levels: Vec<i32> = Vec::new();
    for line in lines {
        let first = &mut pieces[line.start];
        if first.kind == TokenKind::Newline {
            first.blanks = 0;
            continue;
        }
        let change = line_change(&pieces[line.lead()]) + line_change(&pieces[line.assign()]);
        if change < 0 {
            close_levels(&mut levels, -change);
        }
        pieces[line.start].blanks = 2 * levels.len() as u32;
        if change > 0 {
            levels.push(change);
        }
    }
}

/// Brackets opened less brackets closed; what stands in and behind a heredoc does not count.
fn line_change(cell: &[Piece<'_>]) -> i32 {
    let until = cell.iter().position(|p| p.kind == TokenKind::OpenHeredoc).unwrap_or(cell.len());
    cell[..until].iter().map(|p| p.bracket_change()).sum()
}

fn close_levels(levels: &mut Vec<i32>, mut closed: i32) {
    while let Some(opened) = levels.last_mut() {
        if closed < *opened {
            *opened -= closed;
            return;
        }
        closed -= *opened;
        levels.pop();
        if closed == 0 {
            return;
        }
    }
}

/// Spaces between the pieces of a cell; those before its first are not its business.
fn space(pieces: &mut [Piece<'_>], cell: Range<usize>) {
    let mut before = None;
    for at in cell.start + 1..cell.end {
        let right = pieces[at].kind;
        let left = pieces[at - 1];
        let apart = spacing::apart(before, left, right);
        before = Some(left.kind);
        pieces[at].blanks = u32::from(apart);
    }
}

/// Lines that follow one another and all have the cell get it in one column.
fn align(pieces: &mut [Piece<'_>], lines: &[Line], cell: Cell) {
    let mut widths: Vec<usize> = Vec::new();
    for run in lines.chunk_by(|a, b| a.cell(cell).is_some() == b.cell(cell).is_some()) {
        widths.clear();
        widths.extend(run.iter().filter_map(|line| Some(columns(&pieces[line.start..line.cell(cell)?]))));
        let widest = widths.iter().max().copied().unwrap_or(0);
        for (line, width) in run.iter().zip(&widths) {
            if let Some(at) = line.cell(cell) {
                pieces[at].blanks = (widest - width + 1) as u32;
            }
        }
    }
}

fn columns(pieces: &[Piece<'_>]) -> usize {
    pieces.iter().map(|p| p.blanks as usize + clusters(p.text)).sum()
}

/// Grapheme clusters, of which a line ending of two bytes is one.
fn clusters(text: &str) -> usize {
    if text.bytes().all(|b| b.is_ascii() && b != b'\r') { text.len() } else { text.graphemes(true).count() }
}

fn written(pieces: &[Piece<'_>], tail: usize) -> String {
    let len = pieces.iter().map(|p| p.blanks as usize + p.text.len()).sum::<usize>() + tail;
    let mut text = String::with_capacity(len);
    for piece in pieces {
        push_blanks(&mut text, piece.blanks as usize);
        text.push_str(piece.text);
    }
    push_blanks(&mut text, tail);
    text
}

fn push_blanks(text: &mut String, mut count: usize) {
    const BLANKS: &str = "                                ";
    while count > 0 {
        let some = count.min(BLANKS.len());
        text.push_str(&BLANKS[..some]);
        count -= some;
    }
}
