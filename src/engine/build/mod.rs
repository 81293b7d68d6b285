//! Building graphs: ordered lists of passes, each a function.
//!
//! The graph of the configuration is the same for validate, plan and apply; plan adds what only the state knows, apply
//! adds the planned changes with the order among them.
//! Owns the order of things. Never evaluates, and never asks a provider.

pub mod apply;
pub mod config;
pub mod derive;
pub mod imports;
pub mod orphans;
pub mod scoped;
pub mod target;
pub mod verb_graph;
