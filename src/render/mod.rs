//! What people and programs see: model values to text or JSON.
//!
//! Owns layouts and wording of shown things. Pure: never does I/O; width and colour come in as values.

pub mod dot;
pub mod json;
pub mod mermaid;
pub mod text;
