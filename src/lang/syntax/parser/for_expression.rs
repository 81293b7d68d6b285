//! `for` expressions, from behind the opening bracket on.

use std::sync::Arc;

use base::source::Span;

use super::super::ast::{Expr, ExprKind, ForExpr, Ident};
use super::super::token::TokenKind;
use super::Parser;

const INVALID: &str = "Invalid 'for' expression";

/// `for k, v in xs :`
struct Head {
    key_var: Option<Ident>,
    value_var: Ident,
    collection: Expr,
}

impl<'a> Parser<'a> {
    /// The caller restores the meaning of newlines, which is none in here.
    pub(super) fn for_expression(&mut self, open: Span, close: TokenKind) -> Expr {
        self.newlines = false;
        self.read();
        match self.for_head(open).and_then(|head| self.for_result(head, open, close)) {
            Some(expr) => expr,
            None => {
                let last = self.recover(close).span();
                Expr::new(open.to(last), ExprKind::Error)
            }
        }
    }

    /// Reports what is wrong with the next token, unless that may be a consequence of an earlier error.
    #[cold]
    fn bad_for(&mut self, open: Span, detail: &str) {
        if !self.recovery {
            let next = self.peek().span();
            self.error_within(INVALID, detail, next, open.to(next));
        }
    }

    fn for_head(&mut self, open: Span) -> Option<Head> {
        let (key_var, value_var) = self.for_names(open)?;
        if !self.at_word("in") {
            self.bad_for(open, "For expression requires the 'in' keyword after its name declarations.");
            return None;
        }
        self.read();
        let mark = self.diagnostics.len();
        let collection = self.expression();
        if self.astray_since(mark) {
            return None;
        }
        if self.peek_kind() != TokenKind::Colon {
            self.bad_for(open, "For expression requires a colon after the collection expression.");
            return None;
        }
        self.read();
        Some(Head { key_var, value_var, collection })
    }

    fn for_names(&mut self, open: Span) -> Option<(Option<Ident>, Ident)> {
        if self.peek_kind() != TokenKind::Ident {
            self.bad_for(open, "For expression requires variable name after 'for'.");
            return None;
        }
        let token = self.read();
        let first = self.ident(token);
        if self.peek_kind() != TokenKind::Comma {
            return Some((None, first));
        }
        self.read();
        if self.peek_kind() != TokenKind::Ident {
            self.bad_for(open, "For expression requires value variable name after comma.");
            return None;
        }
        let token = self.read();
        Some((Some(first), self.ident(token)))
    }

    fn for_result(&mut self, head: Head, open: Span, close_kind: TokenKind) -> Option<Expr> {
        let mark = self.diagnostics.len();
        let mut value = self.expression();
        let mut key = None;
        if self.peek_kind() == TokenKind::FatArrow {
            self.read();
            key = Some(std::mem::replace(&mut value, self.expression()));
        }
        if self.astray_since(mark) {
            return None;
        }
        let grouping = (self.peek_kind() == TokenKind::Ellipsis).then(|| self.read().span());
        let mut condition = None;
        if self.at_word("if") {
            self.read();
            let mark = self.diagnostics.len();
            condition = Some(Arc::new(self.expression()));
            if self.astray_since(mark) {
                return None;
            }
        }
        let close = if self.peek_kind() == close_kind {
            self.read().span()
        } else {
            self.bad_for(open, "Extra characters after the end of the 'for' expression.");
            self.recover(close_kind).span()
        };
        let span = open.to(close);
        self.check_for(close_kind == TokenKind::CloseBrace, key.as_ref().map(|k| k.span), value.span, grouping, span);
        let Head { key_var, value_var, collection } = head;
        let result = ForExpr {
            key_var,
            value_var,
            collection: Arc::new(collection),
            key: key.map(Arc::new),
            value: Arc::new(value),
            condition,
            grouping: grouping.is_some(),
            open,
            close,
        };
        Some(self.node(span, ExprKind::For(Box::new(result))))
    }

    fn check_for(&mut self, object: bool, key: Option<Span>, value: Span, grouping: Option<Span>, span: Span) {
        match (object, key) {
            (true, None) => {
                self.error_within(INVALID, "Key expression is required when building an object.", value, span)
            }
            (false, Some(key)) => {
                self.error_within(INVALID, "Key expression is not valid when building a tuple.", key, span)
            }
            _ => {}
        }
        if let (false, Some(grouping)) = (object, grouping) {
            self.error_within(INVALID, "Grouping ellipsis (...) cannot be used when building a tuple.", grouping, span);
        }
    }
}
