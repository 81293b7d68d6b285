//! JSON syntax to tree: tolerant, with a message for each common error. Comes back with the errors and a tree in
//! which what could not be read is marked.
//!
//! Also reads what strings hold: templates, references and calls in native syntax, with their places in the file.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::{SourceFile, Span};
use base::suggest;

use super::super::ast::{Expr, ExprKind, Traversal};
use super::super::body::Body;
use super::super::json::{Member, Node, NodeKind, Object, Text};
use super::super::lexer::{self, Start};
use super::json_scan::{self, JsonToken, Kind};
use super::{Parser, json_string, shift, traversal as native_traversal};
use crate::syntax::syntax_errors::{EXTRA_AFTER_EXPRESSION, TOO_DEEP};

/// Levels of nesting that are accepted: walks over the tree recurse, and stacks are finite.
const MAX_DEPTH: usize = 500;

const START: &str = "A JSON value must start with a brace, a bracket, a number, a string, or a keyword.";

/// A configuration or values file in JSON syntax.
pub fn parse_file(file: Arc<SourceFile>) -> (Body, Diagnostics) {
    let (root, mut diagnostics) = parse_tree(&file);
    if matches!(root.kind, NodeKind::Object(_) | NodeKind::Array { .. }) {
        return (Body::json(file, Arc::new(root)), diagnostics);
    }
    let detail =
        "The root value in a JSON-based configuration must be either a JSON object or a JSON array of objects.";
    let subject = root.start_span().in_file(&file);
    diagnostics.push(Diagnostic::error("Root value must be object", detail).at(subject));
    let empty = Object { members: Vec::new(), open: Span::default(), close: Span::default() };
    let root = Node { span: Span::default(), kind: NodeKind::Object(empty) };
    (Body::json(file, Arc::new(root)), diagnostics)
}

/// The value of a file, of any type.
pub fn parse_tree(file: &Arc<SourceFile>) -> (Node, Diagnostics) {
    let tokens = json_scan::scan(file.text());
    let mut reader =
        Reader { file, tokens: &tokens, next: 0, depth: 0, too_deep: false, diagnostics: Diagnostics::new() };
    let root = reader.value();
    let next = reader.peek();
    if reader.diagnostics.is_empty() && next.kind != Kind::End {
        reader.error("Extraneous data after value", "Extra characters appear after the JSON value.", next.span);
    }
    (root, reader.diagnostics)
}

struct Reader<'a> {
    file: &'a Arc<SourceFile>,
    /// Never empty: the last is [`Kind::End`].
    tokens: &'a [JsonToken],
    next: usize,
    depth: usize,
    too_deep: bool,
    diagnostics: Diagnostics,
}

impl Reader<'_> {
    fn peek(&self) -> JsonToken {
        let last = JsonToken { kind: Kind::End, span: Span::default() };
        self.tokens.get(self.next).or(self.tokens.last()).copied().unwrap_or(last)
    }

    fn read(&mut self) -> JsonToken {
        let token = self.peek();
        self.next = (self.next + 1).min(self.tokens.len());
        token
    }

    fn text(&self, token: JsonToken) -> &str {
        self.file.text().get(token.span.start as usize..token.span.end as usize).unwrap_or("")
    }

    #[cold]
    fn error(&mut self, summary: &str, detail: impl Into<String>, subject: Span) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(subject.in_file(self.file)));
    }

    /// An error within a bracket: the value that it opened is lost.
    #[cold]
    fn fail(&mut self, summary: &str, detail: &str, subject: Span) -> Option<(Span, NodeKind)> {
        self.error(summary, detail, subject);
        None
    }

    fn value(&mut self) -> Node {
        let token = self.peek();
        let found = match token.kind {
            Kind::OpenBrace | Kind::OpenBracket if self.depth >= MAX_DEPTH => self.complain_of_depth(token.span),
            Kind::OpenBrace | Kind::OpenBracket => {
                self.depth += 1;
                let found = if token.kind == Kind::OpenBrace { self.object() } else { self.array() };
                self.depth -= 1;
                found
            }
            Kind::Number => self.number(),
            Kind::String => self.string().map(|(span, text)| (span, NodeKind::String(text))),
            Kind::Keyword => self.keyword(),
            Kind::CloseBrace => self.fail("Missing JSON value", START, token.span),
            Kind::CloseBracket => self.fail("Missing array element value", START, token.span),
            Kind::End => self.fail("Missing value", "The JSON data ends prematurely.", token.span),
            _ => self.fail("Invalid start of value", START, token.span),
        };
        match found {
            Some((span, kind)) => Node { span, kind },
            None => Node { span: token.span, kind: NodeKind::Invalid },
        }
    }

    #[cold]
    fn complain_of_depth(&mut self, span: Span) -> Option<(Span, NodeKind)> {
        // Everything behind is within or behind the offending value: skip it, so that the time stays linear.
        self.next = self.tokens.len().saturating_sub(1);
        if !self.too_deep {
            self.too_deep = true;
            let detail = format!("Values may be nested {MAX_DEPTH} levels deep at most.");
            self.error(TOO_DEEP, detail, span);
        }
        None
    }

    /// Skips to what seems to be the end of an object or array, so that reading can go on behind it.
    #[cold]
    fn recover(&mut self, first: JsonToken, opening: Kind, closing: Kind) {
        let mut nested = 1;
        let mut token = first;
        loop {
            if token.kind == opening {
                nested += 1;
            } else if token.kind == closing {
                nested -= 1;
                if nested <= 1 {
                    return;
                }
            } else if token.kind == Kind::End {
                return;
            }
            token = self.read();
        }
    }

    fn object(&mut self) -> Option<(Span, NodeKind)> {
        let open = self.read().span;
        let mut members = Vec::new();
        while self.peek().kind != Kind::CloseBrace {
            let key = self.value();
            let NodeKind::String(name) = key.kind else {
                return self.bad_name(&key);
            };
            let colon = self.read();
            if colon.kind != Kind::Colon {
                return self.missing_colon(colon);
            }
            let value = self.value();
            members.push(Arc::new(Member::new(name, key.span, Arc::new(value))));
            match self.peek().kind {
                Kind::Comma => {
                    let comma = self.read().span;
                    if self.peek().kind == Kind::CloseBrace {
                        let detail = "JSON does not permit a trailing comma after the final property in an object.";
                        return self.fail("Trailing comma in object", detail, comma);
                    }
                }
                Kind::CloseBrace => break,
                _ => return self.unfinished_object(open),
            }
        }
        let close = self.read().span;
        Some((open.to(close), NodeKind::Object(Object { members, open, close })))
    }

    #[cold]
    fn bad_name(&mut self, key: &Node) -> Option<(Span, NodeKind)> {
        // What stopped all reading needs no word about names.
        match self.too_deep {
            true => None,
            false => {
                let detail = "A JSON object property name must be a string";
                self.fail("Invalid object property name", detail, key.start_span())
            }
        }
    }

    #[cold]
    fn missing_colon(&mut self, found: JsonToken) -> Option<(Span, NodeKind)> {
        self.recover(found, Kind::OpenBrace, Kind::CloseBrace);
        let (summary, detail) = match found.kind {
            Kind::CloseBrace | Kind::Comma => {
                ("Missing object value", "A JSON object attribute must have a value, introduced by a colon.")
            }
            Kind::Equals => {
                ("Missing property value colon", "JSON uses a colon as its name/value delimiter, not an equals sign.")
            }
            _ => {
                ("Missing property value colon", "A colon must appear between an object property's name and its value.")
            }
        };
        self.fail(summary, detail, found.span)
    }

    #[cold]
    fn unfinished_object(&mut self, open: Span) -> Option<(Span, NodeKind)> {
        if self.too_deep {
            return None;
        }
        match self.peek().kind {
            Kind::End => self.fail("Unclosed object", "No closing brace was found for this JSON object.", open),
            Kind::CloseBracket => {
                self.read();
                let subject = self.peek().span;
                self.fail("Mismatched braces", "A JSON object must be closed with a brace, not a bracket.", subject)
            }
            _ => {
                let first = self.read();
                self.recover(first, Kind::OpenBrace, Kind::CloseBrace);
                let subject = self.peek().span;
                let detail = "A comma must appear between each property definition in an object.";
                self.fail("Missing attribute seperator comma", detail, subject)
            }
        }
    }

    fn array(&mut self) -> Option<(Span, NodeKind)> {
        let open = self.read().span;
        let mut items = Vec::new();
        while self.peek().kind != Kind::CloseBracket {
            items.push(Arc::new(self.value()));
            match self.peek().kind {
                Kind::Comma => {
                    let comma = self.read().span;
                    if self.peek().kind == Kind::CloseBracket {
                        let detail = "JSON does not permit a trailing comma after the final value in an array.";
                        return self.fail("Trailing comma in array", detail, comma);
                    }
                }
                Kind::CloseBracket => break,
                _ => return self.unfinished_array(open),
            }
        }
        let close = self.read().span;
        Some((open.to(close), NodeKind::Array { items, open }))
    }

    #[cold]
    fn unfinished_array(&mut self, open: Span) -> Option<(Span, NodeKind)> {
        if self.too_deep {
            return None;
        }
        let first = self.read();
        self.recover(first, Kind::OpenBracket, Kind::CloseBracket);
        let next = self.peek().span;
        match first.kind {
            Kind::Colon => {
                self.fail("Invalid array value", "A colon is not used to introduce values in a JSON array.", next)
            }
            Kind::End => self.fail("Unclosed object", "No closing bracket was found for this JSON array.", open),
            Kind::CloseBrace => {
                self.fail("Mismatched brackets", "A JSON array must be closed with a bracket, not a brace.", next)
            }
            _ => self.fail(
                "Missing attribute seperator comma",
                "A comma must appear between each value in an array.",
                next,
            ),
        }
    }

    fn number(&mut self) -> Option<(Span, NodeKind)> {
        let token = self.read();
        let text = self.text(token);
        if !json_scan::is_number(text) {
            let detail = "There is a syntax error in the given JSON number.";
            return self.fail("Invalid JSON number", detail, token.span);
        }
        Some((token.span, NodeKind::Number(text.into())))
    }

    fn string(&mut self) -> Option<(Span, Text)> {
        let token = self.read();
        match json_string::decode(self.text(token), token.span.start) {
            Ok(text) => Some((token.span, text)),
            Err(behind) => {
                let text = self.file.text();
                let start = text.ceil_char_boundary((token.span.start + behind) as usize);
                let subject = Span::new(start, text.ceil_char_boundary((start + 1).min(text.len()))).in_file(self.file);
                let detail = "There is a syntax error in the given JSON string.";
                let problem = Diagnostic::error("Invalid JSON string", detail).at(subject);
                self.diagnostics.push(problem.within(token.span.in_file(self.file)));
                None
            }
        }
    }

    fn keyword(&mut self) -> Option<(Span, NodeKind)> {
        let token = self.read();
        let kind = match self.text(token) {
            "true" => NodeKind::Bool(true),
            "false" => NodeKind::Bool(false),
            "null" => NodeKind::Null,
            word => {
                let detail = match word {
                    "undefined" | "NaN" | "Infinity" => {
                        format!("The JavaScript identifier {word:?} cannot be used in JSON.")
                    }
                    _ => {
                        let hint = suggest::name(word, ["false", "true", "null"]);
                        let hint = hint.map(|other| format!(" Did you mean {other:?}?")).unwrap_or_default();
                        format!("{word:?} is not a valid JSON keyword.{hint}")
                    }
                };
                self.error("Invalid JSON keyword", detail, token.span);
                return None;
            }
        };
        Some((token.span, kind))
    }
}

/// The template that a string holds.
pub fn template(text: &Text, file: &Arc<SourceFile>) -> (Arc<Expr>, Diagnostics) {
    embedded(text, file, Start::Template, |offset| text.offsets.in_file(offset), |parser| parser.bare_template())
}

/// The expression in native syntax that a string holds. Its places are one character further left, from the quote on, as
/// in the reference.
pub fn native(text: &Text, file: &Arc<SourceFile>) -> (Arc<Expr>, Diagnostics) {
    embedded(
        text,
        file,
        Start::Normal,
        |offset| one_before(text, offset),
        |parser| {
            parser.newlines = false;
            let expr = parser.expression();
            let next = parser.peek();
            if next.kind != super::TokenKind::End && !parser.recovery {
                parser.error(
                    EXTRA_AFTER_EXPRESSION,
                    "An expression was successfully parsed, but extra characters were found after it.",
                    next.span(),
                );
            }
            expr
        },
    )
}

/// The reference that a string holds; none if it is anything else. Its places are as those of [`native`].
pub fn traversal(text: &Text, file: &Arc<SourceFile>) -> Option<Traversal> {
    let inner = SourceFile::written_in(file.dialect(), file.name(), &*text.text);
    let mut found = native_traversal::parse(&inner, false).0?;
    shift::traversal(&mut found, &|offset| one_before(text, offset));
    Some(found)
}

/// Where in the file the character before an offset is; that before the first is the quote.
fn one_before(text: &Text, offset: u32) -> u32 {
    match text.text.get(..offset as usize).and_then(|before| before.chars().next_back()) {
        Some(last) => text.offsets.in_file(offset - last.len_utf8() as u32),
        None => text.offsets.start.saturating_sub(1),
    }
}

fn embedded(
    text: &Text,
    file: &Arc<SourceFile>,
    start: Start,
    place: impl Fn(u32) -> u32,
    parse: impl FnOnce(&mut Parser<'_>) -> Expr,
) -> (Arc<Expr>, Diagnostics) {
    let inner = SourceFile::written_in(file.dialect(), file.name(), &*text.text);
    let tokens = lexer::scan(inner.text(), start);
    let mut parser = Parser::new(&inner, &tokens);
    parser.within = Some((file, &text.offsets));
    let mut expr = parse(&mut parser);
    let mut diagnostics = parser.diagnostics;
    shift::expr(&mut expr, &place);
    for diagnostic in diagnostics.iter_mut() {
        for range in [&mut diagnostic.subject, &mut diagnostic.context].into_iter().flatten() {
            *range = shift::span(range.span, &place).in_file(file);
        }
    }
    debug_assert!(!matches!(expr.kind, ExprKind::JsonString(_)));
    (Arc::new(expr), diagnostics)
}

#[cfg(test)]
mod tests;
