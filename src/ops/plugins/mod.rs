//! Providers and provisioners for the engine: `packages` finds the package that the lock file selects, `factories` starts
//! processes, `cached_schemas` caches their schemas.
//!
//! Never knows the requests to a provider.

pub(in crate::ops) mod cached_schemas;
pub(in crate::ops) mod factories;
pub mod lock_file;
pub(in crate::ops) mod old_provisioners;
pub(in crate::ops) mod packages;
mod remote_states;
pub mod schemas;
pub mod selections;
pub(in crate::ops) mod stand_ins;
