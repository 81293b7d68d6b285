//! What the names in an expression were when it failed: the lines under the snippet of a message.
//!
//! Messages about false assertions of tests show whole values, all others only a few words.

use std::sync::Arc;

use base::diag::{Diagnostic, ExpressionValue};
use base::source::SourceFile;
use terrane_value::json::write_string;
use terrane_value::text::go_quoted;
use terrane_value::{Marks, PathStep, Type, Value};

use super::env::{Env, bound};
use super::scope::Scope;
use super::steps::apply_step;
use crate::functions::redaction::placeholder;
use crate::syntax::ast::{Expr, Expression, IndexKey, Traversal, TraversalStep};

/// Why a message is given. Values that did not cause it are left out, lest people think they did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes {
    pub unknown: bool,
    pub sensitive: bool,
    pub ephemeral: bool,
}

/// The diagnostic with the values of the names in an expression.
pub fn with_values(diagnostic: Diagnostic, expression: &Expression, scope: &dyn Scope) -> Diagnostic {
    with_causes(diagnostic, expression, scope, Causes::default())
}

/// As `with_values`, for a message about unknown, sensitive or ephemeral values.
pub fn with_causes(
    mut diagnostic: Diagnostic,
    expression: &Expression,
    scope: &dyn Scope,
    causes: Causes,
) -> Diagnostic {
    let of_value = |value: &Value| statement(value, causes);
    diagnostic.values = describe(&expression.node, scope, &expression.file, None, &of_value);
    diagnostic
}

/// The diagnostic of a false assertion, with the whole values of the names in it: what is known of them as [`indented_json`], also if
/// they are sensitive or ephemeral.
pub fn with_whole_values(mut diagnostic: Diagnostic, expression: &Expression, scope: &dyn Scope) -> Diagnostic {
    let all = Causes { unknown: true, sensitive: true, ephemeral: true };
    let of_value = |value: &Value| match value.is_known() {
        true => Some(format!("is {}", indented_json(value))),
        false => statement(value, all),
    };
    diagnostic.values = describe(&expression.node, scope, &expression.file, None, &of_value);
    diagnostic
}

pub(super) fn values_in(expr: &Expr, scope: &dyn Scope, file: &Arc<SourceFile>, env: Env<'_>) -> Vec<ExpressionValue> {
    describe(expr, scope, file, env, &|value| statement(value, Causes::default()))
}

fn describe(
    expr: &Expr,
    scope: &dyn Scope,
    file: &Arc<SourceFile>,
    env: Env<'_>,
    of_value: &dyn Fn(&Value) -> Option<String>,
) -> Vec<ExpressionValue> {
    let mut found: Vec<ExpressionValue> = Vec::new();
    for traversal in crate::syntax::visit::variables_of(expr) {
        let Some((shown, value)) = longest_valid(traversal, scope, file, env) else { continue };
        if found.iter().any(|v| v.traversal == shown) {
            continue;
        }
        if let Some(statement) = of_value(&value) {
            found.push(ExpressionValue { traversal: shown, statement });
        }
    }
    found.sort_by(|a, b| a.traversal.cmp(&b.traversal));
    found
}

/// The longest prefix of a traversal that has a value, and at least one step.
fn longest_valid(
    traversal: &Traversal,
    scope: &dyn Scope,
    file: &Arc<SourceFile>,
    env: Env<'_>,
) -> Option<(String, Value)> {
    let (mut value, consumed) = match bound(env, traversal.root_name()) {
        Some(value) => (value.clone(), 0),
        None => {
            let resolved = scope.resolve(traversal, file);
            if resolved.diagnostics.has_errors() {
                return None;
            }
            (resolved.value, resolved.consumed.min(traversal.steps.len()))
        }
    };
    let mut valid = consumed;
    for step in &traversal.steps[consumed..] {
        match apply_step(&value, step) {
            Ok(next) => value = next,
            Err(_) => break,
        }
        valid += 1;
    }
    (valid > 0).then(|| (show(traversal, valid), value))
}

fn show(traversal: &Traversal, steps: usize) -> String {
    let mut text = traversal.root_name().to_string();
    for step in &traversal.steps[..steps] {
        match step {
            TraversalStep::Attr { name, .. } => {
                text.push('.');
                text.push_str(&name.name);
            }
            TraversalStep::Index { key: IndexKey::Number(n), .. } => {
                text.push_str(&format!("[{n}]"));
            }
            TraversalStep::Index { key: IndexKey::String(key), .. } => {
                text.push_str(&format!("[{}]", go_quoted(key)));
            }
            TraversalStep::Splat { .. } => text.push_str("[...]"),
        }
    }
    text
}

/// What to say of a value; nothing if it did not cause the message.
fn statement(value: &Value, causes: Causes) -> Option<String> {
    if value.marks().contains(Marks::SENSITIVE) {
        return match value.marks().contains(Marks::EPHEMERAL) {
            true => (causes.sensitive && causes.ephemeral).then(|| "has an ephemeral, sensitive value".into()),
            false => causes.sensitive.then(|| "has a sensitive value".into()),
        };
    }
    if value.marks().contains(Marks::EPHEMERAL) {
        return causes.ephemeral.then(|| "has an ephemeral value".into());
    }
    if value.is_known() {
        return Some(format!("is {}", compact(value)));
    }
    match (value.ty(), causes.unknown) {
        (Type::Dynamic, true) => Some("will be known only after apply".into()),
        (Type::Dynamic, false) => None,
        (ty, false) => Some(format!("is a {}", ty.friendly_name())),
        (ty, true) => Some(format!("is a {}{}, known only after apply", ty.friendly_name(), length(value))),
    }
}

/// What is known of the length of an unknown collection.
fn length(value: &Value) -> String {
    const NOT_WORTH_SHOWING: u64 = 1024;
    let Some(facts) = value.refinement().filter(|_| value.ty().is_collection()) else { return String::new() };
    let max = facts.length_max.filter(|max| *max <= NOT_WORTH_SHOWING);
    match (facts.length_min, max) {
        (min, Some(max)) if min == max => format!(" of length {min}"),
        (0, Some(max)) => format!(" with up to {max} elements"),
        (0, None) => String::new(),
        (min, Some(max)) => format!(" with between {min} and {max} elements"),
        (min, None) => format!(" with at least {min} elements"),
    }
}

/// A value in a few words. Elements are never shown: they may be sensitive where the whole is not.
pub fn compact(value: &Value) -> String {
    if value.is_null() {
        return "null".into();
    }
    if let Some(b) = value.as_bool() {
        return b.to_string();
    }
    if let Some(number) = value.as_number() {
        return number.to_general_text(10);
    }
    if let Some(text) = value.as_str() {
        return go_quoted(text);
    }
    match (value.ty(), value.len()) {
        (Type::Object(_), 0) => "object with no attributes".into(),
        (Type::Object(_), 1) => {
            let name = value.entries().keys().next().map_or("", |name| name);
            format!("object with 1 attribute {}", go_quoted(name))
        }
        (Type::Object(_), n) => format!("object with {n} attributes"),
        (ty, 0) => format!("empty {}", ty.friendly_name()),
        (ty, 1) => format!("{} with 1 element", ty.friendly_name()),
        (ty, n) => format!("{} with {n} elements", ty.friendly_name()),
    }
}

/// A value as JSON with an indent of two spaces. Parts that are sensitive, ephemeral or unknown are replaced by texts such as `(sensitive value)`.
pub fn indented_json(value: &Value) -> String {
    let mut out = String::new();
    write_indented(value, 0, &mut out);
    out
}

fn write_indented(value: &Value, depth: usize, out: &mut String) {
    if let Some(text) = redaction(value) {
        write_string(text, out);
    } else if value.is_null() {
        out.push_str("null");
    } else if let Some(text) = value.as_str() {
        write_string(text, out);
    } else if let Some(number) = value.as_number() {
        out.push_str(&number.to_string());
    } else if let Some(b) = value.as_bool() {
        out.push_str(if b { "true" } else { "false" });
    } else {
        write_parts(value, depth, out);
    }
}

/// What stands for a value that is not shown.
fn redaction(value: &Value) -> Option<&'static str> {
    placeholder(value.marks()).or_else(|| (!value.is_known()).then_some("(not yet known)"))
}

fn write_parts(value: &Value, depth: usize, out: &mut String) {
    let is_mapping = matches!(value.ty(), Type::Map(_) | Type::Object(_));
    let (open, close) = if is_mapping { ('{', '}') } else { ('[', ']') };
    let parts = value.children();
    out.push(open);
    for (position, (step, part)) in parts.iter().enumerate() {
        out.push_str(if position == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(depth + 1));
        if is_mapping {
            let name: &str = match step {
                PathStep::Attr(name) => name,
                PathStep::Index(key) => key.as_str().unwrap_or_default(),
            };
            write_string(name, out);
            out.push_str(": ");
        }
        write_indented(part, depth + 1, out);
    }
    if !parts.is_empty() {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_as_indented_json_without_secrets() {
        let secret = || Value::string("MARKER").mark(Marks::SENSITIVE);
        let cases = [
            (Value::string("a<b"), "\"a\\u003cb\""),
            (Value::int(5), "5"),
            (Value::bool(true), "true"),
            (Value::null_dynamic(), "null"),
            (Value::empty_object(), "{}"),
            (Value::empty_tuple(), "[]"),
            (Value::unknown(Type::String), "\"(not yet known)\""),
            (secret(), "\"(sensitive value)\""),
            (Value::int(5).mark(Marks::EPHEMERAL), "\"(ephemeral value)\""),
            (Value::int(5).mark(Marks::EPHEMERAL | Marks::SENSITIVE), "\"(sensitive value)\""),
            (Value::int(5).mark(Marks::DEPRECATED), "5"),
            (
                Value::object([
                    ("b", Value::tuple(vec![Value::int(1), secret(), Value::dynamic()])),
                    ("a", Value::map(Type::String, [("k", secret())])),
                ]),
                "{\n  \"a\": {\n    \"k\": \"(sensitive value)\"\n  },\n  \"b\": [\n    1,\n    \"(sensitive value)\",\n    \
                 \"(not yet known)\"\n  ]\n}",
            ),
            (Value::object([("b", secret())]).mark(Marks::SENSITIVE), "\"(sensitive value)\""),
        ];
        for (value, expected) in cases {
            assert_eq!(indented_json(&value), expected, "{value:?}");
        }
    }
}
