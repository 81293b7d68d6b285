//! Hosts of registries: discovery, credentials, and the protocols for modules and for providers.
//!
//! Never knows the use of the responses.

pub mod ask;
pub mod callback;
pub mod credentials;
mod credentials_file;
pub mod discovery;
pub mod login;
pub mod modules;
pub mod providers;
