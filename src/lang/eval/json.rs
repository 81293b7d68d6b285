//! Strings and objects of JSON syntax: templates where there is a scope, plain text where there is none.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::Diagnostic;
use base::source::Span;
use terrane_value::convert::convert;
use terrane_value::{Marks, Type, Value};

use super::env::Env;
use super::expression::Evaluator;
use crate::syntax::ast::{Expr, ObjectItem};
use crate::syntax::json::{JsonString, JsonTemplate};

const INVALID_KEY: &str = "Invalid object key expression";

impl Evaluator<'_> {
    pub(super) fn json_string(&mut self, string: &JsonString, env: Env<'_>) -> Value {
        match &string.template {
            JsonTemplate::Parsed(template) if self.scope.templates() => self.eval(template, env),
            JsonTemplate::Broken(problems) if self.scope.templates() => {
                self.diagnostics.extend(problems.iter().cloned());
                Value::dynamic()
            }
            _ => Value::shared_string(string.text.clone()),
        }
    }

    /// Keys are templates, as values are.
    pub(super) fn json_object(&mut self, expr: &Expr, items: &[ObjectItem], env: Env<'_>) -> Value {
        let mut attributes: BTreeMap<Arc<str>, Value> = BTreeMap::new();
        let mut places: BTreeMap<Arc<str>, Span> = BTreeMap::new();
        let mut marks = Marks::NONE;
        let mut known = true;
        for item in items {
            let key = self.eval(&item.key, env);
            let value = self.eval(&item.value, env);
            let key = match convert(&key, &Type::String) {
                Ok(key) => key,
                Err(error) => {
                    self.bad_key(item, &format!("Cannot use this expression as an object key: {error}."), env);
                    continue;
                }
            };
            let (key, key_marks) = key.unmark();
            marks |= key_marks;
            if key.is_null() {
                self.bad_key(item, "Cannot use null value as an object key.", env);
                continue;
            }
            let Some(name) = key.as_arc_str() else {
                known = false;
                continue;
            };
            if let Some(place) = places.get(&name) {
                let place = self.range(*place);
                let detail = format!("An attribute named {name:?} was already defined at {place}.");
                let problem = Diagnostic::error("Duplicate object attribute", detail).at(self.range(item.key.span));
                self.report(problem, None, expr, env);
                continue;
            }
            places.insert(name.clone(), item.key.span);
            attributes.insert(name, value);
        }
        if known { Value::object(attributes).mark(marks) } else { Value::dynamic() }
    }

    #[cold]
    fn bad_key(&mut self, item: &ObjectItem, detail: &str, env: Env<'_>) {
        let problem = Diagnostic::error(INVALID_KEY, detail).at(self.range(item.key.span));
        self.report(problem, None, &item.value, env);
    }
}
