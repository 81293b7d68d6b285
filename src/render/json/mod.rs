//! JSON for programs.

pub mod diagnostic;
pub mod events;
pub mod go;
