//! Providers and provisioners for the engine: `packages` finds the package that the lock file selects, `factories` decides which
//! process serves which request (`launch` says how one starts, `processes` holds all of them), `cached_schemas` caches their schemas.
//!
//! Never knows the requests to a provider.

pub(crate) mod cached_schemas;
pub(crate) mod factories;
mod known_schemas;
pub mod launch;
pub mod lock_file;
pub(crate) mod old_provisioners;
pub mod other_states;
pub(crate) mod packages;
mod processes;
mod remote_states;
pub mod schemas;
pub mod selections;
pub(crate) mod stand_ins;
pub(crate) mod state_stores;
mod time_limit;
