//! Lone traversals, as they stand in command line arguments and addresses.

use std::sync::Arc;

use base::diag::Diagnostics;
use base::source::{SourceFile, Span};

use super::super::ast::{IndexKey, Traversal, TraversalStep};
use super::super::lexer::{self, Start};
use super::super::token::{Token, TokenKind};
use super::Parser;

/// Without recovery: after an error there is no traversal.
pub(super) fn parse(file: &Arc<SourceFile>, splats: bool) -> (Option<Traversal>, Diagnostics) {
    parse_part(file, Span::new(0, file.text().len()), splats)
}

/// As `parse`, for a part of a file.
pub(super) fn parse_part(file: &Arc<SourceFile>, part: Span, splats: bool) -> (Option<Traversal>, Diagnostics) {
    let text = file.text().get(part.start as usize..part.end as usize).unwrap_or("");
    let mut tokens = lexer::scan(text, Start::Normal);
    for token in &mut tokens {
        token.start += part.start;
        token.end += part.start;
    }
    let mut parser = Parser::new(file, &tokens);
    parser.newlines = false;
    let traversal = parser.lone_traversal(splats);
    let diagnostics = parser.diagnostics;
    (traversal.filter(|_| !diagnostics.has_errors()), diagnostics)
}

impl<'a> Parser<'a> {
    fn lone_traversal(&mut self, splats: bool) -> Option<Traversal> {
        let token = self.read();
        if token.kind != TokenKind::Ident {
            self.error("Variable name required", "Must begin with a variable name.", token.span());
            return None;
        }
        let root = self.ident(token);
        let mut traversal = Traversal { span: root.span, root, steps: Vec::new() };
        loop {
            let next = self.read();
            let step = match next.kind {
                TokenKind::End => return Some(traversal),
                TokenKind::Dot => self.lone_attribute(token, next)?,
                TokenKind::OpenBracket => self.lone_index(token, next, splats)?,
                _ => {
                    let detail = "Expected an attribute access or an index operator.";
                    self.error_within("Invalid character", detail, next.span(), token.span().to(next.span()));
                    return None;
                }
            };
            traversal.span = traversal.span.to(step.span());
            traversal.steps.push(step);
        }
    }

    fn lone_attribute(&mut self, root: Token, dot: Token) -> Option<TraversalStep> {
        let token = self.read();
        if token.kind != TokenKind::Ident {
            let detail = match token.kind {
                TokenKind::Star => "Splat expressions (.*) may not be used here.",
                _ => "Dot must be followed by attribute name.",
            };
            self.error_within("Attribute name required", detail, token.span(), root.span().to(token.span()));
            return None;
        }
        let name = self.ident(token);
        Some(TraversalStep::Attr { span: dot.span().to(name.span), name })
    }

    fn lone_index(&mut self, root: Token, open: Token, splats: bool) -> Option<TraversalStep> {
        let next = self.peek();
        let key = match next.kind {
            TokenKind::Number => {
                self.read();
                let text = self.str(next);
                Some(IndexKey::Number(self.intern(text)))
            }
            TokenKind::OpenQuote => Some(IndexKey::String(self.quoted_literal().0)),
            TokenKind::Star if splats => {
                self.read();
                None
            }
            kind => {
                let (summary, detail) = match kind {
                    TokenKind::Star => ("Attribute name required", "Splat expressions ([*]) may not be used here."),
                    _ => (
                        "Index value required",
                        "Index brackets must contain either a literal number or a literal string.",
                    ),
                };
                self.error_within(summary, detail, next.span(), root.span().to(next.span()));
                return None;
            }
        };
        let close = self.read();
        let span = open.span().to(close.span());
        if close.kind != TokenKind::CloseBracket {
            self.error_within(
                "Unclosed index brackets",
                "Index key must be followed by a closing bracket.",
                close.span(),
                span,
            );
            return None;
        }
        Some(match key {
            Some(key) => TraversalStep::Index { key, span },
            None => TraversalStep::Splat { span },
        })
    }
}
