//! What the terminal and telemetry do differently under the names of Terraform and OpenTofu.
//!
//! Owns the rules of this area that depend on the dialect.

use super::dialect::Dialect;

/// Whether output that goes to a pipe or a file has colours, as that of Terraform and OpenTofu has.
pub fn colours_every_stream(dialect: Dialect) -> bool {
    dialect != Dialect::Terrane
}

/// Whether the span of a command ends with the command's name: the one of OpenTofu has the name of the program alone.
pub fn names_span_by_command(dialect: Dialect) -> bool {
    !dialect.is_opentofu()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dialect_has_its_rules() {
        let rules = |dialect| (colours_every_stream(dialect), names_span_by_command(dialect));
        let cases =
            [(Dialect::Terrane, (false, true)), (Dialect::Terraform, (true, true)), (Dialect::OpenTofu, (true, false))];
        for (dialect, expected) in cases {
            assert_eq!(rules(dialect), expected, "{dialect:?}");
        }
    }
}
