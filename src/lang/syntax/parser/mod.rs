//! Native syntax to tree. Every function returns a tree, complete or not, and every error it met.
//!
//! Recursive descent over the tokens of the whole file. After an error from which it cannot continue, the parser skips to a
//! token from which it can, and does not report errors that may be a consequence.
//! Owns the grammar and its messages. Never evaluates, and never fails.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::{Range, SourceFile, Span};
use rustc_hash::FxHasher;

use super::ast::{Expr, ExprKind, Expression, Ident, Traversal};
use super::body::Body;
use super::json::Offsets;
use super::lexer::{self, Start};
use super::token::{self, Token, TokenKind};
use crate::syntax::syntax_errors::{EXTRA_AFTER_EXPRESSION, TOO_DEEP};

mod body;
mod collection;
mod expression;
mod for_expression;
pub mod json;
mod json_scan;
mod json_string;
mod json_values;
mod shift;
mod string;
mod template;
mod traversal;

/// Levels of nesting that are accepted: walks over the tree recurse, and stacks are finite.
const MAX_DEPTH: usize = 500;

/// A whole configuration file.
pub fn parse_file(file: Arc<SourceFile>) -> (Body, Diagnostics) {
    parse_tokens(&file, &lexer::scan(file.text(), Start::Normal))
}

/// As [`parse_file`], of tokens that were scanned from the file already.
pub fn parse_tokens(file: &Arc<SourceFile>, tokens: &[Token]) -> (Body, Diagnostics) {
    let mut parser = Parser::new(file, tokens);
    let body = parser.body(TokenKind::End);
    (body, parser.diagnostics)
}

/// A file that holds one expression and nothing else; newlines in it mean nothing.
pub fn parse_expression(file: Arc<SourceFile>) -> (Expression, Diagnostics) {
    let tokens = lexer::scan(file.text(), Start::Normal);
    let mut parser = Parser::new(&file, &tokens);
    parser.newlines = false;
    let expr = parser.expression();
    let next = parser.peek();
    if next.kind != TokenKind::End && !parser.recovery {
        parser.error(
            EXTRA_AFTER_EXPRESSION,
            "An expression was successfully parsed, but extra characters were found after it.",
            next.span(),
        );
    }
    let diagnostics = parser.diagnostics;
    (Expression { file, node: Arc::new(expr) }, diagnostics)
}

/// A file that is a template, as `templatefile` reads it.
pub fn parse_template(file: Arc<SourceFile>) -> (Expression, Diagnostics) {
    let tokens = lexer::scan(file.text(), Start::Template);
    let mut parser = Parser::new(&file, &tokens);
    let expr = parser.bare_template();
    let diagnostics = parser.diagnostics;
    (Expression { file, node: Arc::new(expr) }, diagnostics)
}

/// A file that holds one traversal: `aws_instance.a[0].id`.
pub fn parse_traversal(file: Arc<SourceFile>) -> (Option<Traversal>, Diagnostics) {
    traversal::parse(&file, false)
}

/// The traversal that a part of a file holds.
pub fn parse_traversal_in(file: &Arc<SourceFile>, part: Span) -> (Option<Traversal>, Diagnostics) {
    traversal::parse_part(file, part, false)
}

/// A traversal that may hold `[*]`.
pub fn parse_traversal_pattern(file: Arc<SourceFile>) -> (Option<Traversal>, Diagnostics) {
    traversal::parse(&file, true)
}

/// Shared copies of short texts. A cache with one place per hash: a name comes back soon, or it does not matter.
struct Names {
    places: Vec<Option<Arc<str>>>,
}

impl Names {
    /// For a text of so many tokens.
    fn new(tokens: usize) -> Names {
        Names { places: vec![None; (tokens / 16).next_power_of_two().clamp(4, 1024)] }
    }

    fn share(&mut self, text: &str) -> Arc<str> {
        let mut hasher = FxHasher::default();
        text.hash(&mut hasher);
        let place = hasher.finish() as usize & (self.places.len() - 1);
        match &mut self.places[place] {
            Some(known) if **known == *text => known.clone(),
            place => place.insert(text.into()).clone(),
        }
    }
}

struct Parser<'a> {
    file: &'a Arc<SourceFile>,
    text: &'a str,
    tokens: &'a [Token],
    next: usize,
    /// False within brackets, where newlines are blanks.
    newlines: bool,
    /// Set for good by the first error after which tokens were skipped.
    recovery: bool,
    depth: usize,
    too_deep: bool,
    diagnostics: Diagnostics,
    names: Names,
    /// The file and the places in it, where the text is the content of a JSON string.
    within: Option<(&'a Arc<SourceFile>, &'a Offsets)>,
}

impl<'a> Parser<'a> {
    fn new(file: &'a Arc<SourceFile>, tokens: &'a [Token]) -> Parser<'a> {
        Parser {
            file,
            text: file.text(),
            tokens,
            next: 0,
            newlines: true,
            recovery: false,
            depth: 0,
            too_deep: false,
            diagnostics: token::check(file, tokens),
            names: Names::new(tokens.len()),
            within: None,
        }
    }

    /// Where a span is, for texts of messages.
    #[cold]
    fn place(&self, span: Span) -> Range {
        match self.within {
            Some((file, offsets)) => shift::span(span, &|offset| offsets.in_file(offset)).in_file(file),
            None => span.in_file(self.file),
        }
    }

    /// The next token that counts, and the index behind it.
    #[inline]
    fn look(&self) -> (Token, usize) {
        match self.tokens.get(self.next) {
            Some(token) if !matches!(token.kind, TokenKind::Comment | TokenKind::Newline) => (*token, self.next + 1),
            _ => self.look_behind_blanks(),
        }
    }

    /// As `look`, where comments and newlines come first. A line comment ends its line.
    #[inline(never)]
    fn look_behind_blanks(&self) -> (Token, usize) {
        for (i, token) in self.tokens[self.next..].iter().enumerate() {
            match token.kind {
                TokenKind::Comment => {
                    if self.newlines && self.bytes(*token).ends_with(b"\n") {
                        return (Token { kind: TokenKind::Newline, ..*token }, self.next + i + 1);
                    }
                }
                TokenKind::Newline if !self.newlines => {}
                _ => return (*token, self.next + i + 1),
            }
        }
        let end = Token { kind: TokenKind::End, start: self.text.len() as u32, end: self.text.len() as u32 };
        (self.tokens.last().copied().unwrap_or(end), self.tokens.len())
    }

    #[inline]
    fn peek(&self) -> Token {
        self.look().0
    }

    #[inline]
    fn peek_kind(&self) -> TokenKind {
        self.look().0.kind
    }

    #[inline]
    fn read(&mut self) -> Token {
        let (token, next) = self.look();
        self.next = next;
        token
    }

    /// The span of the token read last.
    fn previous(&self) -> Span {
        self.tokens.get(self.next.saturating_sub(1)).map_or(Span::default(), |t| t.span())
    }

    fn str(&self, token: Token) -> &'a str {
        self.text.get(token.start as usize..token.end as usize).unwrap_or("")
    }

    fn bytes(&self, token: Token) -> &'a [u8] {
        self.str(token).as_bytes()
    }

    /// True if the next token is this word.
    fn at_word(&self, word: &str) -> bool {
        let token = self.peek();
        token.kind == TokenKind::Ident && self.str(token) == word
    }

    /// A shared copy of a piece of the text.
    fn intern(&mut self, text: &str) -> Arc<str> {
        self.names.share(text)
    }

    fn ident(&mut self, token: Token) -> Ident {
        let text = self.str(token);
        Ident { name: self.intern(text), span: token.span() }
    }

    #[cold]
    fn error(&mut self, summary: impl Into<String>, detail: impl Into<String>, subject: Span) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(subject.in_file(self.file)));
    }

    #[cold]
    fn error_within(&mut self, summary: impl Into<String>, detail: impl Into<String>, subject: Span, context: Span) {
        let diagnostic = Diagnostic::error(summary, detail).at(subject.in_file(self.file));
        self.diagnostics.push(diagnostic.within(context.in_file(self.file)));
    }

    /// True if something since `mark` went wrong in a way that left the parser astray.
    fn astray_since(&self, mark: usize) -> bool {
        self.recovery && self.diagnostics.len() > mark
    }

    /// Skips to behind the `end` that closes what is open here.
    #[cold]
    fn recover(&mut self, end: TokenKind) -> Token {
        let start = end.opposite();
        self.recovery = true;
        let mut nested = 0;
        loop {
            let token = self.read();
            let kind = match token.kind {
                TokenKind::TemplateControl if end == TokenKind::TemplateEnd => TokenKind::TemplateInterp,
                kind => kind,
            };
            if Some(kind) == start {
                nested += 1;
            } else if kind == end && nested > 0 {
                nested -= 1;
            } else if kind == end || kind == TokenKind::End {
                return token;
            }
        }
    }

    /// Skips to behind the next pair of brackets that `start` opens.
    #[cold]
    fn recover_over(&mut self, start: TokenKind) {
        while !matches!(self.read().kind, kind if kind == start || kind == TokenKind::End) {}
        if let Some(end) = start.opposite() {
            self.recover(end);
        }
    }

    /// Skips to the line behind the current item of a body.
    #[cold]
    fn recover_after_item(&mut self) {
        use TokenKind::*;
        self.recovery = true;
        let mut open: Vec<TokenKind> = Vec::new();
        loop {
            let kind = self.read().kind;
            match kind {
                Newline if open.is_empty() => return,
                End => return,
                OpenBrace | OpenBracket | OpenParen | OpenQuote | OpenHeredoc | TemplateInterp | TemplateControl => {
                    open.push(kind)
                }
                CloseBrace | CloseBracket | CloseParen | CloseQuote | CloseHeredoc | TemplateEnd => {
                    while open.pop().is_some_and(|o| o.opposite() != Some(kind)) {}
                }
                _ => {}
            }
        }
    }

    /// A node of the tree, unless the tree grew too high.
    fn node(&mut self, span: Span, kind: ExprKind) -> Expr {
        let expr = Expr::new(span, kind);
        if expr.height() > 2 * MAX_DEPTH {
            self.complain_of_depth(span);
            return Expr::new(span, ExprKind::Error);
        }
        expr
    }

    /// Enters a level of nesting; false (and an error) at the limit.
    fn descend(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            let span = self.peek().span();
            self.complain_of_depth(span);
            return false;
        }
        self.depth += 1;
        true
    }

    #[cold]
    fn complain_of_depth(&mut self, span: Span) {
        self.recovery = true;
        // Everything behind is within or behind the offending construct: skip it, so that the time stays linear.
        self.next = self.tokens.len().saturating_sub(1);
        if !self.too_deep {
            self.too_deep = true;
            let detail = format!("Expressions and blocks may be nested {MAX_DEPTH} levels deep at most.");
            self.error(TOO_DEEP, detail, span);
        }
    }
}

#[cfg(test)]
mod tests;
