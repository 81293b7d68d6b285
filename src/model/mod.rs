//! The nouns: names of things, shapes, configuration, state, plan, what a provider is, what is locked.
//!
//! Plain values with the rules that hold within one of them. Never touches the network or a process, never prints.

pub mod addr;
pub mod config;
pub mod deps;
pub mod mistakes;
pub mod plan;
pub mod provider;
pub mod schema;
pub mod service;
pub mod state;
pub mod version;
