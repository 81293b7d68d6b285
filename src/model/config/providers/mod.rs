//! Provider configurations and requirements: which provider and which configuration each name stands for.
//!
//! Owns the rules between caller and called module. Never knows a provider's schema or process.

pub mod for_each;
pub mod provider_block;
pub mod provider_check;
pub mod provider_ref;
pub mod requirements;
pub mod resolution;
