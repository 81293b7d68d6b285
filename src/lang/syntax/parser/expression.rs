//! Expressions: operators by precedence, terms, steps behind terms, constructors and calls.

use std::sync::Arc;

use base::source::Span;

use super::super::ast::{BinaryOp, Call, Expr, ExprKind, IndexKey, Traversal, TraversalStep, UnaryOp};
use super::super::token::{Token, TokenKind};
use super::Parser;
use crate::syntax::syntax_errors::INVALID_EXPRESSION;

const INVALID_NAME: &str = "Invalid attribute name";

impl<'a> Parser<'a> {
    /// A whole expression. On an error, what could be read of it.
    pub(super) fn expression(&mut self) -> Expr {
        if !self.descend() {
            return Expr::new(self.peek().span(), ExprKind::Error);
        }
        let expr = self.conditional();
        self.depth -= 1;
        expr
    }

    fn conditional(&mut self) -> Expr {
        let start = self.peek().span();
        let mark = self.diagnostics.len();
        let condition = self.binary(0);
        if self.astray_since(mark) || self.peek_kind() != TokenKind::Question {
            return condition;
        }
        self.read();
        let mark = self.diagnostics.len();
        let then = self.expression();
        if self.astray_since(mark) {
            return condition;
        }
        let colon = self.peek();
        if colon.kind != TokenKind::Colon {
            let detail = "The conditional operator (...?...:...) requires a false expression, delimited by a colon.";
            self.error_within("Missing false expression in conditional", detail, colon.span(), start.to(colon.span()));
            return condition;
        }
        self.read();
        let mark = self.diagnostics.len();
        let otherwise = self.expression();
        if self.astray_since(mark) {
            return condition;
        }
        let span = start.to(otherwise.span);
        let (condition, then, otherwise) = (Arc::new(condition), Arc::new(then), Arc::new(otherwise));
        self.node(span, ExprKind::Conditional { condition, then, otherwise })
    }

    /// Operators that bind at least as tightly as `level`; all of them associate to the left.
    fn binary(&mut self, level: u8) -> Expr {
        let mark = self.diagnostics.len();
        let mut left = self.term_with_steps();
        if self.astray_since(mark) {
            return left;
        }
        loop {
            let token = self.peek();
            let Some((op, strength)) = operator(token.kind) else { return left };
            if strength < level {
                return left;
            }
            self.read();
            let mark = self.diagnostics.len();
            let right = self.binary(strength + 1);
            if self.astray_since(mark) {
                return left;
            }
            let span = left.span.to(right.span);
            let kind = ExprKind::Binary { op, op_span: token.span(), left: Arc::new(left), right: Arc::new(right) };
            left = self.node(span, kind);
        }
    }

    fn term_with_steps(&mut self) -> Expr {
        let term = self.term();
        match self.peek_kind() {
            TokenKind::Dot | TokenKind::OpenBracket => self.steps(term),
            _ => term,
        }
    }

    /// Attribute access, indices and splats behind an expression.
    fn steps(&mut self, from: Expr) -> Expr {
        let start = from.span;
        let mut expr = from;
        loop {
            let next = self.peek();
            expr = match next.kind {
                TokenKind::Dot => {
                    self.read();
                    self.dot_step(expr, start, next.span())
                }
                TokenKind::OpenBracket => {
                    self.read();
                    self.bracket_step(expr, start, next.span())
                }
                _ => return expr,
            }
        }
    }

    fn dot_step(&mut self, expr: Expr, start: Span, dot: Span) -> Expr {
        let token = self.peek();
        match token.kind {
            TokenKind::Ident => {
                self.read();
                let name = self.ident(token);
                let span = dot.to(name.span);
                self.with_step(expr, TraversalStep::Attr { name, span })
            }
            TokenKind::Number => {
                self.read();
                let span = dot.to(token.span());
                match self.legacy_index(token, "Use the proper index syntax instead", token.span()) {
                    Some(key) => self.with_step(expr, TraversalStep::Index { key, span }),
                    None => Expr::new(start.to(span), ExprKind::Error),
                }
            }
            TokenKind::Star => {
                self.read();
                self.attribute_splat(expr, start, dot.to(token.span()), token.span())
            }
            _ => {
                self.error(INVALID_NAME, "An attribute name is required after a dot.", token.span());
                self.recovery = true;
                Expr::new(start.to(dot), ExprKind::Error)
            }
        }
    }

    /// The key of `.0`; two of them in a row look like a fraction.
    fn legacy_index(&mut self, token: Token, advice: &str, subject: Span) -> Option<IndexKey> {
        let text = self.str(token);
        if let Some((first, second)) = text.split_once('.') {
            let detail = format!(
                "When using the legacy index syntax, chaining two indexes together is not permitted. {advice}, like [{first}][{second}]."
            );
            self.error("Invalid legacy index syntax", detail, subject);
            return None;
        }
        self.check_number(token);
        Some(IndexKey::Number(self.intern(text)))
    }

    /// `.*` and the attributes behind it.
    fn attribute_splat(&mut self, source: Expr, start: Span, marker: Span, star: Span) -> Expr {
        let first = self.peek().span();
        let mut last = star;
        let mut steps = Vec::new();
        while self.peek_kind() == TokenKind::Dot {
            let dot = self.read().span();
            let token = self.peek();
            match token.kind {
                TokenKind::Ident => {
                    self.read();
                    let name = self.ident(token);
                    steps.push(TraversalStep::Attr { span: dot.to(name.span), name });
                }
                TokenKind::Number => {
                    self.read();
                    let advice = "Use the proper index syntax with a full splat expression [*] instead";
                    let span = dot.to(token.span());
                    steps.extend(self.legacy_index(token, advice, star).map(|key| TraversalStep::Index { key, span }));
                }
                kind => {
                    if !self.recovery && kind == TokenKind::Star {
                        let detail =
                            "A splat expression (*) cannot be used inside another attribute-only splat expression.";
                        self.error("Nested splat expression not allowed", detail, token.span());
                    } else if !self.recovery {
                        self.error(INVALID_NAME, "An attribute name is required after a dot.", star);
                    }
                    self.recovery = true;
                    return source;
                }
            }
            last = token.span();
        }
        let item = Expr::new(marker, ExprKind::SplatItem);
        let each = match steps.is_empty() {
            true => item,
            false => Expr::new(first.to(last), ExprKind::RelativeTraversal { source: Arc::new(item), steps }),
        };
        let kind = ExprKind::Splat { source: Arc::new(source), each: Arc::new(each), full: false, marker };
        self.node(start.to(last), kind)
    }

    fn bracket_step(&mut self, expr: Expr, start: Span, open: Span) -> Expr {
        if self.peek_kind() == TokenKind::Star {
            return self.full_splat(expr, start, open);
        }
        let newlines = std::mem::replace(&mut self.newlines, false);
        let mark = self.diagnostics.len();
        let key = self.expression();
        let close = if self.astray_since(mark) {
            self.recover(TokenKind::CloseBracket)
        } else {
            let close = self.read();
            if close.kind != TokenKind::CloseBracket && !self.recovery {
                // As the reference has it, the message points to where the parser goes on.
                let close = self.recover(TokenKind::CloseBracket);
                let detail = "The index operator must end with a closing bracket (\"]\").";
                self.error("Missing close bracket on index", detail, close.span());
                close
            } else {
                close
            }
        };
        self.newlines = newlines;
        let brackets = open.to(close.span());
        let literal = match &key.kind {
            ExprKind::Number(text) => Some(IndexKey::Number(text.clone())),
            ExprKind::Template(t) => t.as_literal().map(IndexKey::String),
            _ => None,
        };
        match literal {
            Some(key) => self.with_step(expr, TraversalStep::Index { key, span: brackets }),
            None => {
                let kind = ExprKind::Index { collection: Arc::new(expr), key: Arc::new(key), brackets };
                self.node(start.to(brackets), kind)
            }
        }
    }

    /// `[*]` and everything behind it.
    fn full_splat(&mut self, source: Expr, start: Span, open: Span) -> Expr {
        self.read();
        let mut close = self.read();
        if close.kind != TokenKind::CloseBracket && !self.recovery {
            let detail =
                "The star for a full splat operator must be immediately followed by a closing bracket (\"]\").";
            close = self.recover(TokenKind::CloseBracket);
            self.error("Missing close bracket on splat index", detail, close.span());
        }
        let marker = open.to(close.span());
        let item = Expr::new(marker, ExprKind::SplatItem);
        if !self.descend() {
            return source;
        }
        let each = self.steps(item);
        self.depth -= 1;
        let span = start.to(each.span);
        let kind = ExprKind::Splat { source: Arc::new(source), each: Arc::new(each), full: true, marker };
        self.node(span, kind)
    }

    /// The expression with one more step; traversals grow in place.
    fn with_step(&mut self, mut expr: Expr, step: TraversalStep) -> Expr {
        let span = expr.span.to(step.span());
        match &mut expr.kind {
            ExprKind::Variable(traversal) => {
                traversal.steps.push(step);
                traversal.span = span;
            }
            ExprKind::RelativeTraversal { steps, .. } => steps.push(step),
            _ => return self.node(span, ExprKind::RelativeTraversal { source: Arc::new(expr), steps: vec![step] }),
        }
        expr.span = span;
        expr
    }

    fn term(&mut self) -> Expr {
        let token = self.peek();
        match token.kind {
            TokenKind::Number => {
                self.read();
                self.check_number(token);
                let text = self.str(token);
                Expr::new(token.span(), ExprKind::Number(self.intern(text)))
            }
            TokenKind::Ident => {
                self.read();
                self.name(token)
            }
            TokenKind::OpenQuote | TokenKind::OpenHeredoc => {
                self.read();
                self.quoted_template(token)
            }
            TokenKind::OpenParen => {
                self.read();
                self.parens(token.span())
            }
            TokenKind::Minus | TokenKind::Bang => {
                self.read();
                let op = if token.kind == TokenKind::Minus { UnaryOp::Negate } else { UnaryOp::Not };
                self.unary(op, token.span())
            }
            TokenKind::OpenBracket => {
                self.read();
                self.tuple(token.span())
            }
            TokenKind::OpenBrace => {
                self.read();
                self.object(token.span())
            }
            _ => self.no_term(token),
        }
    }

    #[cold]
    fn no_term(&mut self, token: Token) -> Expr {
        if !self.recovery && token.kind == TokenKind::End {
            let detail = "Expected the start of an expression, but found the end of the file.";
            self.error("Missing expression", detail, token.span());
        } else if !self.recovery {
            let detail = "Expected the start of an expression, but found an invalid expression token.";
            self.error(INVALID_EXPRESSION, detail, token.span());
        }
        self.recovery = true;
        Expr::new(token.span(), ExprKind::Error)
    }

    /// A variable, a literal word or a call.
    fn name(&mut self, token: Token) -> Expr {
        if matches!(self.peek_kind(), TokenKind::OpenParen | TokenKind::DoubleColon) {
            return self.call(token);
        }
        let kind = match self.str(token) {
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "null" => ExprKind::Null,
            _ => ExprKind::Variable(Traversal { root: self.ident(token), steps: Vec::new(), span: token.span() }),
        };
        Expr::new(token.span(), kind)
    }

    fn unary(&mut self, op: UnaryOp, op_span: Span) -> Expr {
        if !self.descend() {
            return Expr::new(op_span, ExprKind::Error);
        }
        let operand = self.term_with_steps();
        self.depth -= 1;
        let span = op_span.to(operand.span);
        self.node(span, ExprKind::Unary { op, op_span, operand: Arc::new(operand) })
    }

    fn parens(&mut self, open: Span) -> Expr {
        let newlines = std::mem::replace(&mut self.newlines, false);
        let mark = self.diagnostics.len();
        let inner = self.expression();
        if self.diagnostics.len() > mark {
            self.recover(TokenKind::CloseParen);
            self.newlines = newlines;
            return inner;
        }
        let close = self.peek();
        if close.kind != TokenKind::CloseParen {
            let detail = "Expected a closing parenthesis to terminate the expression.";
            self.error_within("Unbalanced parentheses", detail, close.span(), open.to(close.span()));
            self.recovery = true;
        }
        let close = self.read();
        self.newlines = newlines;
        self.node(open.to(close.span()), ExprKind::Parens(Arc::new(inner)))
    }

    fn check_number(&mut self, token: Token) {
        if !is_number(self.bytes(token)) {
            let detail = "Failed to recognize the value of this number literal.";
            self.error("Invalid number literal", detail, token.span());
        }
    }

    fn call(&mut self, first: Token) -> Expr {
        let mut open = self.read();
        let mut last = first;
        while open.kind == TokenKind::DoubleColon {
            last = self.read();
            if last.kind != TokenKind::Ident {
                let detail = "Function scope resolution symbol :: must be followed by a function name in this scope.";
                return self.broken_call("Missing function name", detail, first, last);
            }
            open = self.read();
        }
        if open.kind != TokenKind::OpenParen {
            let detail = "Function selector must be followed by an open parenthesis to begin the function call.";
            return self.broken_call("Missing open parenthesis", detail, first, open);
        }
        let name_span = first.span().to(last.span());
        let name = self.function_name(first, last);
        let newlines = std::mem::replace(&mut self.newlines, false);
        let (args, expand_final, close) = self.arguments(first, open);
        self.newlines = newlines;
        let (open, close) = (open.span(), close.span());
        let call = Call { name, name_span, args, expand_final, open, close };
        self.node(name_span.to(close), ExprKind::Call(Box::new(call)))
    }

    /// The name with its namespaces, without blanks.
    fn function_name(&mut self, first: Token, last: Token) -> Arc<str> {
        let text = &self.text[first.start as usize..last.end as usize];
        match text.contains([' ', '\t', '\n', '#', '/']) {
            false => self.intern(text),
            true => {
                let tokens = self.tokens.iter().skip_while(|t| t.start < first.start).take_while(|t| t.end <= last.end);
                let parts = tokens.filter(|t| matches!(t.kind, TokenKind::Ident | TokenKind::DoubleColon));
                parts.map(|t| self.str(*t)).collect::<String>().into()
            }
        }
    }

    #[cold]
    fn broken_call(&mut self, summary: &str, detail: &str, name: Token, at: Token) -> Expr {
        let span = name.span().to(at.span());
        self.error_within(summary, detail, at.span(), span);
        self.recover_over(TokenKind::OpenParen);
        Expr::new(span, ExprKind::Error)
    }

    /// Arguments up to and with the closing parenthesis, which is returned.
    fn arguments(&mut self, name: Token, open: Token) -> (Vec<Arc<Expr>>, bool, Token) {
        let mut args = Vec::new();
        loop {
            if self.peek_kind() == TokenKind::CloseParen {
                return (args, false, self.read());
            }
            let mark = self.diagnostics.len();
            args.push(Arc::new(self.expression()));
            if self.astray_since(mark) {
                return (args, false, self.recover(TokenKind::CloseParen));
            }
            let separator = self.read();
            match separator.kind {
                TokenKind::Comma => {}
                TokenKind::CloseParen => return (args, false, separator),
                TokenKind::Ellipsis => {
                    if self.peek_kind() == TokenKind::CloseParen {
                        return (args, true, self.read());
                    }
                    if !self.recovery {
                        let detail = "An expanded function argument (with ...) must be immediately followed by closing parentheses.";
                        let context = name.span().to(separator.span());
                        self.error_within("Missing closing parenthesis", detail, separator.span(), context);
                    }
                    return (args, true, self.recover(TokenKind::CloseParen));
                }
                TokenKind::End => {
                    let detail = "There is no closing parenthesis for this function call before the end of the file. This may be caused by incorrect parenthesis nesting elsewhere in this file.";
                    self.error("Unterminated function call", detail, name.span().to(open.span()));
                    return (args, false, self.recover(TokenKind::CloseParen));
                }
                _ => {
                    let detail = "A comma is required to separate each function argument from the next.";
                    let context = name.span().to(separator.span());
                    self.error_within("Missing argument separator", detail, separator.span(), context);
                    return (args, false, self.recover(TokenKind::CloseParen));
                }
            }
        }
    }
}

/// The operator of a token and how tightly it binds.
fn operator(kind: TokenKind) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        TokenKind::Or => (BinaryOp::Or, 1),
        TokenKind::And => (BinaryOp::And, 2),
        TokenKind::EqualOp => (BinaryOp::Equal, 3),
        TokenKind::NotEqual => (BinaryOp::NotEqual, 3),
        TokenKind::Greater => (BinaryOp::Greater, 4),
        TokenKind::GreaterEqual => (BinaryOp::GreaterEqual, 4),
        TokenKind::Less => (BinaryOp::Less, 4),
        TokenKind::LessEqual => (BinaryOp::LessEqual, 4),
        TokenKind::Plus => (BinaryOp::Add, 5),
        TokenKind::Minus => (BinaryOp::Subtract, 5),
        TokenKind::Star => (BinaryOp::Multiply, 6),
        TokenKind::Slash => (BinaryOp::Divide, 6),
        TokenKind::Percent => (BinaryOp::Modulo, 6),
        _ => return None,
    })
}

/// Digits, at most one dot, at most one exponent.
fn is_number(text: &[u8]) -> bool {
    let digits = |from: usize| text[from..].iter().take_while(|b| b.is_ascii_digit()).count() + from;
    let mut at = digits(0);
    if text.get(at) == Some(&b'.') {
        at = digits(at + 1);
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1;
        let exponent = at;
        if matches!(text.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        at = digits(at);
        if !is_exponent(&text[exponent..at]) {
            return false;
        }
    }
    at == text.len()
}

/// As large as the reference's numbers take it.
fn is_exponent(text: &[u8]) -> bool {
    std::str::from_utf8(text).ok().and_then(|text| text.parse::<i32>().ok()).is_some()
}
