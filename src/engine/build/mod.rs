//! Building graphs: ordered lists of passes, each a function.
//!
//! The graph of the configuration is the same for validate, plan and apply, and built by the first of them
//! ([`crate::facts::Facts`]); plan adds objects that are only in the state, apply adds the planned changes and their order.
//! Owns the dependencies. Never evaluates, and never calls a provider.

pub mod actions;
pub mod apply;
pub mod builder;
pub mod config;
pub mod derive;
pub mod destroy_order;
pub mod imports;
#[cfg(debug_assertions)]
mod invariants;
mod judged;
pub mod late;
pub mod orphans;
pub mod target;
pub mod verb_graph;
