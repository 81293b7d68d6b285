//! Values that are known before anything is installed or planned: constants, and what follows from input variables and local values.
//!
//! Owns which expressions have such values. Never knows where the values of root variables come from.

pub mod constant;
pub mod ignored_attributes;
pub mod literal;
pub mod static_arguments;
pub mod static_context;
pub mod version_constraint;
