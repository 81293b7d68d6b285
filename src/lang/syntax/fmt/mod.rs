//! The standard style of configuration files: text to text.
//!
//! Two stages over the lossless tokens. `rewrite` drops what older versions of the language needed (`"${x}"`, quoted
//! types, bare labels); `layout` then decides on the blanks between tokens and touches nothing else.
//! Owns the style, which is Terraform 1.11.4's. Never formats a file that does not parse, never reads or writes files.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use base::diag::Diagnostics;
use base::source::SourceFile;
pub use bytes::format_bytes;

use super::lexer::{self, Start};
use super::parser::parse_tokens;
use super::token::{Token, TokenKind};

mod bytes;
mod layout;
mod rewrite;
mod spacing;
#[cfg(test)]
mod tests;

/// The file in the standard style: None if it is so already. The errors, if it does not parse.
pub fn format(file: &Arc<SourceFile>) -> Result<Option<String>, Diagnostics> {
    let text = file.text();
    let tokens = lexer::scan(text, Start::Normal);
    let (body, diagnostics) = parse_tokens(file, &tokens);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let rewritten = rewrite::rewrite(&body, text, &tokens, true);
    let mut new = print(text, &tokens, &rewritten.edits);
    if rewritten.risky && !parses(&new) {
        new = print(text, &tokens, &rewrite::rewrite(&body, text, &tokens, false).edits);
    }
    Ok((new != text).then_some(new))
}

/// The text with its blanks in the standard style and nothing else changed.
pub fn format_blanks(text: &str) -> String {
    print(text, &lexer::scan(text, Start::Normal), &[])
}

fn print(text: &str, tokens: &[Token], edits: &[Edit<'_>]) -> String {
    layout::print(pieces(text, tokens, edits), tail(text, tokens))
}

/// Tokens and what stands in their place.
struct Edit<'a> {
    tokens: Range<usize>,
    by: Vec<(TokenKind, Cow<'a, str>)>,
}

/// All tokens but the last, which stands for the end, with the edits made.
fn pieces<'a>(text: &'a str, tokens: &[Token], edits: &'a [Edit<'_>]) -> Vec<Piece<'a>> {
    let mut pieces = Vec::with_capacity(tokens.len() + 4 * edits.len());
    let mut next = 0;
    let copy = |pieces: &mut Vec<Piece<'a>>, range: Range<usize>| {
        let tokens = tokens.get(range).unwrap_or_default().iter().filter(|token| token.kind != TokenKind::End);
        pieces.extend(tokens.map(|token| Piece::of(text, *token)));
    };
    for edit in edits {
        copy(&mut pieces, next..edit.tokens.start);
        pieces.extend(edit.by.iter().map(|(kind, text)| Piece { kind: *kind, text, blanks: 0 }));
        next = edit.tokens.end;
    }
    copy(&mut pieces, next..tokens.len());
    pieces
}

fn parses(text: &str) -> bool {
    let file = SourceFile::new("", text);
    let tokens = lexer::scan(text, Start::Normal);
    !parse_tokens(&file, &tokens).1.has_errors()
}

/// How many bytes of blanks stand behind the last token: they stay, as in the reference, but as spaces.
fn tail(text: &str, tokens: &[Token]) -> usize {
    let last = tokens.iter().rev().find(|t| t.kind != TokenKind::End);
    text.len() - last.map_or(0, |t| t.end as usize)
}

/// A token with the blanks before it.
#[derive(Clone, Copy, Debug)]
struct Piece<'a> {
    kind: TokenKind,
    blanks: u32,
    text: &'a str,
}

impl<'a> Piece<'a> {
    fn of(text: &'a str, token: Token) -> Piece<'a> {
        let text = text.get(token.start as usize..token.end as usize).unwrap_or("");
        Piece { kind: token.kind, blanks: 0, text }
    }

    /// A newline, or a comment that includes one.
    fn ends_line(self) -> bool {
        match self.kind {
            TokenKind::Newline => true,
            TokenKind::Comment => self.text.ends_with('\n'),
            _ => false,
        }
    }

    /// 1 for what opens brackets of any kind, -1 for what closes them.
    fn bracket_change(self) -> i32 {
        bracket_change(self.kind)
    }
}

fn bracket_change(kind: TokenKind) -> i32 {
    use TokenKind::*;
    match kind {
        OpenBrace | OpenBracket | OpenParen | TemplateControl | TemplateInterp => 1,
        CloseBrace | CloseBracket | CloseParen | TemplateEnd => -1,
        _ => 0,
    }
}
