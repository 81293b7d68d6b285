//! What the last run left: snapshot, objects, serial and lineage, and the file that holds them.

pub mod file;
pub mod journal;
mod object;
mod snapshot;

pub use object::{Attributes, DeposedKey, Object, ObjectStatus};
pub use snapshot::{CheckResult, CheckStatus, Instance, OutputValue, ResourceState, State, StateMeta};
