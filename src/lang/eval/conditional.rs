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
        let (start, first_branch) = (self.now().values, self.branches.len());
        let yes = self.eval(then, env);
        let yes_diagnostics = self.diagnostics.split_off(start);
        let yes_branches = self.branches.split_off(first_branch);
        let no = self.eval(otherwise, env);
        let no_diagnostics = self.diagnostics.split_off(start);
        let no_branches = self.branches.split_off(first_branch);

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
        let (name, value, part, diagnostics, inner) = match decided.is_true() {
            true => ("true", yes, then, yes_diagnostics, yes_branches),
            false => ("false", no, otherwise, no_diagnostics, no_branches),
        };
        self.diagnostics.extend(diagnostics);
        if self.scope.recorder().is_some() {
            self.branches.extend(inner);
            self.branches.push((expr.span, decided.is_true()));
        }
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use base::source::{Range, SourceFile};
    use terrane_value::Marks;

    use super::*;
    use crate::eval::{EvaluationRecorder, Resolved, Scope, evaluate};
    use crate::syntax::ast::Traversal;
    use crate::syntax::parse_expression;

    /// A scope with the names `yes`, `no`, `secret`, `none` and `later` that records branches.
    #[derive(Default)]
    struct Branches(Mutex<Vec<(String, bool)>>);

    impl EvaluationRecorder for Branches {
        fn record_branch(&self, conditional: Range, holds: bool) {
            self.0.lock().unwrap().push((conditional.text().to_string(), holds));
        }

        fn record_repetition(&self, _: Range, _: bool) {}
    }

    impl Scope for Branches {
        fn resolve(&self, traversal: &Traversal, _: &Arc<SourceFile>) -> Resolved {
            let value = match traversal.root_name() {
                "yes" => Value::bool(true),
                "no" => Value::bool(false),
                "secret" => Value::bool(true).mark(Marks::SENSITIVE),
                "none" => Value::list(Type::list(Type::Number), Vec::new()),
                _ => Value::unknown(Type::Bool),
            };
            Resolved::value(value, 0)
        }

        fn recorder(&self) -> Option<&dyn EvaluationRecorder> {
            Some(self)
        }
    }

    fn branches(text: &str) -> Vec<(String, bool)> {
        let (expr, _) = parse_expression(SourceFile::new("t", text));
        let scope = Branches::default();
        let _ = evaluate(&expr, &scope);
        scope.0.into_inner().unwrap()
    }

    fn check(cases: &[(&str, &[(&str, bool)])]) {
        for (text, expected) in cases {
            let found = branches(text);
            let found: Vec<(&str, bool)> = found.iter().map(|(text, holds)| (text.as_str(), *holds)).collect();
            assert_eq!(found, *expected, "{text}");
        }
    }

    #[test]
    fn branches_of_used_results_are_recorded() {
        check(&[
            ("yes ? 1 : 2", &[("yes ? 1 : 2", true)]),
            ("no ? 1 : 2", &[("no ? 1 : 2", false)]),
            ("[for x in [yes, no] : x ? 1 : 2]", &[("x ? 1 : 2", true), ("x ? 1 : 2", false)]),
            ("(yes ? no : yes) ? 1 : 2", &[("yes ? no : yes", true), ("(yes ? no : yes) ? 1 : 2", false)]),
            // The result that is not taken is evaluated for its type only.
            ("no ? (yes ? 1 : 2) : 3", &[("no ? (yes ? 1 : 2) : 3", false)]),
            ("yes ? (no ? 1 : 2) : 3", &[("no ? 1 : 2", false), ("yes ? (no ? 1 : 2) : 3", true)]),
            ("later ? (yes ? 1 : 2) : 3", &[]),
            ("yes ? 1 : [true]", &[]),
            ("secret ? 1 : 2", &[("secret ? 1 : 2", true)]),
            // A splat of nothing evaluates the key for the type of its elements.
            ("none[*][yes ? 0 : 1]", &[]),
        ]);
    }

    #[test]
    fn directives_are_recorded() {
        check(&[
            ("\"a%{ if no }b%{ else }c%{ endif }\"", &[("%{ if no }b%{ else }c%{ endif }", false)]),
            ("\"a${\"%{ if yes }b%{ endif }\"}\"", &[("%{ if yes }b%{ endif }", true)]),
            (
                "\"%{ for x in [yes, no] }%{ if x }b%{ endif }%{ endfor }\"",
                &[("%{ if x }b%{ endif }", true), ("%{ if x }b%{ endif }", false)],
            ),
            ("\"%{ if secret }b%{ endif }\"", &[("%{ if secret }b%{ endif }", true)]),
            ("\"%{ if later }${ yes ? 1 : 2 }%{ endif }\"", &[]),
            ("\"%{ if null }b%{ endif }\"", &[]),
        ]);
    }

    #[test]
    fn clauses_record_kept_and_omitted_elements() {
        check(&[
            ("[for x in [yes, yes] : 1 if x]", &[("x]", true)]),
            ("[for x in [no] : (yes ? 1 : 2) if x]", &[("x]", false)]),
            ("[for x in [yes, no] : 1 if x]", &[("x]", true), ("x]", false)]),
            ("{ for k, x in { a = no, b = yes } : k => x... if x }", &[("x }", true), ("x }", false)]),
            ("[for x in [yes, no] : x]", &[]),
            ("[for x in [secret] : 1 if x]", &[("x]", true)]),
            // An unknown condition decides nothing, an element before or behind it does.
            ("[for x in [later] : 1 if x]", &[]),
            ("[for x in [later, no] : 1 if x]", &[("x]", false)]),
            // A conditional as a clause, and its result.
            ("[for x in [no] : 1 if x ? no : yes]", &[("x ? no : yes", false), ("x ? no : yes]", true)]),
            // The condition is evaluated once without an element, to find errors.
            ("[for x in [] : 1 if (yes ? x : no)]", &[]),
            ("[for x in [yes] : 1 if (yes ? x : no)]", &[("yes ? x : no", true), ("(yes ? x : no)]", true)]),
            ("[for x in later : 1 if x]", &[]),
            ("[for x in [yes] : 1 if null]", &[]),
            // In a result that is not taken.
            ("no ? [for x in [yes] : x if x] : [no]", &[("no ? [for x in [yes] : x if x] : [no]", false)]),
        ]);
    }
}
