//! State stores: reading, writing and locking states.
//!
//! - `contract`: what all stores agree on, and what they are opened with.
//! - `objects`: what kinds share that keep states as objects of a service.
//! - `hcp`: HCP Terraform, which keeps states and runs operations.
//! - `kinds`: the kinds of backends, a folder or file each; `kinds::list` finds one by its name.
//! - `durable`: the state of a workspace as commands use it: encrypted, journaled, with a history.
//!
//! A folder uses those above it in this list only; the kinds do not know each other. `conformance` has the tests that every kind passes.
//! Never knows configuration, plans or the engine.

pub mod contract;
pub mod durable;
pub mod hcp;
pub mod kinds;
mod objects;
pub mod web;

#[cfg(any(test, feature = "conformance"))]
#[allow(clippy::unwrap_used)]
pub mod conformance;
#[cfg(test)]
#[allow(dead_code, clippy::print_stdout, clippy::unwrap_used)]
#[path = "../../tests/support/needs.rs"]
mod needs;
#[cfg(test)]
#[allow(dead_code, clippy::print_stdout)]
mod servers;

pub use contract::{Backend, DEFAULT_WORKSPACE, ErrorKind, LockError, LockInfo, StateStore, StoreError};
pub use durable::{
    FinishError, JournaledState, Loaded, OpenBackend, STATE_NOT_SAVED, StateAccess, StateSession, finish_replay, load,
    take_up,
};
