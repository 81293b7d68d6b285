//! Tree and scope to value and diagnostics; pure.

pub mod dynamic;
pub mod scope;
pub mod type_expression;

pub use scope::{Resolved, Scope};

use crate::base::diag::Diagnostics;
use crate::lang::syntax::ast::Expression;
use crate::lang::value::Value;

/// The value of an expression; unknown where an error prevents one.
pub fn evaluate(_expression: &Expression, _scope: &dyn Scope) -> (Value, Diagnostics) {
    (Value::dynamic(), Diagnostics::new())
}
