//! JSON for programs.
//!
//! Owns the names and the order of members, which only change with a version. Never decides what is shown.

pub mod actions;
pub mod checks;
pub mod config;
pub mod diagnostic;
pub mod events;
pub mod explain;
mod expressions;
pub mod functions;
pub mod go;
pub mod listing;
pub mod message;
pub mod module;
pub mod output;
pub mod plan;
pub mod policies;
pub mod provider_configs;
pub mod provider_schemas;
pub mod query_policies;
pub mod resources;
pub mod shape;
pub mod state;
pub mod summary;
pub mod test_documents;
pub mod testing;
