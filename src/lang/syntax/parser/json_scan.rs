//! JSON text to tokens. Looser than JSON: what numbers, strings and words may look like is checked where they are read.

use base::source::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    Comma,
    Colon,
    Equals,
    Number,
    /// With its quotes; the last may be missing.
    String,
    Keyword,
    /// A byte that starts nothing; nothing behind it is looked at.
    Invalid,
    End,
}

#[derive(Clone, Copy, Debug)]
pub struct JsonToken {
    pub kind: Kind,
    pub span: Span,
}

/// All tokens; the last is [`Kind::End`].
pub fn scan(text: &str) -> Vec<JsonToken> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            at += 1;
        }
        let Some(first) = bytes.get(at) else {
            tokens.push(JsonToken { kind: Kind::End, span: Span::new(at, at) });
            return tokens;
        };
        let (kind, len) = match token(*first, &bytes[at..]) {
            (Kind::Invalid, _) => (Kind::Invalid, text[at..].chars().next().map_or(1, char::len_utf8)),
            found => found,
        };
        tokens.push(JsonToken { kind, span: Span::new(at, at + len) });
        if kind == Kind::Invalid {
            tokens.push(JsonToken { kind: Kind::End, span: Span::new(at + len, at + len) });
            return tokens;
        }
        at += len;
    }
}

fn token(first: u8, rest: &[u8]) -> (Kind, usize) {
    let run = |belongs: fn(&u8) -> bool| rest.iter().take_while(|b| belongs(b)).count();
    match first {
        b'{' => (Kind::OpenBrace, 1),
        b'}' => (Kind::CloseBrace, 1),
        b'[' => (Kind::OpenBracket, 1),
        b']' => (Kind::CloseBracket, 1),
        b',' => (Kind::Comma, 1),
        b':' => (Kind::Colon, 1),
        b'=' => (Kind::Equals, 1),
        b'"' => (Kind::String, string_len(rest)),
        b'-' | b'+' | b'.' | b'0'..=b'9' => {
            (Kind::Number, run(|b| matches!(b, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')))
        }
        b if b.is_ascii_alphabetic() => (Kind::Keyword, run(|b| b.is_ascii_alphabetic() || *b == b'_')),
        _ => (Kind::Invalid, 1),
    }
}

/// Up to and with the closing quote, or up to a control character or the end.
fn string_len(bytes: &[u8]) -> usize {
    let mut at = 1;
    let mut escaped = false;
    while let Some(byte) = bytes.get(at) {
        match byte {
            0..32 => return at,
            b'"' if !escaped => return at + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
        at += 1;
    }
    at
}

/// `-1.5e+3`, and nothing that JSON would not take.
pub fn is_number(text: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let rest = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let exponent_ok =
        exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)) && e.parse::<i32>().is_ok());
    digits(whole) && (whole == "0" || !whole.starts_with('0')) && fraction.is_none_or(digits) && exponent_ok
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for good in ["0", "-0", "1", "10.50", "1e5", "1E+5", "-1.5e-10", "123456789012345678901234567890"] {
            assert!(is_number(good), "{good}");
        }
        for bad in ["", "-", "+1", ".5", "1.", "01", "1e", "1e+", "1-2", "--1", "0x1", "1.2.3", "1e3000000000"] {
            assert!(!is_number(bad), "{bad}");
        }
    }

    #[test]
    fn strings_end_at_their_quote() {
        let cases = [(r#""a""#, 3), (r#""a\"b" c"#, 6), (r#""\\" x"#, 4), ("\"a\nb\"", 2), ("\"abc", 4)];
        for (text, len) in cases {
            assert_eq!(string_len(text.as_bytes()), len, "{text}");
        }
    }
}
