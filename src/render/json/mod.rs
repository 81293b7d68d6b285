//! JSON for programs.

pub mod diagnostic;
