//! The backend of the working directory: `settings` and `state_store` evaluate its configuration, `record` stores the one that
//! `init` configured, `open` opens it, if the configuration is unchanged (`init_needed` is what is reported if it is not), and
//! `held` locks and reads a state; `read_state` reads without a lock; `version` compares workspaces of HCP Terraform with this
//! program.
//!
//! Never changes a state.

pub mod encryption;
pub mod held;
pub mod history;
mod init_needed;
pub mod open;
pub mod other_root;
pub mod provided_kind;
pub mod read_state;
pub mod record;
pub mod settings;
pub mod state_store;
pub mod version;
