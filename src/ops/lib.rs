//! Every user-visible operation, end to end; the only area that connects the others to the engine.
//!
//! Takes plain options, returns values and diagnostics. Never knows argument syntax, never prints, never prompts:
//! questions go through [`interface::ask::Ask`], events go to a
//! [`interface::listen::Listener`].
//!
//! A folder imports only from those above it in this list, which a test checks.

pub mod interface;
mod opentofu;
pub mod setup;

pub mod backends;
pub mod configuration;
pub mod plugins;

pub mod hcp;
pub mod policies;
pub mod providers;

pub mod migrate;

pub mod init;
pub mod inspect;
pub mod run;
pub mod state;
pub mod test;

pub mod authoring;
pub mod durations;
pub mod fmt;
pub mod link;
pub mod login;
mod seen_serials;
pub mod version_check;
