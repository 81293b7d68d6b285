//! What values of JSON syntax are as expressions. Strings are parsed when they are asked for, as what is asked for.

use std::sync::{Arc, OnceLock};

use base::diag::Diagnostics;
use base::source::SourceFile;

use super::super::ast::{Call, Expr, ExprKind, Expression, ObjectItem, Traversal};
use super::super::json::{JsonString, JsonTemplate, Member, Node, NodeKind, Text};
use super::json;

impl Member {
    /// The value as an expression, made once.
    pub fn expression(&self, file: &Arc<SourceFile>) -> Expression {
        let node = self.expr.get_or_init(|| Arc::new(expression(&self.value, file))).clone();
        Expression { file: file.clone(), node }
    }
}

impl JsonString {
    pub fn new(text: &Text, file: &Arc<SourceFile>) -> JsonString {
        let template = match text.text.contains("${") || text.text.contains("%{") {
            false => JsonTemplate::Plain,
            true => {
                let (expr, problems) = json::template(text, file);
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
        self.traversal.get_or_init(|| json::traversal(&self.source(), file)).as_ref()
    }

    /// The text as a call, if it is one.
    pub fn call(&self, file: &Arc<SourceFile>) -> Option<&Call> {
        let parse = || {
            let (expr, problems) = json::native(&self.source(), file);
            (!problems.has_errors()).then_some(expr)
        };
        match self.native.get_or_init(parse).as_deref().map(|e| &e.kind) {
            Some(ExprKind::Call(call)) => Some(call),
            _ => None,
        }
    }

    /// The text as an expression in native syntax.
    pub fn native(&self, file: &Arc<SourceFile>) -> (Expression, Diagnostics) {
        let (node, problems) = json::native(&self.source(), file);
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
