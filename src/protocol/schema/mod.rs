//! Schemas of blocks: attributes, nested blocks and the type that they imply.
//!
//! Owns the meaning of schemas. Never knows wire formats or providers.

pub mod block;
mod error;
mod mode;
pub mod set;

pub use block::{Attribute, AttributeShape, Block, NestedBlock, Nesting, ObjectShape, Schema};
pub use error::{SchemaError, SchemaPart};
pub use mode::ResourceMode;
pub use set::{Capabilities, FunctionSignature, Parameter, ProviderSchemas, StaticSchemas};
