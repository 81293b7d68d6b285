//! The language: syntax, values, evaluation, functions.
//!
//! Owns what people write and what it evaluates to. Never knows resources or providers; no async, no network, no clock,
//! no environment; files only through the `Files` trait.

pub mod eval;
pub mod functions;
pub mod syntax;
pub mod value;
