//! JSON for programs.
//!
//! Owns the names and the order of members, which only change with a version. Never decides what is shown.

pub mod actions;
pub mod checks;
pub mod config;
pub mod diagnostic;
pub mod events;
pub mod functions;
pub mod go;
pub mod listing;
pub mod module;
pub mod output;
pub mod plan;
mod provider_configs;
pub mod provider_schemas;
pub mod resources;
pub mod shape;
pub mod state;
