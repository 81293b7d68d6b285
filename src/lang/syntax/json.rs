//! The tree of JSON syntax, and what it is as expressions. Knows no schema: whether a property is an argument or a kind of
//! block is up to who reads the body.

use std::sync::{Arc, OnceLock};

use base::diag::Diagnostics;
use base::source::{SourceFile, Span};

use super::ast::{Call, Expr, ExprKind, Expression, ObjectItem, Traversal};
use super::parser;

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
    expr: OnceLock<Arc<Expr>>,
}

impl Member {
    pub fn new(name: Text, name_span: Span, value: Arc<Node>) -> Member {
        Member { name, name_span, value, expr: OnceLock::new() }
    }

    /// The value as an expression, made once.
    pub fn expression(&self, file: &Arc<SourceFile>) -> Expression {
        let node = self.expr.get_or_init(|| Arc::new(expression(&self.value, file))).clone();
        Expression { file: file.clone(), node }
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
    traversal: OnceLock<Option<Traversal>>,
    native: OnceLock<Option<Arc<Expr>>>,
}

#[derive(Debug)]
pub enum JsonTemplate {
    /// Nothing in it needs evaluation.
    Plain,
    Parsed(Arc<Expr>),
    /// What is wrong with it, said whenever it is evaluated.
    Broken(Diagnostics),
}

impl JsonString {
    pub fn new(text: &Text, file: &Arc<SourceFile>) -> JsonString {
        let template = match text.text.contains("${") || text.text.contains("%{") {
            false => JsonTemplate::Plain,
            true => {
                let (expr, problems) = parser::json::template(text, file);
                if problems.has_errors() { JsonTemplate::Broken(problems) } else { JsonTemplate::Parsed(expr) }
            }
        };
        JsonString {
            text: text.text.clone(),
            template,
            offsets: text.offsets.clone(),
            traversal: OnceLock::new(),
            native: OnceLock::new(),
        }
    }

    fn source(&self) -> Text {
        Text { text: self.text.clone(), offsets: self.offsets.clone() }
    }

    /// The text as a reference, if it is one.
    pub fn traversal(&self, file: &Arc<SourceFile>) -> Option<&Traversal> {
        self.traversal.get_or_init(|| parser::json::traversal(&self.source(), file)).as_ref()
    }

    /// The text as a call, if it is one.
    pub fn call(&self, file: &Arc<SourceFile>) -> Option<&Call> {
        let parse = || {
            let (expr, problems) = parser::json::native(&self.source(), file);
            (!problems.has_errors()).then_some(expr)
        };
        match self.native.get_or_init(parse).as_deref().map(|e| &e.kind) {
            Some(ExprKind::Call(call)) => Some(call),
            _ => None,
        }
    }

    /// The text as an expression in native syntax.
    pub fn native(&self, file: &Arc<SourceFile>) -> (Expression, Diagnostics) {
        let (node, problems) = parser::json::native(&self.source(), file);
        (Expression { file: file.clone(), node }, problems)
    }
}

/// A value as an expression.
fn expression(node: &Node, file: &Arc<SourceFile>) -> Expr {
    let string = |text: &Text| ExprKind::JsonString(Box::new(JsonString::new(text, file)));
    let kind = match &node.kind {
        NodeKind::Null => ExprKind::Null,
        NodeKind::Bool(b) => ExprKind::Bool(*b),
        NodeKind::Number(text) => ExprKind::Number(text.clone()),
        NodeKind::String(text) => string(text),
        NodeKind::Array { items, open } => {
            let elements = items.iter().map(|item| Arc::new(expression(item, file))).collect();
            ExprKind::Tuple { elements, open: *open }
        }
        NodeKind::Object(object) => {
            let item = |member: &Arc<Member>| ObjectItem {
                key: Arc::new(Expr::new(member.name_span, string(&member.name))),
                value: Arc::new(expression(&member.value, file)),
            };
            ExprKind::JsonObject { items: object.members.iter().map(item).collect(), open: object.open }
        }
        NodeKind::Invalid => ExprKind::Error,
    };
    Expr::new(node.span, kind)
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
