//! Operations on states without a plan: `look` shows them, `edits` changes them, `workspaces` creates and removes whole
//! ones, `force_unlock` removes a stale lock.
//!
//! Never starts an operation of the engine.

pub mod edits;
pub mod force_unlock;
pub mod history;
mod look;
pub mod workspaces;

pub use look::*;
