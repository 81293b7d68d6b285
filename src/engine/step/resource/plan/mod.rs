//! Planning resource instances: those of a block, objects that nothing in the configuration wants, and why objects are replaced.
//!
//! Owns the plan of a change, its checks and its order. Never changes an object, and never knows how a plan is stored or shown.

pub mod ask;
pub mod block;
pub mod change;
pub mod ignore;
pub mod managed;
pub mod orphan;
pub mod placeholder;
pub mod prevention;
pub mod replace;
pub mod triggers;
