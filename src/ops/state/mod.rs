//! Operations on states without a plan: `instances` shows them, `snapshots` earlier ones, `edits` and `restore` change them, `workspaces`
//! creates and removes whole ones, `force_unlock` removes a stale lock.
//!
//! Never starts an operation of the engine.

pub mod edits;
pub mod force_unlock;
pub mod instances;
pub mod restore;
pub mod snapshots;
pub mod workspaces;
