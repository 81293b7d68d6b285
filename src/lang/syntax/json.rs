//! The tree of JSON syntax. Knows no schema: whether a property is an argument or a kind of block is up to who reads the body.
//! What its values are as expressions, the parser says.

use std::sync::{Arc, OnceLock};

use base::diag::Diagnostics;
use base::source::Span;

use super::ast::{Expr, Traversal};

/// A JSON value.
#[derive(Debug)]
pub struct Node {
    pub span: Span,
    pub kind: NodeKind,
}

#[derive(Debug)]
pub enum NodeKind {
    Null,
    Bool(bool),
    /// The text of a number.
    Number(Arc<str>),
    String(Text),
    Array {
        items: Vec<Arc<Node>>,
        open: Span,
    },
    Object(Object),
    /// What could not be read; the parser reported it.
    Invalid,
}

#[derive(Debug)]
pub struct Object {
    /// In source order, equal names included.
    pub members: Vec<Arc<Member>>,
    pub open: Span,
    pub close: Span,
}

/// `"name": value`.
#[derive(Debug)]
pub struct Member {
    pub name: Text,
    pub name_span: Span,
    pub value: Arc<Node>,
    /// What the parser makes of the value, once it is asked for.
    pub(super) expr: OnceLock<Arc<Expr>>,
}

impl Member {
    pub fn new(name: Text, name_span: Span, value: Arc<Node>) -> Member {
        Member { name, name_span, value, expr: OnceLock::new() }
    }
}

impl Node {
    /// The first token: what messages about a value of the wrong kind point to.
    pub fn start_span(&self) -> Span {
        match &self.kind {
            NodeKind::Array { open, .. } => *open,
            NodeKind::Object(object) => object.open,
            _ => self.span,
        }
    }
}

/// The content of a string, and where in the file each of its bytes is written.
#[derive(Clone, Debug)]
pub struct Text {
    pub text: Arc<str>,
    pub offsets: Offsets,
}

/// From offsets in the content of a string to offsets in the file.
#[derive(Clone, Debug, Default)]
pub struct Offsets {
    /// Of the first byte behind the quote.
    pub start: u32,
    /// Behind each escape sequence: the offsets in the content and in the file.
    pub jumps: Vec<(u32, u32)>,
}

impl Offsets {
    pub fn in_file(&self, offset: u32) -> u32 {
        let behind = self.jumps.partition_point(|(decoded, _)| *decoded <= offset);
        match behind.checked_sub(1).and_then(|i| self.jumps.get(i)) {
            Some((decoded, written)) => written + (offset - decoded),
            None => self.start + offset,
        }
    }
}

/// A string as an expression: a template where it is evaluated in a scope, its text where it must be constant, and
/// something in native syntax where a reference, a keyword or a call is asked for.
#[derive(Debug)]
pub struct JsonString {
    pub text: Arc<str>,
    pub template: JsonTemplate,
    pub offsets: Offsets,
    /// What the parser makes of the text, once it is asked for.
    pub(super) traversal: OnceLock<Option<Traversal>>,
    pub(super) native: OnceLock<Option<Arc<Expr>>>,
}

#[derive(Debug)]
pub enum JsonTemplate {
    /// Nothing in it needs evaluation.
    Plain,
    Parsed(Arc<Expr>),
    /// What is wrong with it, said whenever it is evaluated.
    Broken(Diagnostics),
}

/// Where in the tree a byte is: `resource.x.y`, `moved[0].from`; empty at the top.
pub fn context(root: &Node, byte: usize) -> String {
    let inside = |node: &Node| {
        matches!(node.kind, NodeKind::Array { .. } | NodeKind::Object(_))
            && (node.span.start as usize..node.span.end as usize).contains(&byte)
    };
    let mut steps = String::new();
    let mut node = root;
    loop {
        let next = match &node.kind {
            NodeKind::Object(object) => object.members.iter().find(|m| inside(&m.value)).map(|member| {
                if !steps.is_empty() {
                    steps.push('.');
                }
                steps.push_str(&member.name.text);
                &member.value
            }),
            NodeKind::Array { items, .. } => {
                items.iter().enumerate().find(|(_, item)| inside(item)).map(|(i, item)| {
                    steps.push_str(&format!("[{i}]"));
                    item
                })
            }
            _ => None,
        };
        match next {
            Some(inner) => node = inner,
            None => return steps,
        }
    }
}
