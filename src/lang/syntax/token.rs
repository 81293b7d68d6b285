//! Tokens of the native syntax, and the errors that can be seen in them alone.
//!
//! Tokens cover every byte of a file but blanks between them and a byte order mark at its start, so that a formatter can
//! rebuild the text.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::{SourceFile, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub start: u32,
    pub end: u32,
}

impl Token {
    pub fn span(self) -> Span {
        Span { start: self.start, end: self.end }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TokenKind {
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    OpenParen,
    CloseParen,
    OpenQuote,
    CloseQuote,
    /// `<<EOT` with its newline.
    OpenHeredoc,
    /// The line of the closing marker without its newline.
    CloseHeredoc,
    Star,
    Slash,
    Plus,
    Minus,
    Percent,
    Equal,
    EqualOp,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    Bang,
    Dot,
    Comma,
    Ellipsis,
    FatArrow,
    Question,
    Colon,
    DoubleColon,
    /// `${` or `${~`.
    TemplateInterp,
    /// `%{` or `%{~`.
    TemplateControl,
    /// `}` or `~}` that ends one of them.
    TemplateEnd,
    /// Text in quotes, with backslash escapes.
    QuotedText,
    /// Text of a heredoc or bare template, a line at most.
    PlainText,
    Number,
    Ident,
    /// A line comment includes its newline.
    Comment,
    Newline,
    End,
    BitwiseAnd,
    BitwiseOr,
    BitwiseNot,
    BitwiseXor,
    Apostrophe,
    Backtick,
    Semicolon,
    QuotedNewline,
    Invalid,
}

impl TokenKind {
    /// The other end of a pair of brackets.
    pub fn opposite(self) -> Option<TokenKind> {
        use TokenKind::*;
        Some(match self {
            OpenBrace => CloseBrace,
            OpenBracket => CloseBracket,
            OpenParen => CloseParen,
            OpenQuote => CloseQuote,
            OpenHeredoc => CloseHeredoc,
            CloseBrace => OpenBrace,
            CloseBracket => OpenBracket,
            CloseParen => OpenParen,
            CloseQuote => OpenQuote,
            CloseHeredoc => OpenHeredoc,
            TemplateControl | TemplateInterp => TemplateEnd,
            TemplateEnd => TemplateInterp,
            _ => return None,
        })
    }
}

/// What no file may hold: characters outside the language and operators of other languages.
pub fn check(file: &Arc<SourceFile>, tokens: &[Token]) -> Diagnostics {
    let mut found = Diagnostics::new();
    let mut told = ReportedTokens::default();
    for token in tokens.iter().filter(|t| t.kind as u8 >= TokenKind::BitwiseAnd as u8) {
        let text = file.text().get(token.start as usize..token.end as usize).unwrap_or("");
        if let Some((summary, detail)) = told.complaint(token.kind, text) {
            found.push(Diagnostic::error(summary, detail).at(token.span().in_file(file)));
        }
    }
    found
}

/// How often each error was reported: none is repeated without limit.
#[derive(Default)]
struct ReportedTokens {
    bitwise: u8,
    backtick: u8,
    apostrophe: u8,
    semicolon: u8,
}

impl ReportedTokens {
    fn complaint(&mut self, kind: TokenKind, text: &str) -> Option<(&'static str, &'static str)> {
        match kind {
            TokenKind::BitwiseAnd | TokenKind::BitwiseOr | TokenKind::BitwiseXor | TokenKind::BitwiseNot => {
                if self.bitwise >= 4 {
                    return None;
                }
                self.bitwise += 1;
                Some((
                    "Unsupported operator",
                    match kind {
                        TokenKind::BitwiseAnd => "Bitwise operators are not supported. Did you mean boolean AND (\"&&\")?",
                        TokenKind::BitwiseOr => "Bitwise operators are not supported. Did you mean boolean OR (\"||\")?",
                        TokenKind::BitwiseNot => "Bitwise operators are not supported. Did you mean boolean NOT (\"!\")?",
                        _ => "Bitwise operators are not supported.",
                    },
                ))
            }
            TokenKind::Backtick => first_of_pair(&mut self.backtick).then_some((
                "Invalid character",
                "The \"`\" character is not valid. To create a multi-line string, use the \"heredoc\" syntax, like \"<<EOT\".",
            )),
            TokenKind::Apostrophe => first_of_pair(&mut self.apostrophe)
                .then_some(("Invalid character", "Single quotes are not valid. Use double quotes (\") to enclose strings.")),
            TokenKind::Semicolon => {
                let first = self.semicolon == 0;
                self.semicolon = 1;
                first.then_some((
                    "Invalid character",
                    "The \";\" character is not valid. Use newlines to separate arguments and blocks, and commas to separate items in collection values.",
                ))
            }
            TokenKind::QuotedNewline => Some((
                "Invalid multi-line string",
                "Quoted strings may not be split over multiple lines. To produce a multi-line string, either use the \\n escape to represent a newline character or use the \"heredoc\" multi-line template syntax.",
            )),
            TokenKind::Invalid if matches!(text, "\u{201c}" | "\u{201d}") => Some((
                "Invalid character",
                "\"Curly quotes\" are not valid here. These can sometimes be inadvertently introduced when sharing code via documents or discussion forums. It might help to replace the character with a \"straight quote\".",
            )),
            TokenKind::Invalid => Some(("Invalid character", "This character is not used within the language.")),
            _ => None,
        }
    }
}

/// Quotes come in pairs: the opening one is reported, and after the second pair nothing more.
fn first_of_pair(count: &mut u8) -> bool {
    let report = count.is_multiple_of(2);
    if *count <= 2 {
        *count += 1;
    }
    report
}
