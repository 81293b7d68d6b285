//! Templates: first a flat list of segments with blanks trimmed, then a tree by the directives among them.

use std::borrow::Cow;
use std::iter::Peekable;
use std::sync::Arc;
use std::vec::IntoIter;

use base::source::Span;
use base::suggest;
use unicode_normalization::{UnicodeNormalization, is_nfc};
use unicode_segmentation::UnicodeSegmentation;

use super::super::ast::{Expr, ExprKind, ForExpr, Ident, Template, TemplateForm, TemplatePart};
use super::super::token::{Token, TokenKind};
use super::Parser;

enum Segment<'a> {
    Literal { text: Cow<'a, str>, span: Span },
    Interpolation(Expr),
    If { condition: Expr, span: Span },
    For { key_var: Option<Ident>, value_var: Ident, collection: Expr, span: Span },
    Else(Span),
    EndIf(Span),
    EndFor(Span),
}

impl Segment<'_> {
    /// The name and span of a directive that only makes sense within another.
    fn as_end(&self) -> Option<(&'static str, Span)> {
        match self {
            Segment::Else(span) => Some(("else", *span)),
            Segment::EndIf(span) => Some(("endif", *span)),
            Segment::EndFor(span) => Some(("endfor", *span)),
            _ => None,
        }
    }
}

/// The segments of a template while the tree is built; `end` is where the template ends.
struct Segments<'a> {
    rest: Peekable<IntoIter<Segment<'a>>>,
    end: Span,
}

impl<'a> Parser<'a> {
    /// A template in quotes or a heredoc, from behind its opening token on.
    pub(super) fn quoted_template(&mut self, open: Token) -> Expr {
        let Some(close) = open.kind.opposite() else { return Expr::new(open.span(), ExprKind::Error) };
        if let Some(expr) = self.plain_string(open) {
            return expr;
        }
        let heredoc = open.kind == TokenKind::OpenHeredoc;
        let flush = heredoc && self.str(open).starts_with("<<-");
        let form = if heredoc { TemplateForm::Heredoc } else { TemplateForm::Quoted };
        let (parts, _) = self.template(close, flush);
        let span = open.span().to(self.previous());
        self.node(span, ExprKind::Template(Template { parts, form }))
    }

    /// The common case: text in quotes, without escapes and sequences, or what looks like them.
    fn plain_string(&mut self, open: Token) -> Option<Expr> {
        let [text, close, ..] = self.tokens.get(self.next..)? else { return None };
        if text.kind != TokenKind::QuotedText
            || close.kind != TokenKind::CloseQuote
            || self.bytes(*text).iter().any(|b| matches!(b, b'\\' | b'{'))
        {
            return None;
        }
        self.next += 2;
        let part = self.literal_part(Cow::Borrowed(self.str(*text)), text.span());
        let template = Template { parts: vec![part], form: TemplateForm::Quoted };
        Some(Expr::new(open.span().to(close.span()), ExprKind::Template(template)))
    }

    pub(super) fn bare_template(&mut self) -> Expr {
        let (parts, span) = self.template(TokenKind::End, false);
        self.node(span, ExprKind::Template(Template { parts, form: TemplateForm::Bare }))
    }

    fn template(&mut self, end: TokenKind, flush: bool) -> (Vec<TemplatePart>, Span) {
        let start = self.peek().span();
        let (mut segments, end_span) = self.segments(end, start);
        if flush {
            trim_indentation(&mut segments);
        }
        let span = start.to(end_span);
        let mut segments = Segments { rest: meld(segments).into_iter().peekable(), end: end_span };
        let mut parts = Vec::new();
        while let Some(segment) = segments.rest.next() {
            parts.push(self.part(segment, &mut segments));
        }
        (parts, span)
    }

    /// Everything up to and with the token `end`, and the span of that token.
    fn segments(&mut self, end: TokenKind, start: Span) -> (Vec<Segment<'a>>, Span) {
        let mut segments: Vec<Segment<'a>> = Vec::new();
        let (mut trim_next, mut trim_previous) = (false, false);
        let end_span = loop {
            let token = self.read();
            if token.kind == end {
                break token.span();
            }
            let trim_this = std::mem::take(&mut trim_next);
            let can_trim = std::mem::take(&mut trim_previous);
            match token.kind {
                TokenKind::PlainText | TokenKind::QuotedText => {
                    let mut text = self.literal_text(token);
                    if trim_this {
                        text = text.trim_start().to_string().into();
                    }
                    segments.push(Segment::Literal { text, span: token.span() });
                    trim_previous = true;
                }
                TokenKind::TemplateInterp | TokenKind::TemplateControl => {
                    if let (true, Some(Segment::Literal { text, .. })) =
                        (can_trim && token.end - token.start == 3, segments.last_mut())
                    {
                        *text = text.trim_end().to_string().into();
                    }
                    let newlines = std::mem::replace(&mut self.newlines, false);
                    let segment = match token.kind {
                        TokenKind::TemplateInterp => Some(self.interpolation(end, start, &mut trim_next)),
                        _ => self.directive(token, start, &mut trim_next),
                    };
                    segments.extend(segment);
                    self.newlines = newlines;
                }
                _ => {
                    if !self.recovery {
                        let detail = "No closing marker was found for the string.";
                        self.error_within("Unterminated template string", detail, token.span(), start.to(token.span()));
                    }
                    break self.recover(end).span();
                }
            }
        };
        if segments.is_empty() {
            // In "", the empty text stands behind the opening quote.
            let at = Span { start: start.end, end: start.end };
            segments.push(Segment::Literal { text: Cow::Borrowed(""), span: at });
        }
        (segments, end_span)
    }

    fn interpolation(&mut self, end: TokenKind, start: Span, trim_next: &mut bool) -> Segment<'a> {
        let expr = self.expression();
        let close = self.peek();
        if close.kind == TokenKind::TemplateEnd {
            self.read();
            *trim_next = self.bytes(close).starts_with(b"~");
        } else {
            if !self.recovery {
                self.unclosed_interpolation(close, end, start);
            }
            self.recover(TokenKind::TemplateEnd);
        }
        Segment::Interpolation(expr)
    }

    #[cold]
    fn unclosed_interpolation(&mut self, close: Token, end: TokenKind, start: Span) {
        const UNCLOSED: &str = "Unclosed template interpolation sequence";
        const EXTRA: &str = "Extra characters after interpolation expression";
        let context = start.to(close.span());
        match close.kind {
            TokenKind::End => self.error(UNCLOSED, "There is no closing brace for this interpolation sequence before the end of the file. This might be caused by incorrect nesting inside the given expression.", start),
            TokenKind::Colon => self.error_within(EXTRA, "Template interpolation doesn't expect a colon at this location. Did you intend this to be a literal sequence to be processed as part of another language? If so, you can escape it by starting with \"$${\" instead of just \"${\".", close.span(), context),
            TokenKind::CloseQuote | TokenKind::OpenQuote if end == TokenKind::CloseQuote => self.error(UNCLOSED, "There is no closing brace for this interpolation sequence before the end of the quoted template. This might be caused by incorrect nesting inside the given expression.", start),
            _ => self.error_within(EXTRA, "Expected a closing brace to end the interpolation expression, but found extra characters.\n\nThis can happen when you include interpolation syntax for another language, such as shell scripting, but forget to escape the interpolation start token. If this is an embedded sequence for another language, escape it by starting with \"$${\" instead of just \"${\".", close.span(), context),
        }
    }

    fn directive(&mut self, open: Token, start: Span, trim_next: &mut bool) -> Option<Segment<'a>> {
        let keyword = self.peek();
        if keyword.kind != TokenKind::Ident {
            if !self.recovery {
                let detail = "A template directive keyword (\"if\", \"for\", etc) is expected at the beginning of a %{ sequence.";
                self.error_within("Invalid template directive", detail, keyword.span(), open.span().to(keyword.span()));
            }
            self.recover(TokenKind::TemplateEnd);
            return None;
        }
        self.read();
        let segment = match self.str(keyword) {
            "if" => {
                let condition = self.expression();
                Segment::If { condition, span: open.span().to(self.peek().span()) }
            }
            "for" => match self.for_directive(open) {
                Some(segment) => segment,
                None => {
                    self.recover(TokenKind::TemplateEnd);
                    return None;
                }
            },
            "else" => Segment::Else(open.span().to(self.peek().span())),
            "endif" => Segment::EndIf(open.span().to(self.peek().span())),
            "endfor" => Segment::EndFor(open.span().to(self.peek().span())),
            given => {
                self.unknown_keyword(given, open, keyword);
                return None;
            }
        };
        let close = self.peek();
        if close.kind == TokenKind::TemplateEnd {
            self.read();
            *trim_next = self.bytes(close).starts_with(b"~");
        } else {
            if !self.recovery {
                let summary = format!("Extra characters in {} marker", self.str(keyword));
                let detail = "Expected a closing brace to end the sequence, but found extra characters.";
                self.error_within(summary, detail, close.span(), start.to(close.span()));
            }
            self.recover(TokenKind::TemplateEnd);
        }
        Some(segment)
    }

    #[cold]
    fn unknown_keyword(&mut self, given: &str, open: Token, keyword: Token) {
        if !self.recovery {
            let hint = match suggest::name(given, ["if", "for", "else", "endif", "endfor"]) {
                Some(name) => format!(" Did you mean {name:?}?"),
                None => String::new(),
            };
            let detail = format!("{given:?} is not a valid template control keyword.{hint}");
            let context = open.span().to(keyword.span());
            self.error_within("Invalid template control keyword", detail, keyword.span(), context);
        }
        self.recover(TokenKind::TemplateEnd);
    }

    fn for_directive(&mut self, open: Token) -> Option<Segment<'a>> {
        let first = self.directive_name("For directive requires variable name after 'for'.")?;
        let (key_var, value_var) = if self.peek_kind() == TokenKind::Comma {
            self.read();
            let value = self.directive_name("For directive requires value variable name after comma.")?;
            (Some(first), value)
        } else {
            (None, first)
        };
        if !self.at_word("in") {
            self.bad_for_directive("For directive requires 'in' keyword after names.");
            return None;
        }
        self.read();
        let collection = self.expression();
        Some(Segment::For { key_var, value_var, collection, span: open.span().to(self.peek().span()) })
    }

    fn directive_name(&mut self, otherwise: &str) -> Option<Ident> {
        if self.peek_kind() != TokenKind::Ident {
            self.bad_for_directive(otherwise);
            return None;
        }
        let token = self.read();
        Some(self.ident(token))
    }

    #[cold]
    fn bad_for_directive(&mut self, detail: &str) {
        if !self.recovery {
            let span = self.peek().span();
            self.error("Invalid 'for' directive", detail, span);
        }
    }

    /// A segment with everything that it encloses.
    fn part(&mut self, segment: Segment<'a>, segments: &mut Segments<'a>) -> TemplatePart {
        if let Some((name, span)) = segment.as_end() {
            let detail = "The control directives within this template are unbalanced.";
            self.error(unexpected(name), detail, span);
            return error_part(span);
        }
        match segment {
            Segment::Literal { text, span } => self.literal_part(text, span),
            Segment::Interpolation(expr) => TemplatePart::Interpolation(Arc::new(expr)),
            other => {
                if !self.descend() {
                    return error_part(segments.end);
                }
                let part = match other {
                    Segment::If { condition, span } => self.if_part(condition, span, segments),
                    Segment::For { key_var, value_var, collection, span } => {
                        self.for_part((key_var, value_var), collection, span, segments)
                    }
                    _ => error_part(segments.end),
                };
                self.depth -= 1;
                part
            }
        }
    }

    fn literal_part(&mut self, text: Cow<'a, str>, span: Span) -> TemplatePart {
        let text = match text {
            text if !text.is_ascii() && !is_nfc(&text) => text.nfc().collect::<String>().into(),
            Cow::Borrowed(text) if text.len() <= 32 => self.intern(text),
            text => Arc::from(text),
        };
        TemplatePart::Literal { text, span }
    }

    /// The parts up to a directive that ends them, which is returned; an error if the template ends before.
    fn branch(
        &mut self,
        name: &str,
        opener: Span,
        segments: &mut Segments<'a>,
    ) -> (Vec<TemplatePart>, Option<Segment<'a>>) {
        let mut parts = Vec::new();
        loop {
            match segments.rest.next() {
                None => {
                    let at = self.place(opener);
                    let detail =
                        format!("The {name} directive at {at} is missing its corresponding end{name} directive.");
                    self.error("Unexpected end of template", detail, segments.end);
                    return (parts, None);
                }
                Some(segment) if segment.as_end().is_some() => return (parts, Some(segment)),
                Some(segment) => parts.push(self.part(segment, segments)),
            }
        }
    }

    fn if_part(&mut self, condition: Expr, opener: Span, segments: &mut Segments<'a>) -> TemplatePart {
        let (then, mut end) = self.branch("if", opener, segments);
        let mut otherwise = Vec::new();
        let mut in_else = false;
        if let Some(Segment::Else(_)) = end {
            in_else = true;
            (otherwise, end) = self.branch("if", opener, segments);
        }
        let close = match end {
            Some(Segment::EndIf(span)) => span,
            None => return error_part(segments.end),
            Some(other) => {
                let (name, span) = other.as_end().unwrap_or(("end", segments.end));
                let at = self.place(opener);
                let detail = match (in_else, name) {
                    (true, "else") => format!("Already in the else clause for the if started at {at}."),
                    _ => format!("Expecting an endif directive for the if started at {at}."),
                };
                self.error(unexpected(name), detail, span);
                return error_part(span);
            }
        };
        let then = self.branch_node(then, opener.end);
        let otherwise = self.branch_node(otherwise, close.start);
        let kind = ExprKind::Conditional { condition: Arc::new(condition), then, otherwise };
        TemplatePart::Directive(Arc::new(self.node(opener.to(close), kind)))
    }

    fn for_part(
        &mut self,
        vars: (Option<Ident>, Ident),
        collection: Expr,
        opener: Span,
        segments: &mut Segments<'a>,
    ) -> TemplatePart {
        let (content, end) = self.branch("for", opener, segments);
        let close = match end {
            Some(Segment::EndFor(span)) => span,
            None => return error_part(segments.end),
            Some(other) => {
                let (name, span) = other.as_end().unwrap_or(("end", segments.end));
                let detail = match name {
                    "else" => "An else clause is not expected for a for directive.".to_string(),
                    _ => {
                        let at = self.place(opener);
                        format!("Expecting an endfor directive corresponding to the for directive at {at}.")
                    }
                };
                self.error(unexpected(name), detail, span);
                return error_part(span);
            }
        };
        let result = ForExpr {
            key_var: vars.0,
            value_var: vars.1,
            collection: Arc::new(collection),
            key: None,
            value: self.branch_node(content, opener.end),
            condition: None,
            grouping: false,
            open: opener,
            close,
        };
        let span = opener.to(close);
        let tuple = self.node(span, ExprKind::For(Box::new(result)));
        TemplatePart::Directive(Arc::new(self.node(span, ExprKind::TemplateJoin(Arc::new(tuple)))))
    }

    /// The template that a directive encloses; an empty one stands at `at`.
    fn branch_node(&mut self, mut parts: Vec<TemplatePart>, at: u32) -> Arc<Expr> {
        if parts.is_empty() {
            parts.push(self.literal_part(Cow::Borrowed(""), Span { start: at, end: at }));
        }
        let first = parts.first().map_or(Span::default(), part_span);
        let span = first.to(parts.last().map_or(first, part_span));
        Arc::new(self.node(span, ExprKind::Template(Template { parts, form: TemplateForm::Branch })))
    }
}

/// The summary where a control directive has no place.
fn unexpected(name: &str) -> String {
    format!("Unexpected {name} directive")
}

fn error_part(span: Span) -> TemplatePart {
    TemplatePart::Directive(Arc::new(Expr::new(span, ExprKind::Error)))
}

fn part_span(part: &TemplatePart) -> Span {
    match part {
        TemplatePart::Literal { span, .. } => *span,
        TemplatePart::Interpolation(e) | TemplatePart::Directive(e) => e.span,
    }
}

/// `<<-`: removes from all lines the blanks that the least indented one starts with. Blank lines do not count.
fn trim_indentation(segments: &mut [Segment<'_>]) {
    let mut least = usize::MAX;
    let mut line_starts = Vec::new();
    let mut at_line_start = true;
    for (i, segment) in segments.iter().enumerate() {
        let literal = match segment {
            Segment::Literal { text, .. } => Some(text.as_ref()),
            _ => None,
        };
        if at_line_start {
            let text = literal.unwrap_or("");
            let trimmed = text.trim_start();
            if !(trimmed.is_empty() && text.ends_with('\n')) {
                least = least.min(text[..text.len() - trimmed.len()].graphemes(true).count());
                line_starts.extend(literal.map(|_| i));
            }
        }
        at_line_start = literal.is_some_and(|text| text.ends_with('\n'));
    }
    for i in line_starts {
        if let Some(Segment::Literal { text, span }) = segments.get_mut(i) {
            let cut: usize = text.graphemes(true).take(least).map(str::len).sum();
            *text = match std::mem::take(text) {
                Cow::Borrowed(text) => Cow::Borrowed(&text[cut..]),
                Cow::Owned(text) => Cow::Owned(text[cut..].to_string()),
            };
            span.start = (span.start + cut as u32).min(span.end);
        }
    }
}

/// Joins texts that follow one another.
fn meld(segments: Vec<Segment<'_>>) -> Vec<Segment<'_>> {
    let mut melded: Vec<Segment<'_>> = Vec::with_capacity(segments.len());
    for segment in segments {
        match (melded.last_mut(), segment) {
            (Some(Segment::Literal { text, span }), Segment::Literal { text: more, span: more_span }) => {
                text.to_mut().push_str(&more);
                span.end = more_span.end;
            }
            (_, segment) => melded.push(segment),
        }
    }
    melded
}
