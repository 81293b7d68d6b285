//! The verbs: graph, walk, validate, plan, apply.
//!
//! One free function per verb, one input struct each; asks the world only through [`ports`] and tells it through
//! [`event`]. Never prints, never reads arguments, environment, files or sockets, never knows a backend or a process.

pub mod change;
pub mod event;
pub mod ports;
