//! Expressions that must be constant: no variables, no functions, of a given simple type.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::{Range, SourceFile, Span};
use lang::eval::{Resolved, Scope, constant, evaluate};
use lang::syntax::ast::{Attribute, Expr, ExprKind, Expression, TemplatePart, Traversal};
use lang::syntax::syntax_errors::{no_functions, no_variables};
use terrane_value::{Type, Value, convert};

use crate::model_errors::UNSUITABLE_VALUE;

/// The value of an expression in which nothing can be referred to.
pub fn value(expr: &Expression) -> (Value, Diagnostics) {
    match expr.kind() {
        ExprKind::Bool(b) => return (Value::bool(*b), Diagnostics::new()),
        ExprKind::Null => return (Value::null(Type::Dynamic), Diagnostics::new()),
        // JSON strings are no templates here.
        ExprKind::JsonString(_) | ExprKind::JsonObject { .. } => return evaluate(expr, &NoNames),
        ExprKind::Tuple { .. } if expr.is_json() => return evaluate(expr, &NoNames),
        ExprKind::Template(t) => {
            if let Some(text) = t.as_literal() {
                return (Value::string(text), Diagnostics::new());
            }
        }
        _ => {}
    }
    let (value, errors) = constant(expr);
    if value.is_wholly_known() && !errors.has_errors() {
        return (value, errors);
    }
    let calls = expr.functions();
    if let Some(call) = calls.first() {
        let span = call.name_span.to(call.close);
        return (Value::dynamic(), no_functions(expr.range_of(span)).into());
    }
    evaluate(expr, &NoNames)
}

/// True for an expression that neither refers to anything nor calls functions.
pub fn is_constant(expr: &Expression) -> bool {
    expr.variables().is_empty() && expr.functions().is_empty()
}

/// A scope without names and functions.
pub struct NoNames;

impl Scope for NoNames {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        Resolved::error(no_variables().at(traversal.root.span.in_file(file)))
    }

    fn templates(&self) -> bool {
        false
    }
}

/// A constant string; none if it is not one, which is reported.
pub fn string(attribute: &Attribute, diags: &mut Diagnostics) -> Option<String> {
    string_of(&attribute.expr, diags)
}

pub fn string_of(expr: &Expression, diags: &mut Diagnostics) -> Option<String> {
    simple(expr, &Type::String, diags)?.as_str().map(str::to_owned)
}

/// A constant bool; none if it is not one, which is reported.
pub fn bool(attribute: &Attribute, diags: &mut Diagnostics) -> Option<bool> {
    simple(&attribute.expr, &Type::Bool, diags)?.as_bool()
}

fn simple(expr: &Expression, ty: &Type, diags: &mut Diagnostics) -> Option<Value> {
    let value = diags.take(value(expr));
    let problem = match convert::convert(&value, ty) {
        Ok(v) if v.is_null() => "null value is not allowed".to_owned(),
        Ok(v) if !v.is_known() => "value must be known".to_owned(),
        Ok(v) => return Some(v),
        Err(e) => e.to_string(),
    };
    diags.push(
        Diagnostic::error(UNSUITABLE_VALUE, format!("Unsuitable value: {problem}"))
            .at(start_range(expr))
            .within(expr.range()),
    );
    None
}

/// The part of an expression that messages underline when the whole would be too much.
pub fn start_range(expr: &Expression) -> Range {
    expr.range_of(start_span(&expr.node))
}

fn start_span(expr: &Expr) -> Span {
    match &expr.kind {
        ExprKind::Template(t) => match t.parts.first() {
            Some(TemplatePart::Literal { span, .. }) => *span,
            Some(TemplatePart::Interpolation(e) | TemplatePart::Directive(e)) if t.parts.len() > 1 => start_span(e),
            _ => expr.span,
        },
        ExprKind::RelativeTraversal { source, .. } | ExprKind::Splat { source, .. } => start_span(source),
        ExprKind::Index { collection, .. } => start_span(collection),
        ExprKind::Call(call) => call.name_span.to(call.open),
        ExprKind::Conditional { condition, .. } => start_span(condition),
        ExprKind::Binary { .. } => start_span(expr.chain().1),
        ExprKind::Unary { op_span, .. } => *op_span,
        ExprKind::Tuple { open, .. } | ExprKind::Object { open, .. } | ExprKind::JsonObject { open, .. } => *open,
        ExprKind::For(f) => f.open,
        _ => expr.span,
    }
}

#[cfg(test)]
mod tests {
    use lang::syntax::parse_file;

    use super::*;

    /// Observed: what is in a branch that is not taken means nothing, and does not matter.
    #[test]
    fn names_and_functions_count_only_where_they_are_needed() {
        let cases = [
            ("true ? \"a\" : upper(\"b\")", ""),
            ("true ? \"a\" : var.b", ""),
            ("upper(\"a\")", "Function calls not allowed"),
            ("false ? \"a\" : upper(\"b\")", "Function calls not allowed"),
            ("var.a", "Variables not allowed"),
            ("false && var.a", "Variables not allowed"),
            ("\"a${null}\"", "Invalid template interpolation value"),
        ];
        for (text, expected) in cases {
            let (body, problems) = parse_file(SourceFile::new("t", format!("a = {text}")));
            assert!(problems.is_empty(), "{problems:?}");
            let (_, found) = value(&body.just_attributes().0["a"].expr);
            assert_eq!(found.iter().map(|d| &*d.summary).collect::<String>(), expected, "{text}");
        }
    }
}
