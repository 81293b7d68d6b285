//! The syntax of the CLI configuration file: an older dialect than that of modules, in which keys may be quoted and
//! commas between items are allowed. A tree without schema.

use std::fmt;
use std::iter::Peekable;
use std::str::CharIndices;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// `key = value` or `key "label" { ... }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub key: String,
    pub labels: Vec<String>,
    pub value: Node,
    /// Where the key is, and where the value begins.
    pub at: LineColumn,
    pub value_at: LineColumn,
    /// Written with an equals sign.
    pub assigned: bool,
}

/// A line and a column, both from 1: `3:5`. Unknown in JSON: `-`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineColumn(Option<(usize, usize)>);

impl fmt::Display for LineColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some((line, column)) => write!(f, "{line}:{column}"),
            None => f.write_str("-"),
        }
    }
}

impl Item {
    /// The labelled blocks of this item, one label each: the block itself, or in JSON the members of the object.
    pub fn labelled(&self) -> Vec<Item> {
        if !self.labels.is_empty() {
            return vec![self.clone()];
        }
        let members = self.value.as_items().unwrap_or_default().iter();
        members.map(|member| Item { labels: vec![member.key.clone()], ..member.clone() }).collect()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    String(String),
    Bool(bool),
    Number(String),
    List(Vec<Node>),
    /// A block's or an object's items.
    Items(Vec<Item>),
}

impl Node {
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Node::String(text) => Some(text),
            _ => None,
        }
    }

    /// Also from the words in quotes.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Node::Bool(b) => Some(*b),
            Node::String(text) => text.parse().ok(),
            _ => None,
        }
    }

    pub fn as_items(&self) -> Option<&[Item]> {
        match self {
            Node::Items(items) => Some(items),
            _ => None,
        }
    }

    /// Every element as a string; none if one is not.
    pub fn as_strings(&self) -> Option<Vec<String>> {
        match self {
            Node::List(nodes) => nodes.iter().map(|n| n.as_str().map(str::to_owned)).collect(),
            _ => None,
        }
    }
}

/// What is wrong with the syntax of a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliFileError {
    at: LineColumn,
    what: String,
}

impl CliFileError {
    fn new(line: usize, column: usize, what: impl Into<String>) -> CliFileError {
        CliFileError { at: LineColumn(Some((line, column))), what: what.into() }
    }
}

impl fmt::Display for CliFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "At {}: {}", self.at, self.what)
    }
}

impl std::error::Error for CliFileError {}

/// The items of a file, in either syntax.
pub fn parse(text: &str) -> Result<Vec<Item>, CliFileError> {
    if text.trim_start().starts_with('{') {
        return parse_json(text);
    }
    let mut reader = CliFileReader { text, chars: text.char_indices().peekable(), depth: 0 };
    let items = reader.items(None)?;
    Ok(items)
}

/// The same in JSON, where blocks are members of objects, and of arrays of objects if there are several of a kind; labels are
/// not told apart from keys.
fn parse_json(text: &str) -> Result<Vec<Item>, CliFileError> {
    // The reader of the text limits how deep it goes.
    match serde_json::from_str(text).map_err(|e| CliFileError::new(e.line(), e.column(), e.to_string()))? {
        Json(Some(Node::Items(items))) => Ok(items),
        _ => Err(CliFileError::new(1, 1, "an object is required")),
    }
}

/// A value; none for null. Unlike other readers it keeps members that have the same name.
struct Json(Option<Node>);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

/// The member by which the reader gives numbers of any size.
const NUMBER: &str = "$serde_json::private::Number";

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json(None))
    }

    fn visit_bool<E>(self, b: bool) -> Result<Json, E> {
        Ok(Json(Some(Node::Bool(b))))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Json, E> {
        Ok(Json(Some(Node::Number(n.to_string()))))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Json, E> {
        Ok(Json(Some(Node::Number(n.to_string()))))
    }

    fn visit_f64<E>(self, n: f64) -> Result<Json, E> {
        Ok(Json(Some(Node::Number(n.to_string()))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json(Some(Node::String(text.to_owned()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Json, A::Error> {
        let mut nodes = Vec::new();
        while let Some(Json(node)) = all.next_element()? {
            nodes.extend(node);
        }
        Ok(Json(Some(Node::List(nodes))))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some((key, Json(value))) = members.next_entry::<String, Json>()? {
            match value {
                Some(Node::String(number)) if key == NUMBER => return Ok(Json(Some(Node::Number(number)))),
                Some(Node::List(blocks)) if !blocks.is_empty() && blocks.iter().all(|b| b.as_items().is_some()) => {
                    items.extend(blocks.into_iter().map(|block| item_of_json(&key, block)));
                }
                Some(value) => items.push(item_of_json(&key, value)),
                None => {}
            }
        }
        Ok(Json(Some(Node::Items(items))))
    }
}

fn item_of_json(key: &str, value: Node) -> Item {
    let assigned = value.as_items().is_none();
    let (at, value_at) = Default::default();
    Item { key: key.to_owned(), labels: Vec::new(), value, at, value_at, assigned }
}

const MAX_DEPTH: usize = 32;

struct CliFileReader<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
    depth: usize,
}

impl CliFileReader<'_> {
    fn fail<T>(&mut self, what: &str) -> Result<T, CliFileError> {
        Err(CliFileError { at: self.place(), what: what.to_owned() })
    }

    fn place(&mut self) -> LineColumn {
        let at = self.chars.peek().map_or(self.text.len(), |(i, _)| *i);
        let before = &self.text[..at];
        let line = before.matches('\n').count() + 1;
        LineColumn(Some((line, at - before.rfind('\n').map_or(0, |i| i + 1) + 1)))
    }

    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, c)| *c)
    }

    /// Blanks, newlines, commas and comments.
    fn skip(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                c if c.is_whitespace() || c == ',' => {
                    self.chars.next();
                }
                '#' => self.skip_line(),
                '/' if self.followed_by("//") => self.skip_line(),
                '/' if self.followed_by("/*") => self.skip_comment(),
                _ => return,
            }
        }
    }

    fn followed_by(&mut self, what: &str) -> bool {
        let at = self.chars.peek().map_or(self.text.len(), |(i, _)| *i);
        self.text[at..].starts_with(what)
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.chars.next();
        }
    }

    fn skip_comment(&mut self) {
        while self.peek().is_some() && !self.followed_by("*/") {
            self.chars.next();
        }
        self.chars.next();
        self.chars.next();
    }

    fn items(&mut self, end: Option<char>) -> Result<Vec<Item>, CliFileError> {
        let mut items = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                None if end.is_none() => return Ok(items),
                None => return self.fail("expected a closing brace"),
                c if c == end => {
                    self.chars.next();
                    return Ok(items);
                }
                Some(_) => items.push(self.item()?),
            }
        }
    }

    fn item(&mut self) -> Result<Item, CliFileError> {
        let at = self.place();
        let key = self.word()?;
        let mut labels = Vec::new();
        let assigned = loop {
            self.skip();
            match self.peek() {
                Some('=' | ':') => {
                    self.chars.next();
                    self.skip();
                    break true;
                }
                Some('{') => break false,
                Some('"') => labels.push(self.word()?),
                _ => return self.fail("expected an equals sign or an opening brace"),
            }
        };
        let value_at = self.place();
        Ok(Item { key, labels, value: self.node()?, at, value_at, assigned })
    }

    fn word(&mut self) -> Result<String, CliFileError> {
        if self.peek() == Some('"') {
            return self.string();
        }
        let mut word = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_alphanumeric() || "_-.".contains(*c)) {
            word.push(c);
            self.chars.next();
        }
        if word.is_empty() { self.fail("expected a name") } else { Ok(word) }
    }

    fn string(&mut self) -> Result<String, CliFileError> {
        self.chars.next();
        let mut text = String::new();
        loop {
            match self.chars.next().map(|(_, c)| c) {
                None | Some('\n') => return self.fail("unterminated string"),
                Some('"') => return Ok(text),
                Some('\\') => match self.chars.next().map(|(_, c)| c) {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some(c @ ('"' | '\\')) => text.push(c),
                    _ => return self.fail("unknown escape sequence"),
                },
                Some(c) => text.push(c),
            }
        }
    }

    fn node(&mut self) -> Result<Node, CliFileError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail("nested too deeply");
        }
        let node = match self.peek() {
            Some('"') => Node::String(self.string()?),
            Some('{') => {
                self.chars.next();
                Node::Items(self.items(Some('}'))?)
            }
            Some('[') => {
                self.chars.next();
                self.list()?
            }
            _ => match self.word()?.as_str() {
                "true" => Node::Bool(true),
                "false" => Node::Bool(false),
                word if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => Node::Number(word.to_owned()),
                word => return self.fail(&format!("unknown word {word:?}")),
            },
        };
        self.depth -= 1;
        Ok(node)
    }

    fn list(&mut self) -> Result<Node, CliFileError> {
        let mut nodes = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                Some(']') => {
                    self.chars.next();
                    return Ok(Node::List(nodes));
                }
                None => return self.fail("expected a closing bracket"),
                Some(_) => nodes.push(self.node()?),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_dialect() {
        let text = "a = \"x\" // c\nb \"l\" { \"q/r\" = \"p\\\"\", n = 5 }\n/* z */ l = [\"a\", true,]\nd {}";
        let items = parse(text).unwrap();
        assert_eq!(items.len(), 4);
        assert_eq!(items[1].labels, ["l"]);
        assert_eq!(items[1].value.as_items().unwrap()[0].key, "q/r");
        assert_eq!(items[2].value, Node::List(vec![Node::String("a".into()), Node::Bool(true)]));
        for bad in ["a", "a = ", "a {", "a = [", "= 1", "a = \"x", "a = foo"] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(parse("a = 1\nb = $").unwrap_err().to_string(), "At 2:5: expected a name");
        assert_eq!((items[1].at.to_string(), items[2].value_at.to_string()), ("2:1".into(), "3:13".into()));
    }

    #[test]
    fn json_has_blocks_in_objects_and_arrays() {
        let items =
            parse(r#"{"a": {"x": 1, "m": [{"p": "1"}], "m": [{"p": "2"}, {}], "l": ["q", 2], "n": null}}"#).unwrap();
        let body = items[0].value.as_items().unwrap();
        let keys: Vec<&str> = body.iter().map(|item| item.key.as_str()).collect();
        assert_eq!(keys, ["x", "m", "m", "m", "l"]);
        assert_eq!(body[0].value, Node::Number("1".into()));
        assert_eq!((items[0].at.to_string(), items[0].assigned, body[0].assigned), ("-".into(), false, true));
        let labels = |item: &Item| item.labelled().iter().flat_map(|block| block.labels.clone()).collect::<Vec<_>>();
        assert_eq!(labels(&items[0]), ["x", "m", "m", "m", "l"]);
        assert_eq!(labels(&parse("a \"b\" { c = 1 }").unwrap()[0]), ["b"]);
        for bad in ["{", "[]", "{\"a\": }"] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
