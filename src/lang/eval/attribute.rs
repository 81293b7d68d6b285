//! The value of an argument for which a schema gives the type.

use base::diag::{Diagnostic, Diagnostics};
use terrane_value::convert::{ConvertError, convert};
use terrane_value::{Type, Value};

use super::describe;
use super::expression::evaluate;
use super::scope::Scope;
use crate::syntax::ast::Expression;

/// The value converted to the type, absent optional attributes null; `name` is the argument's name for messages. With
/// errors: unknown.
pub fn evaluate_attribute(expression: &Expression, name: &str, ty: &Type, scope: &dyn Scope) -> (Value, Diagnostics) {
    let (value, mut diagnostics) = evaluate(expression, scope);
    if diagnostics.has_errors() {
        return (Value::unknown(ty.without_optional_deep()), diagnostics);
    }
    match convert(&value, ty) {
        Ok(value) => (value, diagnostics),
        Err(error) => {
            let diagnostic = incorrect_type(expression, name, &error);
            diagnostics.push(describe::with_values(diagnostic, expression, scope));
            (Value::unknown(ty.without_optional_deep()), diagnostics)
        }
    }
}

/// The value of an argument cannot become what it should be.
pub fn incorrect_type(expression: &Expression, name: &str, error: &ConvertError) -> Diagnostic {
    let detail = format!("Inappropriate value for attribute \"{name}\": {error}.");
    Diagnostic::error("Incorrect attribute value type", detail).at(expression.range())
}
