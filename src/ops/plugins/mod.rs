//! Providers and provisioners for the engine: `packages` finds the package that the lock file selects, `factories` decides which
//! process serves which request (`launch` says how one starts, `processes` holds all of them), `cached_schemas` caches their
//! schemas, `outdated_schemas` restarts a command that used a wrong one.
//!
//! Never knows the requests to a provider.

pub(crate) mod cached_schemas;
pub(crate) mod factories;
mod known_schemas;
pub mod launch;
pub mod lock_file;
pub(crate) mod old_provisioners;
pub(crate) mod origin;
pub mod other_states;
pub(crate) mod outdated_schemas;
pub(crate) mod packages;
mod processes;
pub(crate) mod public_built_ins;
mod remote_states;
pub mod schemas;
pub mod selections;
pub(crate) mod state_stores;
mod time_limit;
