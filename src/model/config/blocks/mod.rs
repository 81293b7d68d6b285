//! The blocks of the language, one file per kind: its type, its decoder, and how blocks of several files are merged. `kinds` is the
//! table of those that stand in the files of a module; the other kinds are parts of these.
//!
//! Owns what may stand in a block, and the errors of a block alone. Never knows which files there are, nor the tree of modules.

pub mod action;
pub mod action_event;
pub mod backend;
pub mod by_name;
pub mod check;
pub mod condition;
pub mod deprecation;
pub mod encryption;
pub mod import;
pub mod kinds;
pub mod labels;
pub mod language;
pub mod lifecycle;
pub mod locals;
pub mod module_call;
pub mod moved;
pub mod output;
pub mod override_bodies;
pub mod override_rule;
pub mod provisioner;
pub mod references;
pub mod removed;
pub mod repetition;
pub mod reserved_blocks;
pub mod resource;
pub mod state_store;
pub mod terraform;
pub mod terraform_settings;
pub mod variable;
