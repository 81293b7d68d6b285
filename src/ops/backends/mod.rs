//! The backend of the working directory: `settings` are what the configuration says of it, `record` keeps which one `init`
//! set up, `open` opens it, if the configuration still asks for the same, and holds a state under its lock; `read_state` looks without one; `version` compares
//! workspaces of HCP Terraform with this program.
//!
//! Never changes a state.

pub mod encryption;
mod open;
pub mod read_state;
pub mod record;
pub mod remote_states;
pub mod settings;
pub mod version;

pub use open::*;
