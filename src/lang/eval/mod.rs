//! Evaluates a tree with a scope to a value and diagnostics; pure.
//!
//! Owns the meaning of expressions. Never knows the meaning of names in its scope; reads files only through the scope.

mod attribute;
mod call;
mod conditional;
mod conversion;
pub mod describe;
pub mod dynamic;
mod env;
mod expression;
mod for_expression;
mod json;
pub mod scope;
mod splat;
pub mod steps;
mod template;
mod traversal;
pub mod type_expression;

pub use attribute::{evaluate_attribute, incorrect_type};
pub use call::invoke;
pub use expression::{constant, evaluate, evaluate_to};
pub use scope::{EvaluationRecorder, Resolved, Scope};

#[cfg(test)]
mod tests;
