//! Moves a freshly parsed tree to where its text stands in a larger file.

use std::sync::Arc;

use base::source::Span;

use super::super::ast::{Expr, ExprKind, Ident, TemplatePart, Traversal, TraversalStep};

/// From an offset in the text that was parsed to one in the file.
type ToFile<'p> = &'p dyn Fn(u32) -> u32;

pub fn span(span: Span, place: ToFile<'_>) -> Span {
    Span { start: place(span.start), end: place(span.end) }
}

fn all<'s>(spans: impl IntoIterator<Item = &'s mut Span>, place: ToFile<'_>) {
    spans.into_iter().for_each(|s| *s = span(*s, place));
}

pub fn traversal(found: &mut Traversal, place: ToFile<'_>) {
    all([&mut found.span, &mut found.root.span], place);
    steps(&mut found.steps, place);
}

fn steps(steps: &mut [TraversalStep], place: ToFile<'_>) {
    for step in steps {
        match step {
            TraversalStep::Attr { name: Ident { span: inner, .. }, span } => all([inner, span], place),
            TraversalStep::Index { span, .. } | TraversalStep::Splat { span } => all([span], place),
        }
    }
}

/// As deep as the tree is high, which the parser limits.
pub fn expr(found: &mut Expr, place: ToFile<'_>) {
    let mut found = found;
    // Along a chain of operators in a loop.
    while matches!(found.kind, ExprKind::Binary { .. }) {
        all([&mut found.span], place);
        let ExprKind::Binary { left, right, op_span, .. } = &mut found.kind else { return };
        all([op_span], place);
        child(right, place);
        let Some(first) = Arc::get_mut(left) else { return };
        found = first;
    }
    all([&mut found.span], place);
    shift_parts(found, place);
}

fn shift_parts(found: &mut Expr, place: ToFile<'_>) {
    match &mut found.kind {
        ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Null | ExprKind::SplatItem | ExprKind::Error => {}
        ExprKind::JsonString(_) | ExprKind::JsonObject { .. } => {}
        ExprKind::Template(template) => template.parts.iter_mut().for_each(|part| match part {
            TemplatePart::Literal { span, .. } => all([span], place),
            TemplatePart::Interpolation(inner) | TemplatePart::Directive(inner) => child(inner, place),
        }),
        ExprKind::TemplateJoin(inner) | ExprKind::Parens(inner) => child(inner, place),
        ExprKind::Variable(inner) => traversal(inner, place),
        ExprKind::RelativeTraversal { source, steps: behind } => {
            child(source, place);
            steps(behind, place);
        }
        ExprKind::Index { collection, key, brackets: at } => {
            all([at], place);
            children([collection, key], place);
        }
        ExprKind::Splat { source, each, marker: at, .. } => {
            all([at], place);
            children([source, each], place);
        }
        ExprKind::Binary { left, right, .. } => children([left, right], place),
        ExprKind::Unary { operand, op_span: at, .. } => {
            all([at], place);
            child(operand, place);
        }
        ExprKind::Call(call) => {
            all([&mut call.name_span, &mut call.open, &mut call.close], place);
            children(&mut call.args, place);
        }
        ExprKind::Conditional { condition, then, otherwise } => children([condition, then, otherwise], place),
        ExprKind::Tuple { elements, open } => {
            all([open], place);
            children(elements, place);
        }
        ExprKind::Object { items, open } => {
            all([open], place);
            items.iter_mut().for_each(|item| children([&mut item.key, &mut item.value], place));
        }
        ExprKind::For(inner) => {
            all([&mut inner.open, &mut inner.close, &mut inner.value_var.span], place);
            all(inner.key_var.iter_mut().map(|k| &mut k.span), place);
            children([&mut inner.collection, &mut inner.value], place);
            children(inner.key.iter_mut().chain(&mut inner.condition), place);
        }
    }
}

fn children<'e>(found: impl IntoIterator<Item = &'e mut Arc<Expr>>, place: ToFile<'_>) {
    found.into_iter().for_each(|inner| child(inner, place));
}

/// A new tree from the parser has no other owner.
fn child(found: &mut Arc<Expr>, place: ToFile<'_>) {
    match Arc::get_mut(found) {
        Some(inner) => expr(inner, place),
        None => debug_assert!(false, "a node is shared"),
    }
}
