//! What the user's CLI configuration says about services: where provider packages come from. Types and parsing only.

pub mod cli_file;
pub mod installation;

pub use installation::{Location, Method, Pattern, ProviderInstallation};
