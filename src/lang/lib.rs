//! The language: syntax, values, evaluation, functions.
//!
//! Owns the text of the language and its evaluation. Never knows resources or providers; no async, no network, no clock,
//! no environment; files only through the `Files` trait.

pub mod eval;
pub mod functions;
mod opentofu;
pub mod syntax;
