//! Hosts of registries: what they offer, what they want to be shown, and the protocol for modules.
//!
//! Never knows what becomes of the answers.

pub mod credentials;
pub mod discovery;
pub mod modules;
