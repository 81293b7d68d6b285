//! Renders model values as text or JSON.
//!
//! - [`text`]: for people. [`json`]: for programs. [`docs`]: pages of providers. [`dot`], [`mermaid`]: graphs.
//! - [`objects`], [`schemas`], [`words`]: what text and JSON have in common: stored objects as values, look-ups of schemas, the words for
//!   operations.
//!
//! Owns layouts and texts. Pure: never does I/O; width and colour are parameters.

pub mod docs;
pub mod dot;
pub mod json;
pub mod mermaid;
pub mod objects;
mod opentofu;
pub mod schemas;
pub mod text;
pub mod words;
