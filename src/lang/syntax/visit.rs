//! Questions about an expression that need no evaluation: is it a traversal, a list, a keyword; what does it refer to.

use std::sync::Arc;

use super::ast::{Call, Expr, ExprKind, Expression, ForExpr, TemplatePart, Traversal};
use super::json::JsonTemplate;

impl Expression {
    /// The traversal, if the expression is nothing else.
    pub fn as_traversal(&self) -> Option<&Traversal> {
        match &self.node.kind {
            ExprKind::Variable(t) => Some(t),
            ExprKind::JsonString(s) => s.traversal(&self.file),
            _ => None,
        }
    }

    /// The elements of a tuple constructor.
    pub fn as_static_list(&self) -> Option<Vec<Expression>> {
        match &self.node.kind {
            ExprKind::Tuple { elements, .. } => Some(elements.iter().map(|e| self.part(e)).collect()),
            _ => None,
        }
    }

    /// The items of an object constructor.
    pub fn as_static_map(&self) -> Option<Vec<(Expression, Expression)>> {
        match &self.node.kind {
            ExprKind::Object { items, .. } | ExprKind::JsonObject { items, .. } => {
                Some(items.iter().map(|i| (self.part(&i.key), self.part(&i.value))).collect())
            }
            _ => None,
        }
    }

    /// A lone name, as in `provider = aws`, or one of the literal words `true`, `false` and `null`.
    pub fn as_keyword(&self) -> Option<&str> {
        match &self.node.kind {
            ExprKind::Variable(t) if t.steps.is_empty() => Some(&t.root.name),
            ExprKind::Bool(true) if !self.is_json() => Some("true"),
            ExprKind::Bool(false) if !self.is_json() => Some("false"),
            ExprKind::Null if !self.is_json() => Some("null"),
            ExprKind::JsonString(s) => s.traversal(&self.file).filter(|t| t.steps.is_empty()).map(|t| &*t.root.name),
            _ => None,
        }
    }

    pub fn as_call(&self) -> Option<&Call> {
        match &self.node.kind {
            ExprKind::Call(call) => Some(call),
            ExprKind::JsonString(s) => s.call(&self.file),
            _ => None,
        }
    }

    /// The text of a string without interpolations; of any string in JSON syntax.
    pub fn as_literal_string(&self) -> Option<Arc<str>> {
        match &self.node.kind {
            ExprKind::JsonString(s) => Some(s.text.clone()),
            ExprKind::Template(t) => t.as_literal(),
            _ => None,
        }
    }

    /// The traversals that the expression reads, in source order, without those whose root a `for` binds.
    pub fn variables(&self) -> Vec<&Traversal> {
        variables_of(&self.node)
    }

    /// The calls in the expression, outer before inner.
    pub fn functions(&self) -> Vec<&Call> {
        let mut found = Vec::new();
        walk_calls(&self.node, &mut found);
        found
    }
}

/// As [`Expression::variables`], for a part of one.
pub fn variables_of(expr: &Expr) -> Vec<&Traversal> {
    let mut found = Vec::new();
    walk_variables(expr, &mut Vec::new(), &mut found);
    found
}

fn walk_variables<'a>(expr: &'a Expr, bound: &mut Vec<&'a str>, found: &mut Vec<&'a Traversal>) {
    match &expr.kind {
        ExprKind::Variable(t) => {
            if !bound.contains(&t.root_name()) {
                found.push(t);
            }
        }
        ExprKind::For(f) => walk_for(f, bound, found),
        // The words of a type are no names.
        ExprKind::Call(call) if takes_type(call) => {
            call.args.iter().take(1).for_each(|a| walk_variables(a, bound, found))
        }
        kind => each_child(kind, &mut |child| walk_variables(child, bound, found)),
    }
}

fn walk_for<'a>(f: &'a ForExpr, bound: &mut Vec<&'a str>, found: &mut Vec<&'a Traversal>) {
    walk_variables(&f.collection, bound, found);
    let outer = bound.len();
    bound.extend(f.key_var.as_ref().map(|k| k.as_str()));
    bound.push(f.value_var.as_str());
    for part in f.key.iter().chain([&f.value]).chain(f.condition.iter()) {
        walk_variables(part, bound, found);
    }
    bound.truncate(outer);
}

/// Whether the call's second argument is a type: `convert(value, list(string))`.
fn takes_type(call: &Call) -> bool {
    matches!(&*call.name, "convert" | "core::convert") && call.args.len() >= 2
}

fn walk_calls<'a>(expr: &'a Expr, found: &mut Vec<&'a Call>) {
    if let ExprKind::Call(call) = &expr.kind {
        found.push(call);
        if takes_type(call) {
            return walk_calls(&call.args[0], found);
        }
    }
    each_child(&expr.kind, &mut |child| walk_calls(child, found));
}

/// Calls `f` with every expression directly inside one of this kind; literal object keys are not expressions. What is
/// directly inside a chain of operators is its operands, so that walks need not recurse along it.
pub fn each_child<'a>(kind: &'a ExprKind, f: &mut dyn FnMut(&'a Arc<Expr>)) {
    match kind {
        ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Null | ExprKind::Variable(_) => {}
        ExprKind::SplatItem | ExprKind::Error => {}
        ExprKind::JsonString(s) => {
            if let JsonTemplate::Parsed(e) = &s.template {
                f(e);
            }
        }
        ExprKind::JsonObject { items, .. } => items.iter().flat_map(|i| [&i.key, &i.value]).for_each(f),
        ExprKind::Template(t) => t.parts.iter().for_each(|part| match part {
            TemplatePart::Literal { .. } => {}
            TemplatePart::Interpolation(e) | TemplatePart::Directive(e) => f(e),
        }),
        ExprKind::TemplateJoin(e) | ExprKind::Parens(e) | ExprKind::RelativeTraversal { source: e, .. } => f(e),
        ExprKind::Index { collection: a, key: b, .. } | ExprKind::Splat { source: a, each: b, .. } => {
            f(a);
            f(b);
        }
        ExprKind::Binary { left, right, .. } => {
            let mut operands = vec![right];
            let mut first = left;
            while let ExprKind::Binary { left, right, .. } = &first.kind {
                operands.push(right);
                first = left;
            }
            operands.push(first);
            operands.into_iter().rev().for_each(f);
        }
        ExprKind::Unary { operand, .. } => f(operand),
        ExprKind::Call(call) => call.args.iter().for_each(f),
        ExprKind::Conditional { condition, then, otherwise } => [condition, then, otherwise].into_iter().for_each(f),
        ExprKind::Tuple { elements, .. } => elements.iter().for_each(f),
        ExprKind::Object { items, .. } => {
            for item in items {
                if !is_literal_key(&item.key) {
                    f(&item.key);
                }
                f(&item.value);
            }
        }
        ExprKind::For(inner) => {
            let parts = [&inner.collection].into_iter().chain(&inner.key).chain([&inner.value]).chain(&inner.condition);
            parts.for_each(f);
        }
    }
}

/// True for the `a` of `{ a = 1 }`.
pub fn is_literal_key(key: &Expr) -> bool {
    match &key.kind {
        ExprKind::Variable(t) => t.steps.is_empty(),
        ExprKind::Bool(_) | ExprKind::Null => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use base::source::SourceFile;

    use super::*;
    use crate::syntax::parse_expression;

    #[test]
    fn types_are_not_variables() {
        for text in ["convert(a, list(string))", "convert(a, number, 2)"] {
            let (expr, _) = parse_expression(SourceFile::new("t", text));
            let names: Vec<&str> = variables_of(&expr.node).iter().map(|t| t.root_name()).collect();
            assert_eq!(names, ["a"], "{text}");
        }
    }
}
