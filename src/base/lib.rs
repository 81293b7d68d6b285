//! The operating system and basic types: diagnostics, source files, files on disk, locks, processes, terminal, environment, log, what a command
//! waits for.
//!
//! Owns the access to the operating system, and types for source text that every layer uses. Imports no other area and
//! never knows providers, except as the name of a log.

pub mod activity;
pub mod atomic;
pub mod browser;
pub mod diag;
pub mod dialect;
pub mod env;
pub mod files;
pub mod identity;
pub mod limits;
pub mod lock;
pub mod log;
pub mod moment;
pub mod name;
mod opentofu;
pub mod process;
pub mod program;
pub mod secret;
pub mod source;
pub mod stop;
pub mod suggest;
pub mod suspension;
pub mod telemetry;
pub mod term;
