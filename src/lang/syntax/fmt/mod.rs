//! The standard style of configuration files: text to text.
//!
//! Two stages over the lossless tokens. [`rewrite`] drops what older versions of the language needed (`"${x}"`, quoted
//! types, bare labels); [`layout`] then decides on the blanks between tokens and touches nothing else.
//! Owns the style, which is Terraform 1.11.4's. Never formats a file that does not parse, never reads or writes files.

use std::borrow::Cow;
use std::sync::Arc;

pub use bytes::format_bytes;

use super::lexer::{self, Start};
use super::parser::parse_tokens;
use super::token::{Token, TokenKind};
use crate::base::diag::Diagnostics;
use crate::base::source::SourceFile;

mod bytes;
mod layout;
mod rewrite;
mod spacing;
#[cfg(test)]
mod tests;

/// The file in the standard style: None if it is so already. The mistakes, if it does not parse.
pub fn format(file: &Arc<SourceFile>) -> Result<Option<String>, Diagnostics> {
    let tokens = lexer::scan(file.text(), Start::Normal);
    let (body, diagnostics) = parse_tokens(file, &tokens);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let rewritten = rewrite::rewrite(&body, file.text(), &tokens, true);
    let mut text = layout::print(rewritten.pieces, tail(file.text(), &tokens));
    if rewritten.risky && !parses(&text) {
        let careful = rewrite::rewrite(&body, file.text(), &tokens, false);
        text = layout::print(careful.pieces, tail(file.text(), &tokens));
    }
    Ok((text != file.text()).then_some(text))
}

/// The text with its blanks in the standard style and nothing else changed.
pub fn format_blanks(text: &str) -> String {
    let tokens = lexer::scan(text, Start::Normal);
    let pieces = tokens.iter().filter(|t| t.kind != TokenKind::End).map(|t| Piece::of(text, *t)).collect();
    layout::print(pieces, tail(text, &tokens))
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
#[derive(Clone, Debug)]
struct Piece<'a> {
    kind: TokenKind,
    text: Cow<'a, str>,
    blanks: usize,
}

impl<'a> Piece<'a> {
    fn of(text: &'a str, token: Token) -> Piece<'a> {
        let text = text.get(token.start as usize..token.end as usize).unwrap_or("");
        Piece { kind: token.kind, text: Cow::Borrowed(text), blanks: 0 }
    }

    fn new(kind: TokenKind, text: impl Into<Cow<'a, str>>) -> Piece<'a> {
        Piece { kind, text: text.into(), blanks: 0 }
    }

    /// A newline, or a comment that includes one.
    fn ends_line(&self) -> bool {
        match self.kind {
            TokenKind::Newline => true,
            TokenKind::Comment => self.text.ends_with('\n'),
            _ => false,
        }
    }

    /// 1 for what opens brackets of any kind, -1 for what closes them.
    fn bracket_change(&self) -> i32 {
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
