//! What traces hold under the names of Terraform and OpenTofu.
//!
//! Owns the rules of this area that depend on the dialect.

use base::dialect::Dialect;
use base::telemetry::Detail;

/// What has a span unless the user chooses it. Terraform has spans of commands alone.
pub fn default_detail(dialect: Dialect) -> Detail {
    match dialect {
        Dialect::Terraform => Detail::Command,
        Dialect::Terrane | Dialect::OpenTofu => Detail::Steps,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dialect_has_its_default() {
        let cases = [
            (Dialect::Terrane, Detail::Steps),
            (Dialect::Terraform, Detail::Command),
            (Dialect::OpenTofu, Detail::Steps),
        ];
        for (dialect, expected) in cases {
            assert_eq!(default_detail(dialect), expected, "{dialect:?}");
        }
    }
}
