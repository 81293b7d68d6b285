//! `jsondecode`'s reader: JSON text to a value, with the wording of Go's decoder for what is wrong.
//!
//! Owns the grammar and the messages. Never knows types: objects and tuples come out.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use terrane_value::{Number, Value};

/// Nesting beyond this would exhaust the stack before it exhausted anybody's patience.
const MAX_DEPTH: usize = 1000;

/// Why a text is not JSON, in the words of Go's decoder.
#[derive(Debug, PartialEq)]
pub enum JsonTextError {
    /// A character that is not valid there: the byte that it begins with, and what was read.
    Character(u8, String),
    /// The end of the text, as the decoder calls it in that place.
    End(&'static str),
    TooDeep,
    Extraneous,
    NotANumber,
}

impl fmt::Display for JsonTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonTextError::Character(byte, context) => {
                f.write_str("invalid character ")?;
                match byte {
                    b'\'' => f.write_str("'\\''"),
                    b'"' => f.write_str("'\"'"),
                    b'\\' => f.write_str("'\\\\'"),
                    b'\n' => f.write_str("'\\n'"),
                    b'\t' => f.write_str("'\\t'"),
                    b'\r' => f.write_str("'\\r'"),
                    0..=0x1f | 0x7f => write!(f, "'\\x{byte:02x}'"),
                    _ => write!(f, "'{}'", *byte as char),
                }?;
                if context.is_empty() { Ok(()) } else { write!(f, " {context}") }
            }
            JsonTextError::End(text) => f.write_str(text),
            JsonTextError::TooDeep => f.write_str("exceeded max depth"),
            JsonTextError::Extraneous => f.write_str("extraneous data after JSON object"),
            JsonTextError::NotANumber => f.write_str("a number is required"),
        }
    }
}

pub fn decode(text: &str) -> Result<Value, JsonTextError> {
    let mut reader = Decoder { bytes: text.as_bytes(), text, at: 0, depth: 0 };
    let value = reader.value("looking for beginning of value")?;
    reader.space();
    match reader.peek() {
        // A stray closing bracket ends the reference's reader as the end of the text does.
        None | Some(b']' | b'}') => Ok(value),
        Some(_) => Err(JsonTextError::Extraneous),
    }
}

struct Decoder<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    depth: usize,
}

impl Decoder<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// The error for the current character, which is not valid here; the end of the text has a separate message.
    fn unexpected<T>(&self, context: &str, at_end: &'static str) -> Result<T, JsonTextError> {
        Err(match self.peek() {
            Some(byte) => JsonTextError::Character(byte, context.to_owned()),
            None => JsonTextError::End(at_end),
        })
    }

    fn value(&mut self, context: &str) -> Result<Value, JsonTextError> {
        self.space();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Value::string),
            Some(b't') => self.literal("true", Value::bool(true)),
            Some(b'f') => self.literal("false", Value::bool(false)),
            Some(b'n') => self.literal("null", Value::null_dynamic()),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.unexpected(context, "EOF"),
        }
    }

    fn nested(&mut self, f: fn(&mut Self) -> Result<Value, JsonTextError>) -> Result<Value, JsonTextError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(JsonTextError::TooDeep);
        }
        self.at += 1;
        let value = f(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> Result<Value, JsonTextError> {
        let mut elements = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::tuple(elements));
        }
        loop {
            elements.push(self.value("looking for beginning of value")?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::tuple(elements));
                }
                _ => return self.unexpected("after array element", "EOF"),
            }
        }
    }

    fn object(&mut self) -> Result<Value, JsonTextError> {
        let mut members: BTreeMap<Arc<str>, Value> = BTreeMap::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::empty_object());
        }
        let mut context = "";
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return self.unexpected(context, "EOF");
            }
            let name = Value::string(self.string()?).as_arc_str().unwrap_or_default();
            self.space();
            if self.peek() != Some(b':') {
                return self.unexpected("after object key", "EOF");
            }
            self.at += 1;
            let value = self.value("looking for beginning of value")?;
            members.insert(name, value);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::object(members));
                }
                _ => return self.unexpected("after object key:value pair", "EOF"),
            }
            context = "looking for beginning of object key string";
        }
    }

    fn literal(&mut self, word: &str, value: Value) -> Result<Value, JsonTextError> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let context = format!("in literal {word} (expecting '{}')", expected as char);
                return self.unexpected(&context, "unexpected EOF");
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn digits(&mut self, context: &str) -> Result<(), JsonTextError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.unexpected(context, "unexpected EOF");
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, JsonTextError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits("in numeric literal")?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        Number::parse(&self.text[start..self.at]).map(Value::number).ok_or(JsonTextError::NotANumber)
    }

    fn string(&mut self) -> Result<String, JsonTextError> {
        self.at += 1;
        let mut out = String::new();
        let mut done = self.at;
        loop {
            match self.peek() {
                Some(b'"') => {
                    out.push_str(&self.text[done..self.at]);
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    out.push_str(&self.text[done..self.at]);
                    self.at += 1;
                    self.escape(&mut out)?;
                    done = self.at;
                }
                None | Some(0..=0x1f) => return self.unexpected("in string literal", "unexpected EOF"),
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), JsonTextError> {
        let c = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                let unit = self.hex()?;
                out.push(self.unicode(unit)?);
                return Ok(());
            }
            _ => return self.unexpected("in string escape code", "unexpected EOF"),
        };
        out.push(c);
        self.at += 1;
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, JsonTextError> {
        let mut unit = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|b| (b as char).to_digit(16)) else {
                return self.unexpected("in \\u hexadecimal character escape", "unexpected EOF");
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }

    /// A character from its first UTF-16 unit; half a pair alone becomes the replacement character.
    fn unicode(&mut self, unit: u32) -> Result<char, JsonTextError> {
        if (0xd800..0xdc00).contains(&unit) && self.bytes[self.at..].starts_with(b"\\u") {
            let back = self.at;
            self.at += 2;
            let low = self.hex()?;
            if (0xdc00..0xe000).contains(&low) {
                let code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = back;
        }
        Ok(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from `terraform console` 1.11.4.
    #[test]
    fn messages() {
        for (text, message) in [
            ("{", "EOF"),
            ("", "EOF"),
            ("nul", "unexpected EOF"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("{'a':1}", "invalid character '\\''"),
            ("[1 2]", "invalid character '2' after array element"),
            (r#"{"a" 1}"#, "invalid character '1' after object key"),
            (r#"{"a":1,}"#, "invalid character '}' looking for beginning of object key string"),
            (r#"{"a":1 "b":2}"#, "invalid character '\"' after object key:value pair"),
            ("01", "extraneous data after JSON object"),
            ("\"a", "unexpected EOF"),
            (r#""\x""#, "invalid character 'x' in string escape code"),
            ("[1.x]", "invalid character 'x' after decimal point in numeric literal"),
            ("-x", "invalid character 'x' in numeric literal"),
            ("[tru]", "invalid character ']' in literal true (expecting 'e')"),
            ("é", "invalid character 'Ã' looking for beginning of value"),
            ("\"\t\"", "invalid character '\\t' in string literal"),
        ] {
            assert_eq!(decode(text).unwrap_err().to_string(), message, "{text}");
        }
        assert!(decode(&"[".repeat(100_000)).is_err());
        assert_eq!(
            decode(r#" {"a":[1,"\ud83d\ude00"],"a":null} "#).unwrap(),
            Value::object([("a", Value::null_dynamic())])
        );
    }
}
