//! Providers and provisioners for the engine: `packages` finds the package that the lock file selects, `factories` decides which
//! process serves what (`launch` says how one starts, `processes` has all that run), `cached_schemas` keeps what they say of themselves.
//!
//! Never knows what is asked of a provider.

pub(in crate::ops) mod cached_schemas;
pub(in crate::ops) mod factories;
mod known_schemas;
mod launch;
pub mod lock_file;
pub(in crate::ops) mod old_provisioners;
pub(in crate::ops) mod packages;
mod processes;
mod remote_states;
pub mod schemas;
pub mod selections;
pub(in crate::ops) mod stand_ins;
