//! The content of JSON strings: escape sequences, with the places of what they stand for.

use std::sync::Arc;

use super::super::json::{Offsets, Text};

/// The content of a string that stands at `start` of the file. The error is the offset behind the byte that is wrong.
pub fn decode(token: &str, start: u32) -> Result<Text, u32> {
    let closed = token.len() >= 2 && token.ends_with('"');
    let inner = token.get(1..token.len() - usize::from(closed)).unwrap_or("");
    let end = token.len() as u32;
    if !inner.contains('\\') {
        let offsets = Offsets { start: start + 1, jumps: Vec::new() };
        return if closed { Ok(Text { text: inner.into(), offsets }) } else { Err(end) };
    }
    let mut out = String::with_capacity(inner.len());
    let mut jumps = Vec::new();
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let offset = 1 + inner.len() - rest.len();
        let len = escape(rest, &mut out).map_err(|wrong| ((offset + wrong + 1) as u32).min(end))?;
        rest = &rest[len..];
        jumps.push((out.len() as u32, start + (offset + len) as u32));
    }
    if !closed {
        return Err(end);
    }
    out.push_str(rest);
    Ok(Text { text: Arc::from(out), offsets: Offsets { start: start + 1, jumps } })
}

/// Reads the escape sequence that `text` starts with; its length, or the offset of the byte that is wrong in it.
fn escape(text: &str, out: &mut String) -> Result<usize, usize> {
    let plain = match text.as_bytes().get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b @ (b'"' | b'\\' | b'/')) => char::from(*b),
        Some(b'u') => return unicode(text, out),
        _ => return Err(1),
    };
    out.push(plain);
    Ok(2)
}

/// `\u0000`, or two of them that are one character beyond the first 65,536. Half of such a pair becomes U+FFFD.
fn unicode(text: &str, out: &mut String) -> Result<usize, usize> {
    let first = hex(text, 2)?;
    if let 0xd800..0xdc00 = first
        && text[6..].starts_with("\\u")
        && let Ok(second @ 0xdc00..0xe000) = hex(text, 8)
    {
        let joined = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        out.push(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
        return Ok(12);
    }
    out.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    Ok(6)
}

/// Four hexadecimal digits, or the offset of the byte that is none.
fn hex(text: &str, at: usize) -> Result<u32, usize> {
    let mut number = 0;
    for i in at..at + 4 {
        let digit = text.as_bytes().get(i).and_then(|b| char::from(*b).to_digit(16)).ok_or(i)?;
        number = number * 16 + digit;
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        let cases = [
            (r#""""#, Ok("")),
            (r#""a\nb""#, Ok("a\nb")),
            (r#""\"\\\/\b\f\r\t""#, Ok("\"\\/\u{8}\u{c}\r\t")),
            (r#""\u00e9""#, Ok("é")),
            (r#""\ud83d\ude00!""#, Ok("😀!")),
            (r#""\ud83d""#, Ok("\u{fffd}")),
            (r#""\ude00\ud83d\u0041""#, Ok("\u{fffd}\u{fffd}A")),
            (r#""\q""#, Err(3)),
            (r#""\u00g0""#, Err(6)),
            (r#""abc"#, Err(4)),
            (r#"""#, Err(1)),
            (r#""a\""#, Err(4)),
        ];
        for (token, expected) in cases {
            let found = decode(token, 0);
            assert_eq!(found.as_ref().map(|t| &*t.text).map_err(|e| *e), expected, "{token}");
        }
    }

    #[test]
    fn places_behind_escapes() {
        let text = decode(r#""a\nb\u00e9${x}""#, 10).unwrap();
        assert_eq!(&*text.text, "a\nbé${x}");
        let places: Vec<u32> = [0, 1, 2, 3, 5, 7].map(|i| text.offsets.in_file(i)).to_vec();
        assert_eq!(places, [11, 12, 14, 15, 21, 23]);
    }
}
