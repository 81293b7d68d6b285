//! What functions answer differently in OpenTofu.
//!
//! Owns the rules of this area that depend on the dialect.

use base::dialect::Dialect;

/// The most bits that `cidrsubnets` adds to a prefix. OpenTofu has no limit beside the length of an address.
pub fn most_subnet_bits(dialect: Dialect) -> i64 {
    dialect.by_language(32, i64::MAX)
}

/// Whether `yamldecode` merges the mappings of a sequence behind `<<`. Terraform merges one mapping.
pub fn merges_sequences(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::source::SourceFile;

    use super::*;
    use crate::eval::scope::{Constant, Resolved};
    use crate::eval::{Scope, evaluate};
    use crate::functions::{Function, lookup};
    use crate::syntax::ast::Traversal;
    use crate::syntax::parse_expression;

    struct Functions;

    impl Scope for Functions {
        fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
            Constant.resolve(traversal, file)
        }

        fn function(&self, name: &str) -> Option<&dyn Function> {
            lookup(name)
        }
    }

    /// The answers of Terrane, Terraform and OpenTofu.
    fn answers(text: &str) -> [String; 3] {
        [Dialect::Terrane, Dialect::Terraform, Dialect::OpenTofu].map(|dialect| {
            let (expression, problems) = parse_expression(SourceFile::written_in(dialect, "main.tf", text));
            assert!(!problems.has_errors(), "{problems:?}");
            let (value, problems) = evaluate(&expression, &Functions);
            match problems.iter().next() {
                Some(problem) => problem.detail.clone(),
                None => value.as_str().unwrap_or_default().to_owned(),
            }
        })
    }

    #[test]
    fn each_dialect_has_its_answer() {
        let too_many = r#"Invalid value for "newbits" parameter: may not extend prefix by more than 32 bits."#;
        let no_mapping = r#"Call to function "yamldecode" failed: cannot merge tuple into mapping."#;
        let cases = [
            (r#"cidrsubnets("fe80::/16", 40)[0]"#, [too_many, too_many, "fe80::/56"]),
            (r#"yamldecode("a: {<<: [{x: one}, {x: two}]}").a.x"#, [no_mapping, no_mapping, "two"]),
        ];
        for (text, expected) in cases {
            assert_eq!(answers(text), expected, "{text}");
        }
    }
}
