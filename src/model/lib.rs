//! The data: addresses, schemas, configuration, state, plan, the provider interface, lock files.
//!
//! Plain values with the rules within each of them. Never uses the network or processes, never prints.

pub mod addr;
pub mod causes;
pub mod config;
pub mod deps;
pub mod lint;
pub mod model_errors;
pub mod opentofu;
pub mod plan;
pub mod provider_diagnostics;
pub mod schema;
pub mod service;
pub mod state;
pub mod symbols;
pub mod version;
