//! Planning resource instances: those of a block, objects that nothing in the configuration wants, and why objects are replaced.
//!
//! Owns the plan of a change, its checks and its order. Never changes an object, and never knows how a plan is stored or shown.

pub mod block;
pub mod change;
pub mod orphan;
pub mod placeholder;
pub mod prevention;
pub mod triggers;
