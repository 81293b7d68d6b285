//! Rules about `count`.

use lang::syntax::ast::{Expr, ExprKind};
use terrane_value::Number;

use super::Finding;
use crate::config::{Module, Resource};

/// Resources with `count` that have one instance or none, as `enabled` in a `lifecycle` block says without an index.
pub fn find(module: &Module) -> Vec<Finding> {
    module.resources.values().filter_map(find_in).collect()
}

fn find_in(resource: &Resource) -> Option<Finding> {
    let count = resource.count.as_ref().filter(|count| !count.is_json())?;
    outcomes(&count.node)?;
    Some(Finding {
        detail: format!(
            "{:?} uses \"count\" to choose between zero or one instances using a boolean expression. Consider using \"enabled\" in a \
             \"lifecycle\" block instead.",
            resource.addr.to_string()
        ),
        at: count.range(),
        within: Some(resource.range.clone()),
    })
}

/// The numbers that an expression may give.
#[derive(Clone, Copy)]
struct Outcomes {
    zero: bool,
    one: bool,
}

/// None, unless the expression is zero or one by its form: literals and choices between them.
fn outcomes(expr: &Expr) -> Option<Outcomes> {
    match &expr.kind {
        ExprKind::Number(text) => {
            let number = Number::parse(text)?;
            let (zero, one) = (number.is_zero(), number == Number::literal(1));
            (zero || one).then_some(Outcomes { zero, one })
        }
        ExprKind::Parens(inner) => outcomes(inner),
        ExprKind::Conditional { then, otherwise, .. } => {
            let (then, otherwise) = (outcomes(then)?, outcomes(otherwise)?);
            let differ = (then.zero && otherwise.one) || (then.one && otherwise.zero);
            differ.then_some(Outcomes { zero: true, one: true })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{details, details_of};

    const ID: &str = "core:count-instead-enabled";

    #[test]
    fn counts_of_zero_or_one_are_found() {
        let cases = [
            ("0", true),
            ("1", true),
            ("1.0", true),
            ("(1)", true),
            ("var.a ? 1 : 0", true),
            ("var.a ? 0 : 1", true),
            ("var.a ? 1e0 : 0", true),
            ("(var.a ? (1) : 0)", true),
            ("var.a ? (var.b ? 1 : 0) : 0", true),
            ("var.a ? 0 : var.b ? 1 : 0", true),
            ("2", false),
            ("-1", false),
            ("\"1\"", false),
            ("\"${var.a ? 1 : 0}\"", false),
            ("var.a ? 1 : 1", false),
            ("var.a ? 1 : 2", false),
            ("var.a ? 1 : var.b", false),
            ("var.a ? (var.b ? 1 : 2) : 0", false),
            ("var.n", false),
            ("length(var.a)", false),
        ];
        for (count, is_found) in cases {
            for (kind, addr) in [("resource", "t.a"), ("data", "data.t.a"), ("ephemeral", "ephemeral.t.a")] {
                let found = details(ID, &format!("{kind} \"t\" \"a\" {{\n count = {count}\n}}"));
                assert_eq!(found.len(), usize::from(is_found), "{kind} {count}");
                assert!(found.iter().all(|text| text.starts_with(&format!("{addr:?} uses \"count\""))), "{found:?}");
            }
        }
    }

    #[test]
    fn other_repetitions_are_not_found() {
        for text in [
            "resource \"t\" \"a\" {}",
            "resource \"t\" \"a\" {\n for_each = var.a ? [1] : [0]\n}",
            "resource \"t\" \"a\" {\n lifecycle {\n  replace_triggered_by = [t.b]\n }\n}",
            "module \"m\" {\n source = \"./m\"\n count = 1\n}",
        ] {
            assert!(details(ID, text).is_empty(), "{text}");
        }
        let json = r#"{"resource": {"t": {"a": {"count": 1}}}}"#;
        assert!(details_of(ID, &[("main.tf.json", json)]).is_empty());
    }
}
