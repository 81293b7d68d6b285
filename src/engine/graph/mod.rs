//! A generic graph, the engine's nodes, and the walk that runs them.
//!
//! Owns the dependencies between nodes. Never knows what a node does.

pub mod cycles;
pub mod dag;
pub mod node;
pub mod schedule;
pub mod walk;
mod work;

pub use dag::Dag;
pub use node::Node;
pub use work::{Invocation, Orphans, PlannedRequest, Request, Task};
