//! Whether two neighbours on a line are set apart by a space.

use super::super::token::TokenKind::{self, *};
use super::{Piece, bracket_change};

/// `before` is what stands before `left` in the same cell of the line.
pub fn apart(before: Option<TokenKind>, left: Piece<'_>, right: TokenKind) -> bool {
    if right == Newline || joined(left.kind, right) {
        return false;
    }
    if left.kind == Comma {
        return true;
    }
    if in_template(left.kind, right) {
        return false;
    }
    // `for x in [y]`: the word is no collection that is indexed.
    if before == Some(Ident) && left.kind == Ident && left.text == "in" {
        return true;
    }
    let closes = bracket_change(left.kind) < 0;
    if right == OpenBracket && (closes || matches!(left.kind, Ident | Number)) {
        return false;
    }
    match left.kind {
        Bang => return false,
        Minus => return !before.is_none_or(wants_operand),
        _ => {}
    }
    if left.kind == OpenBrace || right == CloseBrace {
        return !(left.kind == OpenBrace && right == CloseBrace);
    }
    match (left.kind, right) {
        // An object alone in an interpolation: `${ {a = 1} }`.
        (TemplateInterp | TemplateControl, OpenBrace) | (CloseBrace, TemplateEnd) => true,
        (TemplateEnd, TemplateInterp | TemplateControl) => false,
        (_, right) => bracket_change(left.kind) <= 0 && bracket_change(right) >= 0,
    }
}

/// Calls, names with namespaces, attributes, and what separates items.
fn joined(left: TokenKind, right: TokenKind) -> bool {
    match (left, right) {
        (Ident, OpenParen | DoubleColon) | (DoubleColon, Ident) => true,
        (Dot, _) => true,
        (_, right) => matches!(right, Dot | Comma | Ellipsis),
    }
}

fn in_template(left: TokenKind, right: TokenKind) -> bool {
    matches!(left, QuotedText | PlainText | OpenQuote | OpenHeredoc)
        || matches!(right, QuotedText | PlainText | CloseQuote | CloseHeredoc)
}

/// Behind these a minus is a sign, not a subtraction.
fn wants_operand(before: TokenKind) -> bool {
    matches!(
        before,
        OpenParen
            | OpenBrace
            | OpenBracket
            | Equal
            | Colon
            | Comma
            | Question
            | Plus
            | Star
            | Slash
            | Percent
            | Minus
            | EqualOp
            | NotEqual
            | Greater
            | GreaterEqual
            | Less
            | LessEqual
            | And
            | Or
            | Bang
    )
}
