//! Files as bytes: comments may hold what is no UTF-8, and keep it.

use crate::lang::syntax::mistakes::NOT_UTF8;
use std::sync::Arc;

use super::super::lexer::{self, Start};
use super::super::token::TokenKind;
use super::format;
use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::source::{SourceFile, Span};

/// Stand for the bytes 0x80 to 0xFF while a text is formatted: characters for private use, as wide as the byte is counted.
const STAND_INS: u32 = 0x10_fe80;

/// As [`format`], for the content of a file of that name.
pub fn format_bytes(name: &str, content: &[u8]) -> Result<Option<Vec<u8>>, Diagnostics> {
    match std::str::from_utf8(content) {
        Ok(text) => Ok(format(&SourceFile::new(name, text))?.map(String::into_bytes)),
        Err(_) => format_damaged(name, content),
    }
}

fn format_damaged(name: &str, content: &[u8]) -> Result<Option<Vec<u8>>, Diagnostics> {
    let text = String::from_utf8_lossy(content);
    let shown = SourceFile::new(name, &*text);
    let outside = Diagnostic::error(
        NOT_UTF8,
        "All input files must be UTF-8 encoded. Ensure that UTF-8 encoding is selected in your editor.",
    );
    let replaced: String = content
        .utf8_chunks()
        .flat_map(|chunk| chunk.valid().chars().chain(chunk.invalid().iter().map(|byte| stand_in(*byte))))
        .collect();
    let tokens = lexer::scan(&text, Start::Normal);
    let damaged = |kind: TokenKind, text: &str| kind != TokenKind::Comment && text.contains('\u{fffd}');
    let first = tokens.iter().find(|t| damaged(t.kind, &text[t.start as usize..t.end as usize]));
    if let Some(token) = first {
        let at =
            text[token.start as usize..].find('\u{fffd}').map_or(token.start as usize, |i| token.start as usize + i);
        return Err(outside.at(Span::new(at, at + 3).in_file(&shown)).into());
    }
    // Mistakes are shown with the characters that stand for what cannot be shown.
    match format(&SourceFile::new(name, replaced)) {
        Ok(formatted) => Ok(formatted.map(|text| restored(&text))),
        Err(diagnostics) => Err(format(&Arc::clone(&shown)).err().unwrap_or(diagnostics)),
    }
}

fn stand_in(byte: u8) -> char {
    char::from_u32(STAND_INS + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn restored(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match (c as u32).checked_sub(STAND_INS) {
            Some(byte @ 0x80..=0xff) => bytes.push(byte as u8),
            _ => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_keep_bytes_of_other_encodings() {
        let formatted = format_bytes("a.tf", b"a=1 # \xe9\xff\nbcd=2 // \x80").unwrap();
        assert_eq!(formatted.as_deref(), Some(&b"a   = 1 # \xe9\xff\nbcd = 2 // \x80"[..]));
        assert_eq!(format_bytes("a.tf", b"# \xe9\n").unwrap(), None);
    }

    #[test]
    fn anywhere_else_they_are_a_mistake() {
        for content in [&b"a = \"\xe9\"\n"[..], b"\xe9=1\n", b"a = <<E\n\xff\nE\n"] {
            let found = format_bytes("a.tf", content).unwrap_err();
            assert_eq!(found.iter().next().unwrap().summary, "Invalid character encoding");
        }
    }
}
