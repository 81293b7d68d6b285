//! The syntax of the CLI configuration file: an older dialect than that of modules, in which keys may be quoted and
//! commas between items are allowed. A tree without schema.

use std::iter::Peekable;
use std::str::CharIndices;

/// `key = value` or `key "label" { ... }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub key: String,
    pub labels: Vec<String>,
    pub value: Node,
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

/// The items of a file, in either syntax. The error says where, for people.
pub fn parse(text: &str) -> Result<Vec<Item>, String> {
    if text.trim_start().starts_with('{') {
        return parse_json(text);
    }
    let mut reader = Reader { text, chars: text.char_indices().peekable(), depth: 0 };
    let items = reader.items(None)?;
    Ok(items)
}

/// The same in JSON, where blocks are members of objects; labels are not told apart from keys.
fn parse_json(text: &str) -> Result<Vec<Item>, String> {
    let json: serde_json::Value =
        serde_json::from_str(text).map_err(|e| format!("At {}:{}: {e}", e.line(), e.column()))?;
    match node_of(&json) {
        Some(Node::Items(items)) => Ok(items),
        _ => Err("At 1:1: an object is required".to_owned()),
    }
}

/// None for null. The reader of the text has limited how deep it goes.
fn node_of(json: &serde_json::Value) -> Option<Node> {
    use serde_json::Value as Json;
    Some(match json {
        Json::Null => return None,
        Json::Bool(b) => Node::Bool(*b),
        Json::Number(n) => Node::Number(n.to_string()),
        Json::String(text) => Node::String(text.clone()),
        Json::Array(all) => Node::List(all.iter().filter_map(node_of).collect()),
        Json::Object(members) => {
            let item = |(key, value): (&String, &Json)| {
                Some(Item { key: key.clone(), labels: Vec::new(), value: node_of(value)? })
            };
            Node::Items(members.iter().filter_map(item).collect())
        }
    })
}

const MAX_DEPTH: usize = 32;

struct Reader<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
    depth: usize,
}

impl Reader<'_> {
    fn fail<T>(&mut self, what: &str) -> Result<T, String> {
        let at = self.chars.peek().map_or(self.text.len(), |(i, _)| *i);
        let before = &self.text[..at];
        let line = before.matches('\n').count() + 1;
        let column = at - before.rfind('\n').map_or(0, |i| i + 1) + 1;
        Err(format!("At {line}:{column}: {what}"))
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

    fn items(&mut self, end: Option<char>) -> Result<Vec<Item>, String> {
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

    fn item(&mut self) -> Result<Item, String> {
        let key = self.word()?;
        let mut labels = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                Some('=' | ':') => {
                    self.chars.next();
                    self.skip();
                    return Ok(Item { key, labels, value: self.node()? });
                }
                Some('{') => return Ok(Item { key, labels, value: self.node()? }),
                Some('"') => labels.push(self.word()?),
                _ => return self.fail("expected an equals sign or an opening brace"),
            }
        }
    }

    fn word(&mut self) -> Result<String, String> {
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

    fn string(&mut self) -> Result<String, String> {
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

    fn node(&mut self) -> Result<Node, String> {
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

    fn list(&mut self) -> Result<Node, String> {
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
        assert_eq!(parse("a = 1\nb = $"), Err("At 2:5: expected a name".into()));
    }
}
