//! The built-in providers, a file or folder each.

pub mod local;
pub mod null;
pub mod random;
pub mod terraform;
