//! `convert(value, type)`: the one function with an argument that is a type.

use terrane_value::Value;
use terrane_value::convert::convert;

use super::env::Env;
use super::expression::Evaluator;
use super::type_expression::parse_type;
use crate::functions::Signature;
use crate::syntax::ast::{Call, Expr, Expression};

impl Evaluator<'_> {
    /// The value converted to the type that the second argument is written as; optional attributes take their defaults.
    pub(super) fn convert_call(&mut self, expr: &Expr, call: &Call, signature: &Signature, env: Env<'_>) -> Value {
        let [source, wanted] = call.args.as_slice() else { return self.wrong_count(expr, call, signature, env) };
        if call.expand_final {
            self.failed_as_a_whole(expr, call, signature, "a type must be written out", env);
            return Value::dynamic();
        }
        let then = self.now();
        let value = self.eval(source, env);
        let (ty, defaults, diagnostics) = parse_type(&Expression { file: self.file.clone(), node: wanted.clone() });
        self.diagnostics.extend(diagnostics);
        if self.failed_since(then) {
            return Value::dynamic();
        }
        let filled = defaults.map_or_else(|| value.clone(), |defaults| defaults.apply(&value));
        convert(&filled, &ty).unwrap_or_else(|error| {
            self.bad_value((expr, call, signature), 0, source, &error.to_string(), env);
            Value::dynamic()
        })
    }
}
