//! Every user-visible operation, end to end; the only place that wires doors to the engine.
//!
//! Takes plain options, gives back values and diagnostics. Never knows argument syntax, never prints, never prompts: what
//! only a person can answer it asks through [`interface::ask::Ask`], what happens meanwhile it tells a
//! [`interface::listen::Listener`].
//!
//! A folder imports only from those above it in this list, which a test checks.

pub mod interface;
pub mod setup;

pub mod backends;
pub mod configuration;
pub mod plugins;

pub mod init;
pub mod inspect;
pub mod run;
pub mod state;

pub mod fmt;
pub mod login;
