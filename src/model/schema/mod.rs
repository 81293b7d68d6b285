//! Shapes of blocks as providers describe them: attributes, nested blocks, the type they imply, and how a body of the
//! configuration is decoded into a value of that type.
//!
//! Owns the meaning of schemas. Never knows the wire that they came over, or a provider.

pub mod as_blocks;
pub mod block;
pub mod check;
pub mod decode;
pub mod place;
pub mod set;

pub use block::{Attribute, AttributeShape, Block, NestedBlock, Nesting, ObjectShape, Schema};
pub use set::{Capabilities, FunctionSignature, Parameter, ProviderSchemas, StaticSchemas};
