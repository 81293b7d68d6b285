//! Files as bytes: comments may hold what is no UTF-8, and keep it.

use base::diag::{Diagnostic, Diagnostics};
use base::source::{SourceFile, Span};

use super::super::lexer::{self, Start};
use super::super::syntax_errors::NOT_UTF8;
use super::super::token::TokenKind;
use super::format;

/// Stand for the bytes 0x80 to 0xFF while a text is formatted: characters for private use, as wide as the byte is counted.
const STAND_INS: u32 = 0x10_fe80;

/// As [`format()`], for the content of a file of that name.
pub fn format_bytes(name: &str, content: &[u8]) -> Result<Option<Vec<u8>>, Diagnostics> {
    match std::str::from_utf8(content) {
        Ok(text) => Ok(format(&SourceFile::new(name, text))?.map(String::into_bytes)),
        Err(_) => format_damaged(name, content),
    }
}

fn format_damaged(name: &str, content: &[u8]) -> Result<Option<Vec<u8>>, Diagnostics> {
    let replaced: String = content
        .utf8_chunks()
        .flat_map(|chunk| chunk.valid().chars().chain(chunk.invalid().iter().map(|byte| stand_in(*byte))))
        .collect();
    // Errors are shown with the characters that stand for what cannot be shown.
    let readable = |c: char| if byte_of(c).is_some() { char::REPLACEMENT_CHARACTER } else { c };
    let shown = SourceFile::new(name, replaced.chars().map(readable).collect::<String>());
    let damage = |text: &str| text.find(|c| byte_of(c).is_some());
    let tokens = lexer::scan(&replaced, Start::Normal);
    let outside = tokens.iter().filter(|token| token.kind != TokenKind::Comment).find_map(|token| {
        let start = token.start as usize;
        Some(start + damage(&replaced[start..token.end as usize])?)
    });
    let mut pretended = content.utf8_chunks().filter_map(|chunk| damage(chunk.valid()));
    if let Some(at) = outside.or_else(|| pretended.next().map(|_| 0)) {
        let start: usize = replaced[..at].chars().map(|c| readable(c).len_utf8()).sum();
        let found = Diagnostic::error(
            NOT_UTF8,
            "All input files must be UTF-8 encoded. Ensure that UTF-8 encoding is selected in your editor.",
        );
        return Err(found.at(Span::new(start, start + 3).in_file(&shown)).into());
    }
    match format(&SourceFile::new(name, replaced)) {
        Ok(formatted) => Ok(formatted.map(|text| restored(&text))),
        Err(diagnostics) => Err(format(&shown).err().unwrap_or(diagnostics)),
    }
}

fn stand_in(byte: u8) -> char {
    char::from_u32(STAND_INS + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn byte_of(c: char) -> Option<u8> {
    let byte = (c as u32).checked_sub(STAND_INS)?;
    (0x80..=0xff).contains(&byte).then_some(byte as u8)
}

fn restored(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
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
    fn anywhere_else_they_are_an_error() {
        for content in [&b"a = \"\xe9\"\n"[..], b"\xe9=1\n", b"a = <<E\n\xff\nE\n"] {
            let found = format_bytes("a.tf", content).unwrap_err();
            let first = found.iter().next().unwrap();
            assert_eq!(first.summary, "Invalid character encoding");
            assert_eq!(first.subject.as_ref().unwrap().text(), "\u{fffd}");
        }
    }
}
