//! Schemas of blocks: attributes, nested blocks, the implied type, and the decoding of a body of the
//! configuration to a value of that type.
//!
//! Owns the meaning of schemas. Never knows wire formats or providers.

#[cfg(feature = "cli")]
pub mod as_blocks;
pub mod block;
#[cfg(feature = "cli")]
pub mod check;
#[cfg(feature = "cli")]
pub mod decode;
#[cfg(feature = "cli")]
pub mod document;
#[cfg(feature = "cli")]
pub mod list_block;
#[cfg(feature = "cli")]
pub mod place;
pub mod set;

pub use block::{Attribute, AttributeShape, Block, NestedBlock, Nesting, ObjectShape, Schema};
pub use set::{Capabilities, FunctionSignature, Parameter, ProviderSchemas, StaticSchemas};
