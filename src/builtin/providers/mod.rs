//! The built-in providers, a file or folder each.
//!
//! Each owns its resources; it never knows the others, how it is served, or the configuration around a resource.

pub mod local;
pub mod null;
pub mod random;
pub mod terraform;
