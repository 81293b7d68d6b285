//! Steps of expressions into values, and the messages for those that lead nowhere.

use base::diag::Diagnostic;
use base::source::Span;
use terrane_value::Value;

use super::env::Env;
use super::expression::Evaluator;
use super::steps::{StepError, apply_step, index};
use crate::syntax::ast::{Expr, TraversalStep};

impl Evaluator<'_> {
    pub(super) fn apply_steps(&mut self, value: Value, steps: &[TraversalStep], expr: &Expr, env: Env<'_>) -> Value {
        let mut value = value;
        for step in steps {
            value = match apply_step(&value, step) {
                Ok(value) => value,
                Err(error) => return self.bad_step(error, step.span(), expr, env),
            };
        }
        value
    }

    pub(super) fn index(&mut self, collection: &Value, key: &Value, at: Span, expr: &Expr, env: Env<'_>) -> Value {
        index(collection, key).unwrap_or_else(|error| self.bad_step(error, at, expr, env))
    }

    #[cold]
    fn bad_step(&mut self, (summary, detail): StepError, at: Span, expr: &Expr, env: Env<'_>) -> Value {
        let diagnostic = Diagnostic::error(summary, detail).at(self.range(at));
        self.report(diagnostic, None, expr, env);
        Value::dynamic()
    }
}
