//! The data: addresses, schemas, configuration, state, plan, the provider interface, lock files.
//!
//! Plain values with the rules within each of them. Never uses the network or processes, never prints.

pub mod addr;
#[cfg(feature = "cli")]
pub mod config;
#[cfg(feature = "cli")]
pub mod deps;
#[cfg(feature = "cli")]
pub mod lint;
pub mod model_errors;
#[cfg(feature = "cli")]
pub mod plan;
pub mod provider;
pub mod schema;
#[cfg(feature = "cli")]
pub mod service;
#[cfg(feature = "cli")]
pub mod state;
#[cfg(feature = "cli")]
pub mod symbols;
pub mod version;
