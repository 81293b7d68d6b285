//! Text for people.
//!
//! Owns layout and texts. Never prints; width and colour are parameters.

mod assertion;
mod deferred;
pub mod diagnostic;
pub mod diff;
pub mod explain;
mod invocations;
mod line_changes;
pub mod listing;
pub mod outputs;
pub mod plan;
pub mod policies;
pub mod progress;
pub mod query_policies;
mod shortest_edit;
pub mod snippet;
pub mod state;
pub mod state_summary;
pub mod style;
pub mod summary;
pub mod tree;
pub mod unified_diff;
pub mod value;
pub mod visible;
pub mod wrap;
