//! What is done to states without a plan: `look` shows them, `edits` changes them, `workspaces` makes and removes whole
//! ones, `force_unlock` removes the lock of a run that is gone.
//!
//! Never starts an operation of the engine.

pub mod edits;
pub mod force_unlock;
pub mod history;
mod look;
pub mod workspaces;

pub use look::*;
