//! The older configuration syntax that the CLI configuration file is written in, as far as that file uses it.

use std::fmt;

/// One `key = value` or `key "label" { ... }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The key and the labels behind it.
    pub keys: Vec<String>,
    pub value: Value,
    pub position: Position,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A string, or a number or a boolean as written.
    Text(String),
    List(Vec<Value>),
    Object(Vec<Item>),
}

impl Value {
    pub fn text(&self) -> Option<String> {
        match self {
            Value::Text(text) => Some(text.clone()),
            Value::List(_) | Value::Object(_) => None,
        }
    }
}

/// Line and column from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    line: usize,
    column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The items of a file, or where and why it cannot be read.
pub fn parse(text: &str) -> Result<Vec<Item>, String> {
    Reader { text, at: 0 }.items(false)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn position(&self) -> Position {
        let before = &self.text[..self.at];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Position { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }

    fn fail<T>(&self, why: &str) -> Result<T, String> {
        Err(format!("At {}: {why}", self.position()))
    }

    /// Skips blanks, line breaks and comments.
    fn blanks(&mut self) {
        while let Some(c) = self.peek() {
            let rest = &self.text[self.at..];
            if c.is_whitespace() {
                self.bump();
            } else if rest.starts_with('#') || rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/").map_or(rest.len(), |i| i + 2);
            } else {
                return;
            }
        }
    }

    fn items(&mut self, nested: bool) -> Result<Vec<Item>, String> {
        let mut items = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                None if nested => {
                    self.at = self.text.trim_end_matches(['\n']).len().max(1) - 1;
                    return self.fail("object expected closing RBRACE got: EOF");
                }
                None => return Ok(items),
                Some('}') if nested => {
                    self.bump();
                    return Ok(items);
                }
                Some(',') => self.bump(),
                Some(_) => items.push(self.item()?),
            }
        }
    }

    fn item(&mut self) -> Result<Item, String> {
        let mut keys = Vec::new();
        let position = self.position();
        loop {
            self.blanks();
            match self.peek() {
                Some('=') => {
                    self.bump();
                    self.blanks();
                    let value = self.value()?;
                    return Ok(Item { keys, value, position });
                }
                Some('{') => {
                    self.bump();
                    let value = Value::Object(self.items(true)?);
                    return Ok(Item { keys, value, position });
                }
                Some('"') => keys.push(self.string()?),
                Some(c) if c.is_alphanumeric() || c == '_' => keys.push(self.word()),
                Some(c) => return self.fail(&format!("expected: IDENT | STRING got: {c}")),
                None => return self.fail("key expected value got: EOF"),
            }
        }
    }

    fn value(&mut self) -> Result<Value, String> {
        match self.peek() {
            Some('"') => self.string().map(Value::Text),
            Some('{') => {
                self.bump();
                self.items(true).map(Value::Object)
            }
            Some('[') => {
                self.bump();
                let mut list = Vec::new();
                loop {
                    self.blanks();
                    match self.peek() {
                        Some(']') => {
                            self.bump();
                            return Ok(Value::List(list));
                        }
                        Some(',') => self.bump(),
                        Some(_) => list.push(self.value()?),
                        None => return self.fail("error parsing list, expected comma or list end, got: EOF"),
                    }
                }
            }
            Some(c) if c.is_alphanumeric() || c == '-' || c == '.' => Ok(Value::Text(self.word())),
            Some(c) => self.fail(&format!("Unknown token: {c}")),
            None => self.fail("Unknown token: EOF"),
        }
    }

    fn word(&mut self) -> String {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.')).unwrap_or(rest.len());
        self.at += end;
        rest[..end].to_string()
    }

    fn string(&mut self) -> Result<String, String> {
        let start = self.at;
        self.bump();
        let mut out = String::new();
        loop {
            match self.peek() {
                Some('"') => {
                    self.bump();
                    return Ok(out);
                }
                Some('\\') => {
                    self.bump();
                    match self.peek() {
                        Some('n') => out.push('\n'),
                        Some('t') => out.push('\t'),
                        Some('r') => out.push('\r'),
                        Some(c) => out.push(c),
                        None => {}
                    }
                    self.bump();
                }
                Some('\n') | None => {
                    self.at = start;
                    return self.fail("literal not terminated");
                }
                Some(c) => {
                    out.push(c);
                    self.bump();
                }
            }
        }
    }
}
