//! Types and values of the language: what an expression evaluates to.
//!
//! Owns types, values (with unknowns, nulls and marks), their operations, conversions and wire forms. Never knows
//! expressions, resources or providers.

mod big_float;
pub mod convert;
mod decimal;
pub mod document;
pub mod duration;
pub mod entries;
pub mod identifier;
pub mod json;
pub mod json_error;
pub mod marks;
pub mod msgpack;
pub mod number;
pub mod ops;
pub mod path;
pub mod set;
pub mod surplus;
pub mod text;
pub mod ty;
mod type_error;
pub mod unify;
pub mod unknown;
#[allow(clippy::module_inception)]
pub mod value;
mod walk;

pub use entries::Entries;
pub use marks::Marks;
pub use number::Number;
pub use path::{Path, PathStep};
pub use ty::{ObjectType, Type};
pub use type_error::TypeError;
pub use unknown::Refinement;
pub use value::Value;

#[cfg(test)]
mod properties;
