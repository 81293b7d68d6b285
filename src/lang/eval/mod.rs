//! Tree and scope to value and diagnostics; pure.
//!
//! Owns what expressions mean. Never knows what the names in its scope stand for; reads files only through it.

mod attribute;
mod call;
mod conditional;
mod conversion;
pub mod describe;
pub mod dynamic;
mod expression;
mod for_expression;
mod json;
pub mod scope;
mod splat;
mod template;
pub mod traversal;
pub mod type_expression;

pub use attribute::{evaluate_attribute, incorrect_type};
pub use call::invoke;
pub use expression::{constant, evaluate, evaluate_to};
pub use scope::{Resolved, Scope};

#[cfg(test)]
mod tests;
