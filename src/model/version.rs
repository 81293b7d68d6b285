//! The two versions: the language's (what `required_version`, state, providers and JSON see) and the program's.

use crate::base::name::{self, Name};

/// The release of the reference whose language and formats this program speaks.
const TERRAFORM_VERSION: &str = "1.11.4";

/// The release of OpenTofu whose language this program speaks besides.
pub const OPENTOFU_VERSION: &str = "1.12.6";

/// This program's own version.
pub const PROGRAM_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version that `required_version` is checked against and that states, providers and JSON documents receive.
pub fn language_version() -> &'static str {
    match name::current() {
        Name::Terrane | Name::Terraform => TERRAFORM_VERSION,
        Name::OpenTofu => OPENTOFU_VERSION,
    }
}
