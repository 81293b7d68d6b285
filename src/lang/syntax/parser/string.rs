//! Text in quotes and heredocs: escapes, and strings that may hold no templates.

use std::borrow::Cow;
use std::sync::Arc;

use base::source::Span;

use super::super::token::{Token, TokenKind};
use super::Parser;

const INVALID_ESCAPE: &str = "Invalid escape sequence";

impl<'a> Parser<'a> {
    /// The text that a token of template text stands for.
    pub(super) fn literal_text(&mut self, token: Token) -> Cow<'a, str> {
        let text = self.str(token);
        match token.kind {
            TokenKind::QuotedText if text.contains('\\') => Cow::Owned(self.unescape(text, token.start as usize)),
            _ => match text.as_bytes() {
                [b'$', b'$', b'{'] => Cow::Borrowed("${"),
                [b'%', b'%', b'{'] => Cow::Borrowed("%{"),
                _ => Cow::Borrowed(text),
            },
        }
    }

    fn unescape(&mut self, text: &'a str, offset: usize) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let selector = rest[1..].chars().next();
            let start = offset + text.len() - rest.len();
            let len = match selector {
                Some(c @ ('u' | 'U')) => self.unicode_escape(c, rest, start, &mut out),
                Some(c) => {
                    match c {
                        'n' => out.push('\n'),
                        'r' => out.push('\r'),
                        't' => out.push('\t'),
                        '"' | '\\' => out.push(c),
                        _ => {
                            let span = Span::new(start, start + 1 + c.len_utf8());
                            let detail =
                                format!("The symbol {:?} is not a valid escape sequence selector.", c.to_string());
                            self.error(INVALID_ESCAPE, detail, span);
                            out.push(c);
                        }
                    }
                    1 + c.len_utf8()
                }
                None => {
                    let detail = "Backslash must be followed by an escape sequence selector character.";
                    self.error(INVALID_ESCAPE, detail, Span::new(start, start + 1));
                    out.push('\\');
                    1
                }
            };
            rest = &rest[len..];
        }
        out.push_str(rest);
        out
    }

    /// `\u0000` or `\U00000000` at the start of `text`; its length.
    fn unicode_escape(&mut self, selector: char, text: &str, start: usize, out: &mut String) -> usize {
        let (digits, many) = if selector == 'u' { (4, "four") } else { (8, "eight") };
        let found = text[2..].bytes().take(digits).take_while(u8::is_ascii_hexdigit).count();
        let len = 2 + found;
        let span = Span::new(start, start + len);
        if found < digits {
            let detail = format!("The \\{selector} escape sequence must be followed by {many} hexadecimal digits.");
            self.error(INVALID_ESCAPE, detail, span);
            out.push_str(&text[..len]);
            return len;
        }
        let number = u32::from_str_radix(&text[2..len], 16).unwrap_or(u32::MAX);
        match char::from_u32(number) {
            Some(c) => out.push(c),
            None => {
                self.error(INVALID_ESCAPE, format!("Cannot encode character U+{number:04x} in UTF-8."), span);
                out.push_str(&text[..len]);
            }
        }
        len
    }

    /// A string in quotes without templates, such as a label, and its span with the quotes.
    pub(super) fn quoted_literal(&mut self) -> (Arc<str>, Span) {
        let open = self.read().span();
        let first = self.read();
        if first.kind == TokenKind::QuotedText
            && !self.str(first).contains('\\')
            && self.peek_kind() == TokenKind::CloseQuote
        {
            let close = self.read().span();
            let text = self.str(first);
            return (self.intern(text), open.to(close));
        }
        let mut text = String::new();
        let mut token = first;
        loop {
            let span = token.span();
            match token.kind {
                TokenKind::CloseQuote => return (text.into(), open.to(span)),
                TokenKind::QuotedText => text.push_str(&self.literal_text(token)),
                TokenKind::TemplateControl | TokenKind::TemplateInterp => {
                    let sign = if token.kind == TokenKind::TemplateControl { "%" } else { "$" };
                    let detail = format!(
                        "Template sequences are not allowed in this string. To include a literal {sign:?}, double it (as \"{sign}{sign}\") to escape it."
                    );
                    self.error_within("Invalid string literal", detail, span, open.to(span));
                    text.push_str(sign);
                    text.push_str("{ ... }");
                    self.recover(TokenKind::TemplateEnd);
                }
                TokenKind::End => {
                    let detail = "Unable to find the closing quote mark before the end of the file.";
                    self.error_within("Unterminated string literal", detail, span, open.to(span));
                    return (text.into(), open.to(span));
                }
                _ => {
                    let detail = "This item is not valid in a string literal.";
                    self.error_within("Invalid string literal", detail, span, open.to(span));
                    self.recover(TokenKind::CloseQuote);
                    return (text.into(), open.to(span));
                }
            }
            token = self.read();
        }
    }
}
