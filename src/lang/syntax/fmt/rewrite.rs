//! What the style changes beside blanks, by the tree: `"${x}"` becomes `x`, labels are quoted, old types are named in
//! today's way.

use std::borrow::Cow;
use std::ops::Range;

use base::source::Span;
use unicode_normalization::UnicodeNormalization;

use super::super::ast::{Attribute, Block, Body};
use super::super::quote::write_escaped;
use super::super::token::{Token, TokenKind};
use super::{Edit, Piece};

/// What to change, by place. `risky`: something of several lines was taken out of its template, which may not parse there.
pub struct Rewritten<'a> {
    pub edits: Vec<Edit<'a>>,
    pub risky: bool,
}

/// `bold`: values of several lines are taken out of their templates.
pub fn rewrite<'a>(body: &Body, text: &'a str, tokens: &[Token], bold: bool) -> Rewritten<'a> {
    let mut rewriter = Rewriter { text, tokens, bold, risky: false, edits: Vec::new() };
    rewriter.body(body, BodyKind::Root);
    let Rewriter { mut edits, risky, .. } = rewriter;
    edits.sort_by_key(|edit| edit.tokens.start);
    Rewritten { edits, risky }
}

/// What stands in the place of tokens.
type TokenTexts<'a> = Vec<(TokenKind, Cow<'a, str>)>;

/// Where a body is, as far as it matters.
#[derive(Clone, Copy, PartialEq)]
enum BodyKind {
    Root,
    Variable,
    Other,
}

struct Rewriter<'a, 't> {
    text: &'a str,
    tokens: &'t [Token],
    bold: bool,
    risky: bool,
    edits: Vec<Edit<'a>>,
}

impl<'a> Rewriter<'a, '_> {
    fn body(&mut self, body: &Body, place: BodyKind) {
        for attribute in body.attributes() {
            self.attribute(attribute, place);
        }
        for block in body.blocks() {
            self.labels(block);
            let inner = match place {
                BodyKind::Root if block.kind.as_str() == "variable" => BodyKind::Variable,
                _ => BodyKind::Other,
            };
            self.body(&block.body, inner);
        }
    }

    fn attribute(&mut self, attribute: &Attribute, place: BodyKind) {
        let span = attribute.expr.node.span;
        let found = if place == BodyKind::Variable && attribute.name.as_str() == "type" {
            self.type_in(span)
        } else if self.source(span).starts_with("\"${") {
            self.value_in(span)
        } else {
            None
        };
        if let Some(by) = found {
            let tokens = self.range(span);
            self.edits.push(Edit { tokens, by });
        }
    }

    fn source(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The tokens that a span covers.
    fn range(&self, span: Span) -> Range<usize> {
        let start = self.tokens.partition_point(|t| t.start < span.start);
        let end = self.tokens.partition_point(|t| t.start < span.end && t.kind != TokenKind::End);
        start..end.max(start)
    }

    /// The type that a variable of old was declared with, `"string"`, or without the type of its elements, `list`.
    fn type_in(&self, span: Span) -> Option<TokenTexts<'a>> {
        let of = |name: &'static str, element: &'static str| {
            vec![
                (TokenKind::Ident, name.into()),
                (TokenKind::OpenParen, "(".into()),
                (TokenKind::Ident, element.into()),
                (TokenKind::CloseParen, ")".into()),
            ]
        };
        match self.source(span) {
            "list" => Some(of("list", "any")),
            "map" => Some(of("map", "any")),
            "set" => Some(of("set", "any")),
            "\"string\"" => Some(vec![(TokenKind::Ident, "string".into())]),
            "\"list\"" => Some(of("list", "string")),
            "\"map\"" => Some(of("map", "string")),
            _ => None,
        }
    }

    /// What is in a template that is one interpolation and nothing else.
    fn value_in(&mut self, span: Span) -> Option<TokenTexts<'a>> {
        use TokenKind::*;
        let tokens = self.tokens.get(self.range(span))?;
        let [Token { kind: OpenQuote, .. }, open, inner @ .., close, Token { kind: CloseQuote, .. }] = tokens else {
            return None;
        };
        if inner.is_empty() || open.kind != TemplateInterp || close.kind != TemplateEnd || !is_lone(inner) {
            return None;
        }
        let inner = trimmed(inner);
        let spans_lines = inner.iter().any(|t| t.kind == Newline);
        let has_parens =
            inner.first().is_some_and(|t| t.kind == OpenParen) && inner.last().is_some_and(|t| t.kind == CloseParen);
        let text = self.text;
        let is_risky = |t: &Token| t.kind == CloseHeredoc || Piece::of(text, *t).ends_line();
        if inner.iter().any(is_risky) {
            if !self.bold {
                return None;
            }
            self.risky = true;
        }
        let mut pieces: TokenTexts<'a> =
            inner.iter().map(|t| (t.kind, Cow::Borrowed(Piece::of(text, *t).text))).collect();
        if spans_lines && !has_parens {
            pieces.insert(0, (OpenParen, "(".into()));
            pieces.push((CloseParen, ")".into()));
        }
        Some(pieces)
    }

    /// Labels in quotes, without anything between them but blanks.
    fn labels(&mut self, block: &Block) {
        let Some(last) = block.labels.last() else { return };
        let tokens = self.range(Span { start: block.kind.span.end, end: last.span.end });
        let quoted: Vec<Cow<'a, str>> = block.labels.iter().map(|l| escaped(self.source(l.span), &l.text)).collect();
        let expected: usize = quoted.iter().map(|text| if text.is_empty() { 2 } else { 3 }).sum();
        let sources = block.labels.iter().map(|label| inside_quotes(self.source(label.span)));
        let unchanged = tokens.len() == expected && sources.zip(&quoted).all(|(source, text)| source == Some(text));
        if unchanged {
            return;
        }
        let mut pieces = Vec::new();
        for text in quoted {
            pieces.push((TokenKind::OpenQuote, "\"".into()));
            if !text.is_empty() {
                pieces.push((TokenKind::QuotedText, text));
            }
            pieces.push((TokenKind::CloseQuote, "\"".into()));
        }
        self.edits.push(Edit { tokens, by: pieces });
    }
}

/// True if no other template sequence or text stands beside the one whose inside this is.
fn is_lone(inner: &[Token]) -> bool {
    let mut quotes = 0;
    inner.iter().all(|token| {
        match token.kind {
            TokenKind::OpenQuote => quotes += 1,
            TokenKind::CloseQuote => quotes -= 1,
            TokenKind::TemplateInterp | TokenKind::TemplateEnd | TokenKind::QuotedText => return quotes > 0,
            _ => {}
        }
        true
    })
}

fn trimmed(tokens: &[Token]) -> &[Token] {
    let is_newline = |t: &Token| t.kind == TokenKind::Newline;
    let start = tokens.iter().take_while(|t| is_newline(t)).count();
    let end = tokens.len() - tokens.iter().rev().take_while(|t| is_newline(t)).count();
    tokens.get(start..end).unwrap_or_default()
}

fn inside_quotes(source: &str) -> Option<&str> {
    source.strip_prefix('"')?.strip_suffix('"')
}

/// A label's text as it stands in quotes; `source` is how it was written.
fn escaped<'a>(source: &'a str, text: &str) -> Cow<'a, str> {
    let plain =
        |text: &str| text.bytes().all(|b| (0x20..0x7f).contains(&b) && !matches!(b, b'"' | b'\\' | b'$' | b'%'));
    let bare = inside_quotes(source).unwrap_or(source);
    if plain(bare) {
        return Cow::Borrowed(bare);
    }
    let mut out = String::with_capacity(text.len() + 8);
    // Escapes of one character may have become two that combine.
    write_escaped(text.nfc(), &mut out);
    Cow::Owned(out)
}
