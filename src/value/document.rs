//! A JSON text as it is written: numbers keep their digits, and members their order.
//!
//! Its own reader, because `serde_json` keeps digits only with a feature that changes how it reads numbers for everyone in the
//! program. It accepts what `serde_json` accepts, and errors are in the words of that. Never knows types.

use std::collections::HashMap;
use std::fmt;

/// Arrays and objects may be nested less deep than this.
const DEEPEST: usize = 128;

/// Objects with more members are searched by hash for members of the same name.
const FEW: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    Null,
    Bool(bool),
    /// The digits as written.
    Number(Box<str>),
    String(String),
    Array(Vec<Document>),
    /// Each name once: of several members of one name the last one, at the place of the first.
    Object(Vec<(String, Document)>),
}

impl Document {
    /// Reads a text.
    pub fn parse(text: &[u8]) -> Result<Document, SyntaxError> {
        let read = std::str::from_utf8(text).ok().and_then(|text| Reader { text, at: 0, depth: 0 }.read_whole());
        read.ok_or_else(|| match serde_json::from_slice::<serde_json::Value>(text) {
            Err(error) => SyntaxError(error.to_string()),
            Ok(_) => SyntaxError("invalid JSON".to_owned()),
        })
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Document::String(text) => Some(text),
            _ => None,
        }
    }

    /// The member of an object.
    pub fn get(&self, name: &str) -> Option<&Document> {
        match self {
            Document::Object(members) => members.iter().find(|(own, _)| own == name).map(|(_, member)| member),
            _ => None,
        }
    }
}

/// Why a text is not JSON: what is wrong, with line and column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError(String);

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SyntaxError {}

impl From<&serde_json::Value> for Document {
    fn from(json: &serde_json::Value) -> Document {
        match json {
            serde_json::Value::Null => Document::Null,
            serde_json::Value::Bool(flag) => Document::Bool(*flag),
            serde_json::Value::Number(number) => Document::Number(number.to_string().into()),
            serde_json::Value::String(text) => Document::String(text.clone()),
            serde_json::Value::Array(elements) => Document::Array(elements.iter().map(Document::from).collect()),
            serde_json::Value::Object(members) => {
                Document::Object(members.iter().map(|(name, member)| (name.clone(), member.into())).collect())
            }
        }
    }
}

/// The text without spaces.
impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Document::Null => f.write_str("null"),
            Document::Bool(flag) => write!(f, "{flag}"),
            Document::Number(digits) => f.write_str(digits),
            Document::String(text) => write_string(text, f),
            Document::Array(elements) => {
                f.write_str("[")?;
                for (i, element) in elements.iter().enumerate() {
                    f.write_str(if i > 0 { "," } else { "" })?;
                    element.fmt(f)?;
                }
                f.write_str("]")
            }
            Document::Object(members) => {
                f.write_str("{")?;
                for (i, (name, member)) in members.iter().enumerate() {
                    f.write_str(if i > 0 { "," } else { "" })?;
                    write_string(name, f)?;
                    f.write_str(":")?;
                    member.fmt(f)?;
                }
                f.write_str("}")
            }
        }
    }
}

/// A string with nothing escaped that needs not be.
fn write_string(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(&serde_json::to_string(text).map_err(|_| fmt::Error)?)
}

/// Reads from the front; None where the text is not JSON.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn read_whole(mut self) -> Option<Document> {
        let document = self.read()?;
        (self.peek().is_none()).then_some(document)
    }

    /// The next byte that is no space.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let spaces = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\t' | b'\r')).count();
        self.at += spaces;
        rest.get(spaces).copied()
    }

    fn take(&mut self, wanted: &str) -> Option<()> {
        self.text[self.at..].starts_with(wanted).then(|| self.at += wanted.len())
    }

    fn read(&mut self) -> Option<Document> {
        match self.peek()? {
            b'n' => self.take("null").map(|()| Document::Null),
            b't' => self.take("true").map(|()| Document::Bool(true)),
            b'f' => self.take("false").map(|()| Document::Bool(false)),
            b'"' => self.read_string().map(Document::String),
            b'[' => self.nested(Reader::read_array),
            b'{' => self.nested(Reader::read_object),
            _ => self.read_number(),
        }
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<Document>) -> Option<Document> {
        self.at += 1;
        self.depth += 1;
        let document = if self.depth < DEEPEST { read(self) } else { None };
        self.depth -= 1;
        document
    }

    fn read_array(&mut self) -> Option<Document> {
        let mut elements = Vec::new();
        if self.peek()? == b']' {
            self.at += 1;
            return Some(Document::Array(elements));
        }
        loop {
            elements.push(self.read()?);
            let next = self.peek()?;
            self.at += 1;
            match next {
                b',' => {}
                b']' => return Some(Document::Array(elements)),
                _ => return None,
            }
        }
    }

    fn read_object(&mut self) -> Option<Document> {
        let mut members = Vec::new();
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(Document::Object(members));
        }
        loop {
            if self.peek()? != b'"' {
                return None;
            }
            let name = self.read_string()?;
            if self.peek()? != b':' {
                return None;
            }
            self.at += 1;
            members.push((name, self.read()?));
            let next = self.peek()?;
            self.at += 1;
            match next {
                b',' => {}
                b'}' => return Some(Document::Object(without_repeated(members))),
                _ => return None,
            }
        }
    }

    fn read_number(&mut self) -> Option<Document> {
        let rest = &self.text.as_bytes()[self.at..];
        let digits = |from: usize| rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let sign = usize::from(rest.first() == Some(&b'-'));
        let whole = digits(sign);
        if whole == 0 || whole > 1 && rest[sign] == b'0' {
            return None;
        }
        let mut end = sign + whole;
        if rest.get(end) == Some(&b'.') {
            let fraction = digits(end + 1);
            end += (fraction > 0).then_some(1 + fraction)?;
        }
        if matches!(rest.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            end += (exponent > 0).then_some(1 + sign + exponent)?;
        }
        let number = self.text[self.at..self.at + end].into();
        self.at += end;
        Some(Document::Number(number))
    }

    /// A string, whose first quote is next.
    fn read_string(&mut self) -> Option<String> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))?;
            text.push_str(&rest[..plain]);
            let special = rest.as_bytes()[plain];
            self.at += plain + 1;
            match special {
                b'"' => return Some(text),
                b'\\' => text.push(self.read_escape()?),
                _ => return None,
            }
        }
    }

    fn read_escape(&mut self) -> Option<char> {
        let kind = *self.text.as_bytes().get(self.at)?;
        self.at += 1;
        Some(match kind {
            b'"' | b'\\' | b'/' => char::from(kind),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => match self.read_code_unit()? {
                high @ 0xd800..0xdc00 => {
                    self.take("\\u")?;
                    let low = self.read_code_unit()?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                    char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)?
                }
                unit => char::from_u32(unit)?,
            },
            _ => return None,
        })
    }

    fn read_code_unit(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.bytes().try_fold(0, |unit, byte| Some(unit << 4 | char::from(byte).to_digit(16)?))
    }
}

/// Each name once.
fn without_repeated(members: Vec<(String, Document)>) -> Vec<(String, Document)> {
    let is_repeated = |(i, (name, _)): (usize, &(String, Document))| members[..i].iter().any(|(own, _)| own == name);
    if members.len() <= FEW && !members.iter().enumerate().any(is_repeated) {
        return members;
    }
    let mut places: HashMap<String, usize> = HashMap::with_capacity(members.len());
    let mut once: Vec<(String, Document)> = Vec::with_capacity(members.len());
    for (name, member) in members {
        match places.get(&name) {
            Some(place) => once[*place].1 = member,
            None => {
                places.insert(name.clone(), once.len());
                once.push((name, member));
            }
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_as_written() {
        for (text, expected) in [
            (" [1.50, -0, 1E+5, 0.10e-3]\n", "[1.50,-0,1E+5,0.10e-3]"),
            (r#"{"b":1,"a":{"x":[]},"b":2}"#, r#"{"b":2,"a":{"x":[]}}"#),
            (r#""\ud83d\ude00\u00e9\/\n""#, r#""😀é/\n""#),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("{}", "{}"),
        ] {
            assert_eq!(Document::parse(text.as_bytes()).unwrap().to_string(), expected, "{text}");
        }
        let many: String = (0..100).map(|i| format!("\"{}\":{i},", i % 50)).collect();
        let Ok(Document::Object(members)) = Document::parse(format!("{{{}}}", many.trim_end_matches(',')).as_bytes())
        else {
            panic!("an object")
        };
        assert_eq!((members.len(), &members[3]), (50, &("3".to_owned(), Document::Number("53".into()))));
    }

    /// The other reader has the last word about what is JSON.
    #[test]
    fn both_readers_accept_the_same() {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        let mut texts: Vec<Vec<u8>> =
            vec![deep(127).into(), deep(128).into(), b"\"\xff\"".to_vec(), b"\"\x01\"".to_vec()];
        for text in [
            "",
            " ",
            "nul",
            "nulll",
            "tru",
            "01",
            "-",
            "-a",
            "1.",
            ".5",
            "1.e5",
            "1e",
            "1e+",
            "+1",
            "0x1",
            "1 2",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"\\udc00\"",
            "\"\\ud83d\\ude00\"",
            "[",
            "{",
            "]",
            "null ",
            "\u{feff}1",
            "\u{a0}1",
            "1\u{0}",
            "\"\u{7f}\"",
            "-0.0",
            "NaN",
            "\"\\u+123\"",
            "1e400",
        ] {
            texts.push(text.into());
        }
        for text in texts {
            let expected = serde_json::from_slice::<serde_json::Value>(&text).map_err(|error| error.to_string());
            let found = Document::parse(&text);
            // Without the digits, the other reader has a limit for numbers.
            let is_big = expected.as_ref().is_err_and(|error| error.starts_with("number out of range"));
            assert_eq!(found.is_ok(), expected.is_ok() || is_big, "{}", String::from_utf8_lossy(&text));
            if !is_big {
                assert_eq!(
                    found.err().map(|error| error.to_string()),
                    expected.err(),
                    "{}",
                    String::from_utf8_lossy(&text)
                );
            }
        }
    }
}
