//! Text to tokens: a scanner with a stack of modes for templates within expressions within templates.
//!
//! One pass over the bytes, no copies. Never fails: invalid text becomes tokens of a separate kind.

use terrane_value::identifier;

use super::token::{Token, TokenKind};

/// What a file is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Configuration or an expression.
    Normal,
    /// A template without quotes.
    Template,
}

/// All tokens of a text; the last is always [`TokenKind::End`].
pub fn scan(text: &str, start: Start) -> Vec<Token> {
    let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        pos: bom,
        tokens: Vec::with_capacity(text.len() / 4 + 8),
        modes: Vec::new(),
        braces: 0,
        interpolations: Vec::new(),
        comment_closes: true,
    };
    lexer.modes.push(match start {
        Start::Normal => Mode::Normal,
        Start::Template => Mode::Bare,
    });
    lexer.run();
    let end = text.len();
    lexer.push(TokenKind::End, end, end);
    lexer.tokens
}

#[derive(Clone, Copy)]
enum Mode {
    Normal,
    Quoted,
    /// The marker is `text[start..end]`; `line_start` is true where the closing marker may stand.
    Heredoc {
        start: u32,
        end: u32,
        line_start: bool,
    },
    Bare,
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pos: usize,
    tokens: Vec<Token>,
    modes: Vec<Mode>,
    /// Open braces, and how many were open at the start of each interpolation around.
    braces: i64,
    interpolations: Vec<i64>,
    /// False once no `*/` was found: later comments cannot end either.
    comment_closes: bool,
}

impl<'a> Lexer<'a> {
    fn run(&mut self) {
        while self.pos < self.bytes.len() {
            match self.modes.last().copied().unwrap_or(Mode::Normal) {
                Mode::Normal => self.normal(),
                Mode::Quoted => self.quoted(),
                Mode::Heredoc { start, end, line_start } => self.heredoc(start, end, line_start),
                Mode::Bare => self.bare(),
            }
        }
    }

    fn push(&mut self, kind: TokenKind, start: usize, end: usize) {
        self.tokens.push(Token { kind, start: start as u32, end: end as u32 });
        self.pos = end;
    }

    /// A token of `len` bytes from here.
    fn take(&mut self, kind: TokenKind, len: usize) {
        self.push(kind, self.pos, self.pos + len);
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn normal(&mut self) {
        use TokenKind::*;
        let next = self.byte(1);
        match self.byte(0) {
            b' ' | b'\t' => {
                let rest = &self.bytes[self.pos..];
                self.pos += rest.iter().position(|b| !matches!(b, b' ' | b'\t')).unwrap_or(rest.len());
            }
            b'\n' => self.take(Newline, 1),
            b'\r' if next == b'\n' => self.take(Newline, 2),
            b'0'..=b'9' => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => self.ident(),
            b'#' => self.line_comment(),
            b'/' if next == b'/' => self.line_comment(),
            b'/' if next == b'*' => self.block_comment(),
            b'"' => {
                self.take(OpenQuote, 1);
                self.modes.push(Mode::Quoted);
            }
            b'<' if next == b'<' => self.open_heredoc(),
            b'{' => {
                self.take(OpenBrace, 1);
                self.braces += 1;
            }
            b'}' => self.close_brace(),
            b'~' if next == b'}' => {
                self.take(TemplateEnd, 2);
                self.end_interpolation();
                self.braces -= 1;
            }
            b'.' if next == b'.' && self.byte(2) == b'.' => self.take(Ellipsis, 3),
            first => match two_bytes(first, next) {
                Some(kind) => self.take(kind, 2),
                None => self.single(first),
            },
        }
    }

    fn single(&mut self, byte: u8) {
        use TokenKind::*;
        let kind = match byte {
            b'[' => OpenBracket,
            b']' => CloseBracket,
            b'(' => OpenParen,
            b')' => CloseParen,
            b'.' => Dot,
            b',' => Comma,
            b'*' => Star,
            b'/' => Slash,
            b'%' => Percent,
            b'+' => Plus,
            b'-' => Minus,
            b'=' => Equal,
            b'<' => Less,
            b'>' => Greater,
            b'!' => Bang,
            b'?' => Question,
            b':' => Colon,
            b'&' => BitwiseAnd,
            b'|' => BitwiseOr,
            b'~' => BitwiseNot,
            b'^' => BitwiseXor,
            b';' => Semicolon,
            b'`' => Backtick,
            b'\'' => Apostrophe,
            _ => Invalid,
        };
        self.take(kind, 1);
    }

    /// Digits, dots and exponents, as long as the last is not a dot; whether that is a number the parser decides.
    fn number(&mut self) {
        let (mut at, mut end) = (1, 1);
        loop {
            match self.byte(at) {
                b'0'..=b'9' => at += 1,
                b'.' => {
                    at += 1;
                    continue;
                }
                b'e' | b'E' => {
                    let digit = at + if matches!(self.byte(at + 1), b'+' | b'-') { 2 } else { 1 };
                    if !self.byte(digit).is_ascii_digit() {
                        break;
                    }
                    at = digit + 1;
                }
                _ => break,
            }
            end = at;
        }
        self.take(TokenKind::Number, end);
    }

    fn ident(&mut self) {
        let end = ident_end(self.text, self.pos);
        if end > self.pos {
            self.push(TokenKind::Ident, self.pos, end);
        } else {
            let len = self.text[self.pos..].chars().next().map_or(1, char::len_utf8);
            self.take(TokenKind::Invalid, len);
        }
    }

    fn line_comment(&mut self) {
        let rest = &self.bytes[self.pos..];
        let len = rest.iter().position(|b| *b == b'\n').map_or(rest.len(), |i| i + 1);
        self.take(TokenKind::Comment, len);
    }

    fn block_comment(&mut self) {
        let close = if self.comment_closes { self.text[self.pos + 2..].find("*/") } else { None };
        match close {
            Some(i) => self.take(TokenKind::Comment, i + 4),
            None => {
                self.comment_closes = false;
                self.take(TokenKind::Slash, 1);
            }
        }
    }

    fn close_brace(&mut self) {
        let kind = if self.end_interpolation() { TokenKind::TemplateEnd } else { TokenKind::CloseBrace };
        self.take(kind, 1);
        self.braces -= 1;
    }

    /// Leaves the innermost interpolation if only its own brace is open.
    fn end_interpolation(&mut self) -> bool {
        let ends = self.interpolations.last() == Some(&self.braces);
        if ends {
            self.interpolations.pop();
            self.modes.pop();
        }
        ends
    }

    fn open_heredoc(&mut self) {
        let start = self.pos + if self.byte(2) == b'-' { 3 } else { 2 };
        let end = ident_end(self.text, start);
        let newline = match &self.bytes[end..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => 0,
        };
        if end == start || newline == 0 {
            return self.take(TokenKind::Less, 1);
        }
        self.push(TokenKind::OpenHeredoc, self.pos, end + newline);
        self.modes.push(Mode::Heredoc { start: start as u32, end: end as u32, line_start: true });
    }

    /// `${` or `%{` here?
    fn template_sequence(&self) -> Option<TokenKind> {
        match (self.byte(0), self.byte(1)) {
            (b'$', b'{') => Some(TokenKind::TemplateInterp),
            (b'%', b'{') => Some(TokenKind::TemplateControl),
            _ => None,
        }
    }

    fn open_sequence(&mut self, kind: TokenKind) {
        let len = if self.byte(2) == b'~' { 3 } else { 2 };
        self.take(kind, len);
        self.braces += 1;
        self.interpolations.push(self.braces);
        self.mark_mid_line();
        self.modes.push(Mode::Normal);
    }

    fn mark_mid_line(&mut self) {
        if let Some(Mode::Heredoc { line_start, .. }) = self.modes.last_mut() {
            *line_start = false;
        }
    }

    /// The length of the escape `$${` here, or 1 for a lone `$` or `%`.
    fn dollar_len(&self) -> usize {
        let sign = self.byte(0);
        if self.byte(1) == sign && self.byte(2) == b'{' { 3 } else { 1 }
    }

    fn quoted(&mut self) {
        match self.byte(0) {
            b'"' => {
                self.take(TokenKind::CloseQuote, 1);
                self.modes.pop();
            }
            b'\r' | b'\n' => {
                let rest = &self.bytes[self.pos..];
                let len = rest.iter().position(|b| !matches!(b, b'\r' | b'\n')).unwrap_or(rest.len());
                self.take(TokenKind::QuotedNewline, len);
            }
            b'$' | b'%' => match self.template_sequence() {
                Some(kind) => self.open_sequence(kind),
                None if self.pos + 1 == self.bytes.len() => self.take(TokenKind::Invalid, 1),
                None => self.take(TokenKind::QuotedText, self.dollar_len()),
            },
            _ => self.quoted_text(),
        }
    }

    fn quoted_text(&mut self) {
        let mut at = self.pos;
        while let Some(byte) = self.bytes.get(at) {
            match byte {
                b'"' | b'$' | b'%' | b'\r' | b'\n' => break,
                b'\\' => match self.text[at + 1..].chars().next() {
                    None | Some('\r' | '\n') => break,
                    Some(c) => at += 1 + c.len_utf8(),
                },
                _ => at += 1,
            }
        }
        if at > self.pos {
            self.push(TokenKind::QuotedText, self.pos, at);
        } else {
            self.take(TokenKind::Invalid, 1);
        }
    }

    fn heredoc(&mut self, start: u32, end: u32, line_start: bool) {
        if let b'$' | b'%' = self.byte(0) {
            if let Some(kind) = self.template_sequence() {
                return self.open_sequence(kind);
            }
            self.mark_mid_line();
            let (kind, len) = match self.bytes.len() - self.pos {
                1 => (TokenKind::Invalid, 1),
                _ => (TokenKind::PlainText, self.dollar_len()),
            };
            return self.take(kind, len);
        }
        let line = self.line_text();
        match line {
            HeredocLine::Ended { text_end, end: line_end } => {
                let marker = &self.text[start as usize..end as usize];
                if line_start && self.text[self.pos..text_end].trim() == marker {
                    self.push(TokenKind::CloseHeredoc, self.pos, text_end);
                    self.push(TokenKind::Newline, text_end, line_end);
                    self.modes.pop();
                    return;
                }
                self.push(TokenKind::PlainText, self.pos, line_end);
                if let Some(Mode::Heredoc { line_start, .. }) = self.modes.last_mut() {
                    *line_start = true;
                }
            }
            HeredocLine::Partial(text_end) if text_end > self.pos => {
                self.push(TokenKind::PlainText, self.pos, text_end);
                self.mark_mid_line();
            }
            HeredocLine::Partial(_) => self.push(TokenKind::Invalid, self.pos, self.bytes.len()),
        }
    }

    fn bare(&mut self) {
        if let b'$' | b'%' = self.byte(0) {
            return match self.template_sequence() {
                Some(kind) => self.open_sequence(kind),
                None => self.take(TokenKind::PlainText, self.dollar_len()),
            };
        }
        let end = match self.line_text() {
            HeredocLine::Ended { end, .. } => end,
            HeredocLine::Partial(end) if end > self.pos => end,
            HeredocLine::Partial(_) => self.bytes.len(),
        };
        self.push(TokenKind::PlainText, self.pos, end);
    }

    /// The text from here to the end of the line or to what may be a template sequence.
    fn line_text(&self) -> HeredocLine {
        let rest = &self.bytes[self.pos..];
        match rest.iter().position(|b| matches!(b, b'$' | b'%' | b'\n' | b'\r')) {
            None => HeredocLine::Partial(self.bytes.len()),
            Some(i) => {
                let at = self.pos + i;
                match &rest[i..] {
                    [b'\n', ..] => HeredocLine::Ended { text_end: at, end: at + 1 },
                    [b'\r', b'\n', ..] => HeredocLine::Ended { text_end: at, end: at + 2 },
                    _ => HeredocLine::Partial(at),
                }
            }
        }
    }
}

enum HeredocLine {
    Ended { text_end: usize, end: usize },
    Partial(usize),
}

fn two_bytes(first: u8, second: u8) -> Option<TokenKind> {
    Some(match (first, second) {
        (b'=', b'=') => TokenKind::EqualOp,
        (b'!', b'=') => TokenKind::NotEqual,
        (b'>', b'=') => TokenKind::GreaterEqual,
        (b'<', b'=') => TokenKind::LessEqual,
        (b'&', b'&') => TokenKind::And,
        (b'|', b'|') => TokenKind::Or,
        (b':', b':') => TokenKind::DoubleColon,
        (b'=', b'>') => TokenKind::FatArrow,
        _ => return None,
    })
}

/// Where the name that starts at `start` ends; `start` if none does.
fn ident_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => at += 1,
            b'0'..=b'9' | b'-' if at > start => at += 1,
            0x80.. => {
                let Some(c) = text[at..].chars().next() else { break };
                let belongs = if at > start { identifier::is_continue(c) } else { identifier::is_start(c) };
                if !belongs {
                    break;
                }
                at += c.len_utf8();
            }
            _ => break,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::TokenKind::*;
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        scan(text, Start::Normal).into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn templates_nest() {
        assert_eq!(
            kinds("\"a${ {b=\"${c}\"} ~}$$\""),
            [
                OpenQuote,
                QuotedText,
                TemplateInterp,
                OpenBrace,
                Ident,
                Equal,
                OpenQuote,
                TemplateInterp,
                Ident,
                TemplateEnd,
                CloseQuote,
                CloseBrace,
                TemplateEnd,
                QuotedText,
                QuotedText,
                CloseQuote,
                End
            ]
        );
    }

    #[test]
    fn heredocs_end_at_their_marker() {
        assert_eq!(
            kinds("a = <<-E\n x$\n E\n"),
            [Ident, Equal, OpenHeredoc, PlainText, PlainText, PlainText, CloseHeredoc, Newline, End]
        );
        assert_eq!(kinds("<<E \n"), [Less, Less, Ident, Newline, End]);
        assert_eq!(kinds("<<E\nE"), [OpenHeredoc, PlainText, End]);
    }

    #[test]
    fn numbers_comments_and_strays() {
        assert_eq!(
            kinds("1.5e-3...# x\n1.a /* b */ \u{e9}t\u{e9} @"),
            [Number, Ellipsis, Comment, Number, Dot, Ident, Comment, Ident, Invalid, End]
        );
        assert_eq!(kinds("/* a"), [Slash, Star, Ident, End]);
        assert_eq!(kinds("\u{feff}a\r\n"), [Ident, Newline, End]);
    }
}
