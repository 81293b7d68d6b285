//! Schemas of blocks: attributes, nested blocks, the implied type, and the decoding of a body of the
//! configuration to a value of that type.
//!
//! Owns the meaning of schemas. Never knows wire formats or providers.

pub mod as_blocks;
pub mod check;
pub mod decode;
pub mod document;
pub mod list_block;
pub mod place;
