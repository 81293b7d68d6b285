//! The blocks of the language, one file per kind: its type, its decoder, and how blocks of several files are merged.
//!
//! Owns what may stand in a block, and the errors of a block alone. Never knows which files there are, nor the tree of modules.

pub mod action;
pub mod action_event;
pub mod block;
pub mod check;
pub mod condition;
pub mod encryption;
pub mod import;
pub mod language;
pub mod lifecycle;
pub mod locals;
pub mod module_call;
pub mod moved;
pub mod output;
pub mod override_bodies;
pub mod provisioner;
pub mod references;
pub mod removed;
pub mod resource;
pub mod state_store;
pub mod terraform;
pub mod variable;
pub mod variable_override;
