//! Arguments of blocks in the settings of the CLI: of one type each, with the errors of the reference.

use std::fmt;

use super::cli_file::{Item, LineColumn, Node};

/// An argument that is not of the type that is required. `kind`: what the reference calls the type that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentError {
    String { at: LineColumn, name: String, kind: &'static str },
    Boolean { at: LineColumn, name: String },
    List { at: LineColumn, kind: &'static str },
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentError::String { at, name, kind } => {
                write!(f, "At {at}: root.{name}: unknown type for string {kind}")
            }
            ArgumentError::Boolean { at, name } => write!(f, "At {at}: root.{name}: a boolean is required"),
            ArgumentError::List { at, kind } => write!(f, "At {at}: unknown slice type: {kind}"),
        }
    }
}

impl std::error::Error for ArgumentError {}

/// A string argument; numbers and booleans keep their written form.
pub fn text(body: &[Item], name: &str) -> Result<Option<String>, ArgumentError> {
    let Some(item) = body.iter().rev().find(|item| item.key == name) else { return Ok(None) };
    let text = plain(&item.value);
    text.map(Some).ok_or_else(|| ArgumentError::String {
        at: item.value_at,
        name: name.to_owned(),
        kind: kind(&item.value),
    })
}

/// A boolean that need not be there.
pub fn truth(body: &[Item], name: &str) -> Result<bool, ArgumentError> {
    let Some(item) = body.iter().rev().find(|item| item.key == name) else { return Ok(false) };
    let value = item.value.as_bool();
    value.ok_or_else(|| ArgumentError::Boolean { at: item.value_at, name: name.to_owned() })
}

/// A list of strings that need not be there.
pub fn texts(body: &[Item], name: &str) -> Result<Vec<String>, ArgumentError> {
    let Some(item) = body.iter().rev().find(|item| item.key == name) else { return Ok(Vec::new()) };
    let at = item.value_at;
    let Node::List(nodes) = &item.value else {
        return Err(ArgumentError::List { at, kind: kind(&item.value) });
    };
    let text = |(i, node)| {
        plain(node).ok_or_else(|| ArgumentError::String { at, name: format!("{name}[{i}]"), kind: kind(node) })
    };
    nodes.iter().enumerate().map(text).collect()
}

fn plain(node: &Node) -> Option<String> {
    match node {
        Node::String(text) | Node::Number(text) => Some(text.clone()),
        Node::Bool(b) => Some(b.to_string()),
        Node::List(_) | Node::Items(_) => None,
    }
}

/// As the reference names it.
fn kind(node: &Node) -> &'static str {
    match node {
        Node::String(_) | Node::Number(_) | Node::Bool(_) => "*ast.LiteralType",
        Node::List(_) => "*ast.ListType",
        Node::Items(_) => "*ast.ObjectType",
    }
}
