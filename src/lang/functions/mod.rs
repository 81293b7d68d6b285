//! The function table: an entry is a name, a signature and a body.

pub mod signature;

pub use signature::{CallContext, Function, FunctionError, Machine, Param, Signature};
