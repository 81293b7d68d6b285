//! What OpenTofu says in other words about encryption.
//!
//! Owns the rules of this area that depend on the dialect: the format of what is encrypted is OpenTofu's in every dialect.

use base::dialect::Dialect;

/// Whether errors of decryption are those of OpenTofu, followed by what Terrane adds. Otherwise they say what to do in its own words.
pub fn has_errors_of_opentofu(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// What stands between the summary and the detail of an error that is a part of another one.
pub fn joint(dialect: Dialect) -> &'static str {
    dialect.by_language(": ", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::SealError;

    #[test]
    fn each_dialect_has_its_errors() {
        let first_lines = |dialect| {
            let all = [
                SealError::wrong_key(dialect, "the state", &[]),
                SealError::not_encrypted(dialect, "the state", "plan"),
            ];
            all.map(|error| error.to_string().lines().next().unwrap().to_owned())
        };
        let ours = [
            "Decryption failed: No method of the encryption configuration can decrypt the state:",
            "The state is not encrypted: The configuration expects that the state is encrypted. Create the plan again.",
        ];
        let cases = [
            (Dialect::Terrane, ours),
            (Dialect::Terraform, ours),
            (
                Dialect::OpenTofu,
                [
                    "decryption failed for all provided methods",
                    "encountered unencrypted payload without unencrypted method configured",
                ],
            ),
        ];
        for (dialect, expected) in cases {
            assert_eq!(first_lines(dialect), expected, "{dialect:?}");
        }
    }
}
