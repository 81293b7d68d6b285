//! Constructors of tuples and objects, from behind the opening bracket on.

use std::sync::Arc;

use base::source::Span;

use super::super::ast::{Expr, ExprKind, ObjectItem};
use super::super::token::{Token, TokenKind};
use super::Parser;

impl<'a> Parser<'a> {
    pub(super) fn tuple(&mut self, open: Span) -> Expr {
        let newlines = std::mem::replace(&mut self.newlines, false);
        let expr = if self.at_word("for") {
            self.for_expression(open, TokenKind::CloseBracket)
        } else {
            let (elements, close) = self.elements(open);
            self.node(open.to(close), ExprKind::Tuple { elements, open })
        };
        self.newlines = newlines;
        expr
    }

    fn elements(&mut self, open: Span) -> (Vec<Arc<Expr>>, Span) {
        let mut elements = Vec::new();
        loop {
            if self.peek_kind() == TokenKind::CloseBracket {
                return (elements, self.read().span());
            }
            let mark = self.diagnostics.len();
            elements.push(Arc::new(self.expression()));
            if self.astray_since(mark) {
                return (elements, self.recover(TokenKind::CloseBracket).span());
            }
            let next = self.peek();
            match next.kind {
                TokenKind::Comma => {
                    self.read();
                    continue;
                }
                TokenKind::CloseBracket => return (elements, self.read().span()),
                _ if self.recovery => {}
                TokenKind::End => {
                    let detail = "There is no corresponding closing bracket before the end of the file. This may be caused by incorrect bracket nesting elsewhere in this file.";
                    self.error("Unterminated tuple constructor expression", detail, open);
                }
                _ => {
                    let detail = "Expected a comma to mark the beginning of the next item.";
                    self.error_within("Missing item separator", detail, next.span(), open.to(next.span()));
                }
            }
            return (elements, self.recover(TokenKind::CloseBracket).span());
        }
    }

    pub(super) fn object(&mut self, open: Span) -> Expr {
        let newlines = std::mem::replace(&mut self.newlines, false);
        let expr = if self.at_word("for") {
            self.for_expression(open, TokenKind::CloseBrace)
        } else {
            self.newlines = true;
            let (items, close) = self.object_items(open);
            self.node(open.to(close), ExprKind::Object { items, open })
        };
        self.newlines = newlines;
        expr
    }

    fn object_items(&mut self, open: Span) -> (Vec<ObjectItem>, Span) {
        let mut items = Vec::new();
        loop {
            match self.peek_kind() {
                TokenKind::Newline => {
                    self.read();
                    continue;
                }
                TokenKind::CloseBrace => return (items, self.read().span()),
                _ => {}
            }
            let mark = self.diagnostics.len();
            let key = Arc::new(self.expression());
            if self.astray_since(mark) {
                break;
            }
            let next = self.peek();
            if !matches!(next.kind, TokenKind::Equal | TokenKind::Colon) {
                if !self.recovery {
                    self.no_object_value(open, next);
                }
                break;
            }
            self.read();
            let mark = self.diagnostics.len();
            let value = Arc::new(self.expression());
            if self.astray_since(mark) {
                break;
            }
            items.push(ObjectItem { key, value });
            let next = self.peek();
            match next.kind {
                TokenKind::CloseBrace => return (items, self.read().span()),
                TokenKind::Comma | TokenKind::Newline => {
                    self.read();
                    continue;
                }
                _ if self.recovery => {}
                TokenKind::End => self.unterminated_object(open),
                _ => {
                    let detail = "Expected a newline or comma to mark the beginning of the next attribute.";
                    self.error_within("Missing attribute separator", detail, next.span(), open.to(next.span()));
                }
            }
            break;
        }
        (items, self.recover(TokenKind::CloseBrace).span())
    }

    #[cold]
    fn unterminated_object(&mut self, open: Span) {
        let detail = "There is no corresponding closing brace before the end of the file. This may be caused by incorrect brace nesting elsewhere in this file.";
        self.error("Unterminated object constructor expression", detail, open);
    }

    #[cold]
    fn no_object_value(&mut self, open: Span, next: Token) {
        let (summary, detail) = match next.kind {
            TokenKind::End => return self.unterminated_object(open),
            TokenKind::Newline | TokenKind::Comma => {
                ("Missing attribute value", "Expected an attribute value, introduced by an equals sign (\"=\").")
            }
            TokenKind::Ident => (
                "Missing key/value separator",
                "Expected an equals sign (\"=\") to mark the beginning of the attribute value. If you intended to given an attribute name containing periods or spaces, write the name in quotes to create a string literal.",
            ),
            _ => (
                "Missing key/value separator",
                "Expected an equals sign (\"=\") to mark the beginning of the attribute value.",
            ),
        };
        self.error_within(summary, detail, next.span(), open.to(next.span()));
    }
}
