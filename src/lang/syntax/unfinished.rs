//! Whether an expression that is typed line by line is incomplete.

use super::lexer::{Start, scan};
use super::token::TokenKind;

/// True if the text, up to a line's end, leaves a bracket, a heredoc or an interpolation open. Quotes do not count: a
/// string ends on its line or is an error.
pub fn is_unfinished(text: &str) -> bool {
    let mut open = 0i64;
    for token in scan(text, Start::Normal) {
        match token.kind {
            TokenKind::OpenBrace
            | TokenKind::OpenBracket
            | TokenKind::OpenParen
            | TokenKind::OpenHeredoc
            | TokenKind::TemplateInterp
            | TokenKind::TemplateControl => open += 1,
            TokenKind::CloseBrace
            | TokenKind::CloseBracket
            | TokenKind::CloseParen
            | TokenKind::CloseHeredoc
            | TokenKind::TemplateEnd => open -= 1,
            TokenKind::QuotedNewline => return false,
            _ => {}
        }
    }
    open > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the reference's console asks for more.
    #[test]
    fn unfinished_expressions_need_another_line() {
        let cases = [
            ("1\n", false),
            ("[1,\n", true),
            ("[1,\n2]\n", false),
            ("{ a = (\n", true),
            ("<<EOT\nhello\n", true),
            ("<<EOT\nhello\nEOT\n", false),
            ("[<<EOT\n[\nEOT\n", true),
            ("\"${\n", true),
            ("\"${\n1}\"\n", false),
            ("\"a\n", false),
            ("{ a = \"}\n", false),
            ("\"x${ \"y\" }\n", false),
            ("[ # ]\n", true),
            ("[ /* ]\n", false),
            ("}}\n", false),
        ];
        for (text, expected) in cases {
            assert_eq!(is_unfinished(text), expected, "{text}");
        }
    }
}
