//! The values that mocks and overrides give: which names and functions their expressions may use, and their evaluation.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::Diagnostics;
use base::source::SourceFile;
use lang::eval::{Resolved, Scope, evaluate};
use lang::functions::{Function, Machine, lookup, names};
use lang::syntax::ast::{ExprKind, Expression, Traversal};
use terrane_value::{Type, Value};

use super::words::ADVICE;
use crate::addr::InstanceKey;
use crate::config::constants::constant;
use crate::model_errors::unknown_name;
use crate::version::at_least;

/// What the expressions of mocks and overrides may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MockLanguage {
    /// Nothing, as in OpenTofu, and in Terraform before 1.15. Errors are found when the file is read.
    Constants,
    /// Functions. Errors are found when the value is needed.
    Functions,
    /// Functions and the object that the value is for: in files with extensions.
    Objects,
}

impl MockLanguage {
    /// That of a file with or without extensions.
    pub fn of(extensions: bool) -> MockLanguage {
        match extensions {
            true => MockLanguage::Objects,
            false if at_least(15) => MockLanguage::Functions,
            false => MockLanguage::Constants,
        }
    }

    /// Reports what is wrong with an expression before anything is executed. False: its value is known not to be an object.
    pub(super) fn check(self, expr: &Expression, diags: &mut Diagnostics) -> bool {
        if self != MockLanguage::Constants {
            return true;
        }
        let (value, problems) = constant::value(expr);
        let is_object = is_object(expr, &value, &problems);
        diags.extend(problems);
        is_object
    }
}

/// Whether the value of an expression is an object. With errors, as in the reference, only one that is written out is.
pub(super) fn is_object(expr: &Expression, value: &Value, problems: &Diagnostics) -> bool {
    match expr.kind() {
        ExprKind::Object { .. } | ExprKind::JsonObject { .. } => true,
        _ => !problems.has_errors() && matches!(value.ty(), Type::Object(_)),
    }
}

/// The names of the object that a value is for: `self`, and of an instance `each.key` or `count.index`.
#[derive(Clone, Debug, Default)]
pub struct ObjectNames(BTreeMap<Arc<str>, Value>);

/// The roots of these names.
const OBJECT_NAMES: [&str; 3] = ["self", "each", "count"];

impl ObjectNames {
    /// `object`: what is known of the object so far.
    pub fn of_instance(object: Value, key: &InstanceKey) -> ObjectNames {
        let mut names = BTreeMap::from([(Arc::from("self"), object)]);
        match key {
            InstanceKey::Str(key) => {
                names.insert("each".into(), Value::object([("key", Value::shared_string(key.clone()))]));
            }
            InstanceKey::Int(index) => {
                names.insert("count".into(), Value::object([("index", Value::int(*index))]));
            }
            InstanceKey::None | InstanceKey::Wildcard => {}
        }
        ObjectNames(names)
    }
}

/// Whether an expression uses the object that its value is for: it has another value for each of them.
pub fn references_self(expr: &Expression) -> bool {
    expr.variables().iter().any(|traversal| OBJECT_NAMES.contains(&traversal.root_name()))
}

/// The value of an expression of a mock or an override.
pub fn evaluate_mock_value(
    expr: &Expression,
    language: MockLanguage,
    object: &ObjectNames,
    machine: Option<&dyn Machine>,
) -> (Value, Diagnostics) {
    match language {
        MockLanguage::Constants => constant::value(expr),
        _ => evaluate(expr, &MockScope { language, object, machine }),
    }
}

struct MockScope<'a> {
    language: MockLanguage,
    object: &'a ObjectNames,
    machine: Option<&'a dyn Machine>,
}

impl Scope for MockScope<'_> {
    /// Observed in Terraform 1.15: `run` and `var` are objects without attributes.
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        let name = traversal.root_name();
        let is_own = OBJECT_NAMES.contains(&name);
        let object = self.object.0.get(name).filter(|_| self.language == MockLanguage::Objects);
        match object {
            Some(value) => Resolved::value(value.clone(), 0),
            None if matches!(name, "run" | "var") => Resolved::value(Value::empty_object(), 0),
            None => {
                let error = unknown_name(name, ["run", "var"], traversal.root.span.in_file(file));
                let needs_advice = is_own && self.language == MockLanguage::Functions;
                Resolved::error(if needs_advice { error.with_tip(&*ADVICE) } else { error })
            }
        }
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        lookup(name).map(|function| function as &dyn Function)
    }

    fn function_names(&self) -> Vec<String> {
        names().into_iter().map(str::to_owned).collect()
    }

    fn machine(&self) -> Option<&dyn Machine> {
        self.machine
    }
}

#[cfg(test)]
mod tests {
    use lang::syntax::parser;

    use super::*;

    #[test]
    fn the_language_of_mocks_grows() {
        use MockLanguage::{Constants, Functions, Objects};
        let cases = [
            ("\"x\"", Constants, "x"),
            ("upper(\"x\")", Constants, "Function calls not allowed"),
            ("var.x", Constants, "Variables not allowed"),
            ("upper(\"x\")", Functions, "X"),
            ("var.x", Functions, "Unsupported attribute"),
            ("run.x.y", Functions, "Unsupported attribute"),
            ("local.x", Functions, "Unknown variable"),
            ("self.bucket", Functions, "Unknown variable (tip)"),
            ("\"arn:${self.bucket}\"", Objects, "arn:b"),
            ("each.key", Objects, "k"),
            ("count.index", Objects, "Unknown variable"),
        ];
        let object = ObjectNames::of_instance(Value::object([("bucket", Value::string("b"))]), &"k".into());
        for (text, language, expected) in cases {
            let (expr, problems) = parser::parse_expression(SourceFile::new("a.tftest.hcl", text));
            assert!(problems.is_empty(), "{text}: {problems:?}");
            let (value, problems) = evaluate_mock_value(&expr, language, &object, None);
            let found = match problems.iter().next() {
                Some(problem) => format!("{}{}", problem.summary, if problem.tip.is_some() { " (tip)" } else { "" }),
                None => value.as_str().unwrap_or_default().to_owned(),
            };
            assert_eq!(found, expected, "{text} {language:?}");
            assert_eq!(
                references_self(&expr),
                ["self", "each", "count"].iter().any(|root| text.contains(root)),
                "{text}"
            );
        }
    }
}
