//! The two versions: the language's (what `required_version`, state, providers and JSON see) and the program's.

/// The release of the reference whose language and formats this program speaks.
pub const LANGUAGE_VERSION: &str = "1.11.4";

/// The release of OpenTofu whose language this program speaks besides.
pub const OPENTOFU_VERSION: &str = "1.12.0";

/// This program's own version.
pub const PROGRAM_VERSION: &str = env!("CARGO_PKG_VERSION");
