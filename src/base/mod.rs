//! The operating system and basic types: diagnostics, source files, files on disk, locks, processes, terminal, environment, log.
//!
//! Owns the access to the operating system, and types for source text that every layer uses. Imports no other area and
//! never knows providers, except as the name of a log.

#[cfg(feature = "cli")]
pub mod atomic;
#[cfg(feature = "cli")]
pub mod aws;
#[cfg(feature = "cli")]
pub mod azure;
#[cfg(feature = "cli")]
pub mod browser;
#[cfg(feature = "cli")]
pub mod certificates;
#[cfg(feature = "cli")]
pub mod cloud;
#[cfg(feature = "cli")]
pub mod deflate;
pub mod diag;
pub mod duration;
pub mod env;
pub mod files;
#[cfg(feature = "cli")]
pub mod google;
pub mod hex;
#[cfg(feature = "cli")]
pub mod http;
pub mod identifier;
#[cfg(feature = "cli")]
pub mod identity;
pub mod limits;
pub mod lock;
pub mod log;
pub mod name;
#[cfg(all(test, feature = "cli"))]
#[allow(dead_code, clippy::print_stdout, clippy::unwrap_used)]
#[path = "../../tests/support/needs.rs"]
pub mod needs;
#[cfg(feature = "cli")]
pub mod percent;
#[cfg(feature = "cli")]
pub mod pkcs12;
pub mod private_folder;
pub mod process;
#[cfg(feature = "cli")]
pub mod program;
#[cfg(feature = "cli")]
pub mod rsa_key;
pub mod secret;
pub mod source;
pub mod stop;
pub mod suggest;
#[cfg(feature = "cli")]
pub mod telemetry;
#[cfg(feature = "cli")]
pub mod term;
