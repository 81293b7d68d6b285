//! What OpenTofu does in another way when modules are installed.
//!
//! Owns the rules of this area that depend on the dialect.

use base::dialect::Dialect;

/// Whether a module whose folder could not be found is announced like those that were installed, as programs that read the output of
/// OpenTofu expect.
pub fn announces_unreadable_modules(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opentofu_alone_announces_unreadable_modules() {
        let cases = [(Dialect::Terrane, false), (Dialect::Terraform, false), (Dialect::OpenTofu, true)];
        for (dialect, expected) in cases {
            assert_eq!(announces_unreadable_modules(dialect), expected, "{dialect:?}");
        }
    }
}
