//! Templates of pages: the part of Go's template language that documentation uses.
//!
//! Text with actions in `{{ }}`: pipelines, `if`, `range`, `with`, `else`, comments, and trimmed white space. Variables and
//! named templates are not there; a template that uses them is an error. Never knows what fields and functions mean.

use std::fmt;

/// A template that was read.
#[derive(Debug, PartialEq)]
pub struct Template(pub Vec<TemplateNode>);

#[derive(Debug, PartialEq)]
pub enum TemplateNode {
    Text(String),
    Put(Pipeline),
    /// The first branch whose pipeline is true, else the last.
    If {
        branches: Vec<(Pipeline, Vec<TemplateNode>)>,
        otherwise: Vec<TemplateNode>,
    },
    /// Once per element, which is the dot; `otherwise` if there is none.
    Range {
        over: Pipeline,
        body: Vec<TemplateNode>,
        otherwise: Vec<TemplateNode>,
    },
    /// Once with the value as the dot if it is true.
    With {
        value: Pipeline,
        body: Vec<TemplateNode>,
        otherwise: Vec<TemplateNode>,
    },
}

/// Commands, each of which gets the result of the one before as its last argument.
#[derive(Debug, PartialEq)]
pub struct Pipeline {
    pub commands: Vec<Vec<Operand>>,
    /// Number of its line.
    pub line: usize,
}

#[derive(Debug, PartialEq)]
pub enum Operand {
    /// `.A.B`; without names the dot itself. `root`: `$.A.B`.
    Field {
        names: Vec<String>,
        root: bool,
    },
    Text(String),
    Number(i64),
    Bool(bool),
    Function(String),
    Group(Pipeline),
}

/// What is wrong with a template, and the number of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    pub line: usize,
    pub text: String,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}

/// How deep blocks and parentheses may be nested.
const DEEPEST: usize = 64;

impl Template {
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        let mut parser = Parser { pieces: split(text)?, at: 0 };
        let (nodes, end) = parser.nodes(0)?;
        match end {
            None => Ok(Template(nodes)),
            Some((word, line)) => Err(TemplateError { line, text: format!("{{{{ {word} }}}} ends nothing") }),
        }
    }
}

enum TemplatePiece {
    Text(String),
    Action { text: String, line: usize },
}

/// Splits a template into text and actions, trimmed as its marks say; comments are dropped.
fn split(text: &str) -> Result<Vec<TemplatePiece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut trim = false;
    loop {
        let line = text[..text.len() - rest.len()].matches('\n').count() + 1;
        let begin = rest.find("{{");
        let mut plain = &rest[..begin.unwrap_or(rest.len())];
        if trim {
            plain = plain.trim_start();
        }
        let Some(begin) = begin else {
            pieces.push(TemplatePiece::Text(plain.to_owned()));
            return Ok(pieces);
        };
        let line = line + rest[..begin].matches('\n').count();
        let inside = &rest[begin + 2..];
        let dashed = inside.strip_prefix('-').filter(|after| after.starts_with([' ', '\t', '\r', '\n']));
        if dashed.is_some() {
            plain = plain.trim_end();
        }
        pieces.push(TemplatePiece::Text(plain.to_owned()));
        let inside = dashed.unwrap_or(inside);
        let unclosed = || TemplateError { line, text: "{{ without }}".to_owned() };
        let end = action_end(inside).ok_or_else(unclosed)?;
        let action = &inside[..end];
        rest = &inside[end + 2..];
        let kept = action.strip_suffix('-').filter(|kept| kept.ends_with([' ', '\t', '\r', '\n']));
        trim = kept.is_some();
        let action = kept.unwrap_or(action).trim();
        if !action.starts_with("/*") {
            pieces.push(TemplatePiece::Action { text: action.to_owned(), line });
        }
    }
}

/// Where the `}}` is that ends an action; those in texts and comments do not.
fn action_end(text: &str) -> Option<usize> {
    let trimmed = text.trim_start();
    if trimmed.starts_with("/*") {
        let comment = text.len() - trimmed.len() + trimmed.find("*/")?;
        return Some(comment + text[comment..].find("}}")?);
    }
    let mut at = 0;
    loop {
        let next = at + text[at..].find(['"', '`', '}'])?;
        let quote = text.as_bytes()[next];
        if quote == b'}' {
            if text[next..].starts_with("}}") {
                return Some(next);
            }
            at = next + 1;
        } else {
            at = next + 1 + quoted(&text[next..])?.1 - 1;
        }
    }
}

/// The content of a text in quotes that the input begins with, and its length with the quotes.
fn quoted(text: &str) -> Option<(String, usize)> {
    if let Some(raw) = text.strip_prefix('`') {
        let end = raw.find('`')?;
        return Some((raw[..end].to_owned(), end + 2));
    }
    let mut content = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((content, at + 1)),
            '\\' => match chars.next()?.1 {
                'n' => content.push('\n'),
                't' => content.push('\t'),
                'r' => content.push('\r'),
                other => content.push(other),
            },
            c => content.push(c),
        }
    }
    None
}

struct Parser {
    pieces: Vec<TemplatePiece>,
    at: usize,
}

/// A word that ends a list of nodes, with what is behind it, and its line.
type End = Option<(String, usize)>;

impl Parser {
    fn nodes(&mut self, depth: usize) -> Result<(Vec<TemplateNode>, End), TemplateError> {
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.get(self.at) {
            self.at += 1;
            let (action, line) = match piece {
                TemplatePiece::Text(text) => {
                    nodes.push(TemplateNode::Text(text.clone()));
                    continue;
                }
                TemplatePiece::Action { text, line } => (text.clone(), *line),
            };
            let (word, rest) = action.split_once(char::is_whitespace).unwrap_or((&action, ""));
            if depth > DEEPEST {
                return Err(TemplateError { line, text: "blocks are nested too deeply".to_owned() });
            }
            match word {
                "end" | "else" => return Ok((nodes, Some((action, line)))),
                "if" => nodes.push(self.choice(rest, line, depth)?),
                "range" | "with" => {
                    let head = pipeline(rest, line)?;
                    let (body, otherwise) = self.body_and_else(word, line, depth)?;
                    nodes.push(match word {
                        "range" => TemplateNode::Range { over: head, body, otherwise },
                        _ => TemplateNode::With { value: head, body, otherwise },
                    });
                }
                "define" | "template" | "block" | "break" | "continue" => {
                    return Err(TemplateError { line, text: format!("{{{{ {word} }}}} is not supported") });
                }
                _ => nodes.push(TemplateNode::Put(pipeline(&action, line)?)),
            }
        }
        Ok((nodes, None))
    }

    fn choice(&mut self, condition: &str, line: usize, depth: usize) -> Result<TemplateNode, TemplateError> {
        let mut branches = Vec::new();
        let mut condition = pipeline(condition, line)?;
        loop {
            let (body, end) = self.nodes(depth + 1)?;
            branches.push((condition, body));
            let (word, at) = end.ok_or_else(|| open("if", line))?;
            if word == "end" {
                return Ok(TemplateNode::If { branches, otherwise: Vec::new() });
            }
            match word.strip_prefix("else").map(str::trim).and_then(|rest| rest.strip_prefix("if ")) {
                Some(next) => condition = pipeline(next, at)?,
                None => {
                    let otherwise = self.last(&word, "if", line, depth)?;
                    return Ok(TemplateNode::If { branches, otherwise });
                }
            }
        }
    }

    fn body_and_else(
        &mut self,
        what: &str,
        line: usize,
        depth: usize,
    ) -> Result<(Vec<TemplateNode>, Vec<TemplateNode>), TemplateError> {
        let (body, end) = self.nodes(depth + 1)?;
        let (word, _) = end.ok_or_else(|| open(what, line))?;
        let otherwise = if word == "end" { Vec::new() } else { self.last(&word, what, line, depth)? };
        Ok((body, otherwise))
    }

    /// The nodes behind an `else`, up to the end.
    fn last(&mut self, word: &str, what: &str, line: usize, depth: usize) -> Result<Vec<TemplateNode>, TemplateError> {
        if word != "else" {
            return Err(TemplateError { line, text: format!("{{{{ {word} }}}} is not supported here") });
        }
        let (nodes, end) = self.nodes(depth + 1)?;
        match end {
            Some((word, _)) if word == "end" => Ok(nodes),
            _ => Err(open(what, line)),
        }
    }
}

fn open(what: &str, line: usize) -> TemplateError {
    TemplateError { line, text: format!("{{{{ {what} }}}} without {{{{ end }}}}") }
}

fn pipeline(text: &str, line: usize) -> Result<Pipeline, TemplateError> {
    let mut reader = Reader { rest: text, line };
    let pipeline = reader.pipeline(0)?;
    match reader.rest.trim() {
        "" => Ok(pipeline),
        rest => Err(reader.error(format!("unexpected {rest:?}"))),
    }
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl Reader<'_> {
    fn error(&self, text: impl Into<String>) -> TemplateError {
        TemplateError { line: self.line, text: text.into() }
    }

    /// Up to the end or a closing parenthesis.
    fn pipeline(&mut self, depth: usize) -> Result<Pipeline, TemplateError> {
        if depth > DEEPEST {
            return Err(self.error("parentheses are nested too deeply"));
        }
        let mut commands: Vec<Vec<Operand>> = vec![Vec::new()];
        loop {
            self.rest = self.rest.trim_start();
            match self.rest.chars().next() {
                None | Some(')') => break,
                Some('|') => {
                    self.rest = &self.rest[1..];
                    commands.push(Vec::new());
                }
                Some(_) => {
                    let operand = self.operand(depth)?;
                    if let Some(command) = commands.last_mut() {
                        command.push(operand);
                    }
                    break_if_unknown(self)?;
                    continue;
                }
            }
        }
        if commands.iter().any(Vec::is_empty) {
            return Err(self.error("a value is missing"));
        }
        Ok(Pipeline { commands, line: self.line })
    }

    fn operand(&mut self, depth: usize) -> Result<Operand, TemplateError> {
        if let Some(inner) = self.rest.strip_prefix('(') {
            self.rest = inner;
            let group = self.pipeline(depth + 1)?;
            let Some(after) = self.rest.strip_prefix(')') else { return Err(self.error("( without )")) };
            self.rest = after;
            return Ok(Operand::Group(group));
        }
        if self.rest.starts_with(['"', '`']) {
            let Some((content, length)) = quoted(self.rest) else { return Err(self.error("a text without its end")) };
            self.rest = &self.rest[length..];
            return Ok(Operand::Text(content));
        }
        let end = self.rest.find(|c: char| c.is_whitespace() || "|()\"`".contains(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let names = |path: &str| path.split('.').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_.".contains(c));
        let operand = match word {
            "true" => Operand::Bool(true),
            "false" => Operand::Bool(false),
            "$" => Operand::Field { names: Vec::new(), root: true },
            _ if word.starts_with('.') && is_name(word) => Operand::Field { names: names(word), root: false },
            _ if word.starts_with("$.") && is_name(&word[1..]) => {
                Operand::Field { names: names(&word[2..]), root: true }
            }
            _ if word.starts_with('$') => {
                return Err(self.error(format!("variables such as {word} are not supported")));
            }
            _ if word.parse::<i64>().is_ok() => Operand::Number(word.parse().unwrap_or_default()),
            _ if is_name(word) => Operand::Function(word.to_owned()),
            _ => return Err(self.error(format!("unexpected {word:?}"))),
        };
        self.rest = rest;
        Ok(operand)
    }
}

/// Fields of a result in parentheses are not supported.
fn break_if_unknown(reader: &Reader<'_>) -> Result<(), TemplateError> {
    let fits = reader.rest.is_empty() || reader.rest.starts_with(|c: char| c.is_whitespace() || "|)".contains(c));
    if fits { Ok(()) } else { Err(reader.error(format!("unexpected {:?}", reader.rest))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_line() {
        let cases = [
            ("a\n{{ .X", "line 2: {{ without }}"),
            ("{{ if .X }}\n", "line 1: {{ if }} without {{ end }}"),
            ("\n\n{{ end }}", "line 3: {{ end }} ends nothing"),
            ("{{ range .X }}{{ else if .Y }}{{ end }}", "line 1: {{ else if .Y }} is not supported here"),
            ("{{ define \"a\" }}{{ end }}", "line 1: {{ define }} is not supported"),
            ("{{ $x := .Name }}", "line 1: variables such as $x are not supported"),
            ("{{ (lower .X }}", "line 1: ( without )"),
            ("{{ lower .X) }}", "line 1: unexpected \")\""),
            ("{{ .X | }}", "line 1: a value is missing"),
            ("{{}}", "line 1: a value is missing"),
            ("{{ (.X).Y }}", "line 1: unexpected \".Y\""),
            ("{{ 'a' }}", "line 1: unexpected \"'a'\""),
        ];
        for (text, expected) in cases {
            assert_eq!(Template::parse(text).unwrap_err().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let deep = |open: &str, close: &str| Template::parse(&(open.repeat(5_000) + ".X" + &close.repeat(5_000)));
        assert!(deep("{{ if .X }}", "{{ end }}").is_err());
        assert!(Template::parse(&format!("{{{{ {} }}}}", "(".repeat(5_000))).is_err());
    }
}
