//! Renders model values as text or JSON.
//!
//! Owns layouts and texts. Pure: never does I/O; width and colour are parameters.

pub mod docs;
pub mod dot;
pub mod json;
pub mod mermaid;
pub mod text;
