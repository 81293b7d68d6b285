//! What the user's CLI configuration says about services: where provider packages come from. Types and parsing only.
//!
//! Never asks a host, and never knows how packages are unpacked.

pub mod cli_file;
pub mod installation;

pub use installation::{Location, Method, Pattern, ProviderInstallation};
