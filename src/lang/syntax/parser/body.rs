//! Bodies: attributes and blocks, in a file or between braces.

use std::sync::Arc;

use base::source::Span;
use rustc_hash::FxHashMap;

use super::super::ast::{Attribute, Block, Expression, Ident, Label};
use super::super::body::{Body, NativeBody};
use super::super::token::{Token, TokenKind};
use super::Parser;

const ITEM_REQUIRED: &str = "Argument or block definition required";
const EQUALS_HINT: &str = "An argument or block definition is required here. To set an argument, use the equals sign \"=\" to introduce the argument value.";
const UNCLOSED: &str = "There is no closing brace for this block before the end of the file. This may be caused by incorrect brace nesting elsewhere in this file.";
const ONE_LINE: &str = "Invalid single-argument block definition";

/// What a body is made of while it is read.
#[derive(Default)]
struct Items {
    attributes: Vec<Attribute>,
    blocks: Vec<Block>,
    /// Names to indices, once there are too many to look through.
    index: FxHashMap<Arc<str>, usize>,
}

impl Items {
    fn find(&self, name: &Arc<str>) -> Option<&Attribute> {
        const FEW: usize = 16;
        if self.attributes.len() < FEW {
            return self.attributes.iter().find(|a| a.name.name == *name);
        }
        self.index.get(name).map(|i| &self.attributes[*i])
    }

    fn add(&mut self, attribute: Attribute) {
        self.index.insert(attribute.name.name.clone(), self.attributes.len());
        self.attributes.push(attribute);
    }
}

impl<'a> Parser<'a> {
    /// Items up to and with the token `end`.
    pub(super) fn body(&mut self, end: TokenKind) -> Body {
        let start = self.tokens.first().filter(|_| self.next == 0).map_or_else(|| self.previous(), |t| t.span());
        if !self.descend() {
            return self.make_body(Items::default(), start, start);
        }
        let mut items = Items::default();
        let last = loop {
            let next = self.peek();
            match next.kind {
                kind if kind == end => {
                    self.read();
                    break next.span();
                }
                TokenKind::Newline => {
                    self.read();
                }
                TokenKind::Ident => self.item(&mut items),
                _ => {
                    let bad = self.read();
                    if !self.recovery {
                        self.bad_item(bad, end, start);
                    }
                    let last = self.previous();
                    self.recover(end);
                    break last;
                }
            }
        };
        self.depth -= 1;
        self.make_body(items, start, last)
    }

    fn make_body(&self, items: Items, start: Span, last: Span) -> Body {
        Body::native(NativeBody {
            file: self.file.clone(),
            attributes: items.attributes,
            blocks: items.blocks,
            span: start.to(last),
            end: Span { start: last.end, end: last.end },
        })
    }

    #[cold]
    fn bad_item(&mut self, bad: Token, end: TokenKind, start: Span) {
        match bad.kind {
            TokenKind::OpenQuote => {
                self.error("Invalid argument name", "Argument names must not be quoted.", bad.span())
            }
            TokenKind::End if end == TokenKind::CloseBrace => {
                self.error("Unclosed configuration block", UNCLOSED, start)
            }
            _ => self.error(ITEM_REQUIRED, "An argument or block definition is required here.", bad.span()),
        }
    }

    /// An attribute or a block, from its name on.
    fn item(&mut self, items: &mut Items) {
        let token = self.read();
        match self.peek_kind() {
            TokenKind::Equal => {
                let attribute = self.attribute(token, false);
                match items.find(&attribute.name.name) {
                    None => items.add(attribute),
                    Some(existing) => {
                        let detail = format!(
                            "The argument {:?} was already set at {}. Each argument may be set only once.",
                            attribute.name.name,
                            existing.name_range()
                        );
                        self.error("Attribute redefined", detail, attribute.name.span);
                    }
                }
            }
            TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Ident => {
                let block = self.block(token);
                items.blocks.push(block);
            }
            _ => {
                self.recover_after_item();
                self.error(ITEM_REQUIRED, EQUALS_HINT, token.span());
            }
        }
    }

    fn attribute(&mut self, name: Token, single_line: bool) -> Attribute {
        let equals = self.read().span();
        let mark = self.diagnostics.len();
        let node = Arc::new(self.expression());
        let mut last = self.previous();
        if self.astray_since(mark) {
            self.recover_after_item();
        } else if !single_line {
            let end = self.peek();
            if !matches!(end.kind, TokenKind::Newline | TokenKind::End) {
                if !self.recovery {
                    self.missing_newline(name, end);
                }
                last = self.previous();
                self.recover_after_item();
            } else {
                self.read();
            }
        }
        let name = self.ident(name);
        let span = name.span.to(last);
        Attribute { name, expr: Expression { file: self.file.clone(), node }, equals, span }
    }

    #[cold]
    fn missing_newline(&mut self, name: Token, end: Token) {
        let detail = "An argument definition must end with a newline.";
        let context = name.span().to(end.span());
        if end.kind == TokenKind::Comma {
            let detail = format!("Argument definitions must be separated by newlines, not commas. {detail}");
            self.error_within("Unexpected comma after argument", detail, end.span(), context);
        } else {
            self.error_within("Missing newline after argument", detail, end.span(), context);
        }
    }

    fn block(&mut self, kind_token: Token) -> Block {
        let kind = self.ident(kind_token);
        let mut labels = Vec::new();
        let open = loop {
            let token = self.peek();
            match token.kind {
                TokenKind::OpenBrace => {
                    self.read();
                    break token.span();
                }
                TokenKind::OpenQuote => {
                    let (text, span) = self.quoted_literal();
                    labels.push(Label { text, span });
                }
                TokenKind::Ident => {
                    let ident = self.read();
                    let ident = self.ident(ident);
                    labels.push(Label { text: ident.name, span: ident.span });
                }
                _ => return self.broken_header(kind, labels, token),
            }
        };
        let body = match self.peek_kind() {
            TokenKind::Newline | TokenKind::End | TokenKind::CloseBrace => self.body(TokenKind::CloseBrace),
            _ => self.one_line_body(kind.span, open),
        };
        let close = self.previous();
        let end = self.peek();
        if matches!(end.kind, TokenKind::Newline | TokenKind::End) {
            self.read();
        } else {
            if !self.recovery {
                let context = kind.span.to(end.span());
                self.error_within(
                    "Missing newline after block definition",
                    "A block definition must end with a newline.",
                    end.span(),
                    context,
                );
            }
            self.recover_after_item();
        }
        Block { kind, labels, body, open, close }
    }

    #[cold]
    fn broken_header(&mut self, kind: Ident, labels: Vec<Label>, token: Token) -> Block {
        let detail = match token.kind {
            TokenKind::Equal => Some(
                "The equals sign \"=\" indicates an argument definition, and must not be used when defining a block.",
            ),
            TokenKind::Newline => Some(
                "A block definition must have block content delimited by \"{\" and \"}\", starting on the same line as the block header.",
            ),
            _ if self.recovery => None,
            _ => Some("Either a quoted string block label or an opening brace (\"{\") is expected here."),
        };
        if let Some(detail) = detail {
            let context = kind.span.to(token.span());
            self.error_within("Invalid block definition", detail, token.span(), context);
        }
        self.recover_after_item();
        let body = self.make_body(Items::default(), kind.span, kind.span);
        Block { labels, body, open: kind.span, close: kind.span, kind }
    }

    /// `kind { name = value }` on one line, from behind the brace on.
    fn one_line_body(&mut self, kind: Span, open: Span) -> Body {
        let attribute = self.one_line_attribute();
        let next = self.peek();
        match next.kind {
            TokenKind::CloseBrace => {
                self.read();
            }
            TokenKind::Comma => {
                self.error(ONE_LINE, "Single-line block syntax can include only one argument definition. To define multiple arguments, use the multi-line block syntax with one argument definition per line.", next.span());
                self.recover(TokenKind::CloseBrace);
            }
            TokenKind::Newline => {
                self.error(ONE_LINE, "An argument definition on the same line as its containing block creates a single-line block definition, which must also be closed on the same line. Place the block's closing brace immediately after the argument definition.", next.span());
                self.recover(TokenKind::CloseBrace);
            }
            _ => {
                if !self.recovery && next.kind == TokenKind::End {
                    self.error_within("Unclosed configuration block", UNCLOSED, open, kind.to(open));
                } else if !self.recovery {
                    self.error(ONE_LINE, "A single-line block definition must end with a closing brace immediately after its single argument definition.", next.span());
                }
                self.recover(TokenKind::CloseBrace);
            }
        }
        let mut items = Items::default();
        let (start, last) = match &attribute {
            Some(attribute) => (attribute.span, attribute.span),
            None => (open, self.previous()),
        };
        items.attributes.extend(attribute);
        self.make_body(items, start, last)
    }

    fn one_line_attribute(&mut self) -> Option<Attribute> {
        let name = self.read();
        if name.kind != TokenKind::Ident {
            self.recover_after_item();
            self.error(ITEM_REQUIRED, "An argument or block definition is required here.", name.span());
            return None;
        }
        let next = self.peek();
        match next.kind {
            TokenKind::Equal => return Some(self.attribute(name, true)),
            TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Ident => {
                self.recover_after_item();
                let detail = format!(
                    "A single-line block definition can contain only a single argument. If you meant to define argument {:?}, use an equals sign to assign it a value. To define a nested block, place it on a line of its own within its parent block.",
                    self.str(name)
                );
                self.error("Argument definition required", detail, name.span().to(next.span()));
            }
            _ => {
                self.recover_after_item();
                self.error(ITEM_REQUIRED, EQUALS_HINT, name.span());
            }
        }
        None
    }
}
