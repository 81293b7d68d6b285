//! Tree and scope to value and diagnostics; pure.

pub mod type_expression;
