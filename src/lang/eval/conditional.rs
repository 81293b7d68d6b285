//! `condition ? then : otherwise`: one type for both results, and what can be said while the condition is unknown.

use std::sync::Arc;

use base::diag::Diagnostic;
use terrane_value::convert::convert;
use terrane_value::unify::unify_unsafe;
use terrane_value::{Refinement, Type, Value};

use super::env::Env;
use super::expression::Evaluator;
use crate::syntax::ast::Expr;

const INCONSISTENT: &str = "Inconsistent conditional result types";

impl Evaluator<'_> {
    /// Both results are evaluated, for the sake of the type; diagnostics of the one that is not taken are dropped.
    pub(super) fn conditional(&mut self, expr: &Expr, parts: [&Arc<Expr>; 3], env: Env<'_>) -> Value {
        let [condition, then, otherwise] = parts;
        let start = self.now().values;
        let yes = self.eval(then, env);
        let yes_diagnostics = self.diagnostics.split_off(start);
        let no = self.eval(otherwise, env);
        let no_diagnostics = self.diagnostics.split_off(start);

        let Some(ty) = result_type(&yes, &no) else {
            let detail = format!(
                "The true and false result expressions must have consistent types. {}.",
                mismatch(yes.ty(), no.ty())
            );
            let diagnostic = Diagnostic::error(INCONSISTENT, detail).at(self.range(then.span.to(otherwise.span)));
            self.report(diagnostic, Some(expr.span), expr, env);
            return Value::dynamic();
        };
        let decision = self.eval(condition, env);
        if decision.is_null() {
            let detail = "The condition value is null. Conditions must either be true or false.";
            self.error("Null condition", detail, condition, Some(expr.span), env);
            return Value::unknown(ty);
        }
        if !decision.is_known() {
            let marks = decision.marks() | yes.marks() | no.marks();
            return undecided(&yes.unmark().0, &no.unmark().0, ty).mark(marks);
        }
        let Ok(decided) = convert(&decision, &Type::Bool) else {
            let detail = "The condition expression must be of type bool.";
            self.error("Incorrect condition type", detail, condition, Some(expr.span), env);
            return Value::unknown(ty);
        };
        // The marks of the result that is not taken count too: its absence says something about what it depends on.
        let marks = decision.deep_marks() | yes.marks() | no.marks();
        let (name, value, part, diagnostics) = match decided.is_true() {
            true => ("true", yes, then, yes_diagnostics),
            false => ("false", no, otherwise, no_diagnostics),
        };
        self.diagnostics.extend(diagnostics);
        if ty.is_dynamic() || *value.ty() == ty {
            return value.mark(marks);
        }
        match convert(&value, &ty) {
            Ok(value) => value.mark(marks),
            Err(error) => {
                let detail = format!("The {name} result value has the wrong type: {error}.");
                self.error(INCONSISTENT, detail, part, Some(expr.span), env);
                Value::unknown(ty).mark(marks)
            }
        }
    }
}

/// The type that both results can become; `Dynamic` while one of them is of unknown type.
fn result_type(yes: &Value, no: &Value) -> Option<Type> {
    let untyped_null = |v: &Value| v.is_null() && v.ty().is_dynamic() && !v.has_marks();
    if untyped_null(yes) {
        return Some(no.ty().clone());
    }
    if untyped_null(no) || yes.ty() == no.ty() {
        return Some(yes.ty().clone());
    }
    if yes.ty().is_dynamic() || no.ty().is_dynamic() {
        return Some(Type::Dynamic);
    }
    unify_unsafe(&[yes.ty().clone(), no.ty().clone()])
}

/// The result while the condition is unknown: what holds of both results holds of it.
fn undecided(yes: &Value, no: &Value, ty: Type) -> Value {
    if yes.is_null() && no.is_null() {
        return Value::null(ty);
    }
    if yes.is_null() || no.is_null() {
        return Value::unknown(ty);
    }
    if *yes.ty() == Type::Number && *no.ty() == Type::Number {
        let greater = yes.greater_than(no).ok().and_then(|g| g.as_bool());
        if let Some(greater) = greater {
            let (low, high) = if greater { (no, yes) } else { (yes, no) };
            let mut facts = Refinement::not_null();
            if let Some(low) = low.as_number() {
                facts = facts.with_number_min(low.clone(), true);
            }
            if let Some(high) = high.as_number() {
                facts = facts.with_number_max(high.clone(), true);
            }
            return Value::unknown_refined(ty, facts);
        }
    }
    if yes.ty().is_collection() && yes.ty() == no.ty() {
        let length = |v: &Value| v.length().as_number().and_then(|n| n.as_u64());
        if let (Some(a), Some(b)) = (length(yes), length(no)) {
            return Value::unknown_refined(ty, Refinement::not_null().with_length(a.min(b), Some(a.max(b))));
        }
    }
    match yes.is_definitely_not_null() && no.is_definitely_not_null() {
        true => Value::unknown_not_null(ty),
        false => Value::unknown(ty),
    }
}

/// How two types that do not unify differ, as far inside as that can be said.
fn mismatch(yes: &Type, no: &Type) -> String {
    match (yes, no) {
        (Type::Object(a), Type::Object(b)) => {
            for (name, ty) in &a.attributes {
                match b.attributes.get(name) {
                    None => {
                        return format!(
                            "The 'true' value includes object attribute {name:?}, which is absent in the 'false' value"
                        );
                    }
                    Some(other) if other != ty => {
                        return format!("Type mismatch for object attribute {name:?}: {}", mismatch(ty, other));
                    }
                    Some(_) => {}
                }
            }
            if let Some(name) = b.attributes.keys().find(|name| !a.attributes.contains_key(*name)) {
                return format!(
                    "The 'false' value includes object attribute {name:?}, which is absent in the 'true' value"
                );
            }
        }
        (Type::Tuple(a), Type::Tuple(b)) => {
            if a.len() != b.len() {
                return format!(
                    "The 'true' tuple has length {}, but the 'false' tuple has length {}",
                    a.len(),
                    b.len()
                );
            }
            if let Some((i, (x, y))) = a.iter().zip(b.iter()).enumerate().find(|(_, (x, y))| x != y) {
                return format!("Type mismatch for tuple element {i}: {}", mismatch(x, y));
            }
        }
        (Type::List(a), Type::List(b)) if both_structural(a, b) => {
            return format!("Mismatched list element types: {}", mismatch(a, b));
        }
        (Type::Set(a), Type::Set(b)) if both_structural(a, b) => {
            return format!("Mismatched set element types: {}", mismatch(a, b));
        }
        (Type::Map(a), Type::Map(b)) if both_structural(a, b) => {
            return format!("Mismatched map element types: {}", mismatch(a, b));
        }
        _ => {}
    }
    let (yes, no) = (yes.friendly_name(), no.friendly_name());
    if yes == no {
        return "At least one deeply-nested attribute or element is not compatible across both the 'true' and the 'false' value".into();
    }
    format!("The 'true' value is {yes}, but the 'false' value is {no}")
}

fn both_structural(a: &Type, b: &Type) -> bool {
    a.is_object() && b.is_object() || a.is_tuple() && b.is_tuple()
}
