//! The state: snapshot, objects, serial and lineage, and the state file.
//!
//! Owns the formats and the rules within them. Never opens a file, and never knows the configuration.

pub mod file;
pub mod journal;
pub mod moving;
mod object;
mod snapshot;

pub use object::{Attributes, DeposedKey, Object, ObjectStatus};
pub use snapshot::{CheckResult, CheckStatus, Instance, OutputValue, ResourceState, State, StateMeta};
