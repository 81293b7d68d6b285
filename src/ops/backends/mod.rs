//! The backend of the working directory: `settings` evaluates its configuration, `record` stores the one that `init`
//! configured, `open` opens it, if the configuration is unchanged, and holds a state under its lock; `read_state` reads without one;
//! `state_store` has those that a provider implements; `version` compares workspaces of HCP Terraform with this program.
//!
//! Never changes a state.

pub mod elsewhere;
pub mod encryption;
pub mod history;
mod open;
pub mod read_state;
pub mod record;
pub mod settings;
pub mod state_store;
pub mod version;

pub use open::*;
