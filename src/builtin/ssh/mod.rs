//! SSH for provisioners: connects (directly, through a proxy, through a bastion), runs commands, uploads files.
//!
//! Owns the meaning of `connection` blocks with `type = "ssh"`: defaults, authentication order, retries and messages.
//! Never knows the arguments of provisioners.

mod auth;
mod communicator;
mod error;
mod keys;
mod proxy;
mod scp;
mod session;
pub mod settings;

#[cfg(test)]
mod password_tests;
#[cfg(test)]
pub(super) mod sshd;
#[cfg(test)]
mod sshd_tests;

pub use communicator::{Communicator, LineSplitter, expand_home};
pub use error::{ExecError, SshError};
pub use scp::UploadSource;

/// Where lines for the user go.
pub type Lines<'a> = &'a (dyn Fn(&str) + Send + Sync);
