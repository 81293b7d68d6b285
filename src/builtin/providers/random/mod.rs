//! The `random` provider, compatible with version 3.7 of hashicorp/random.
//!
//! Results have the same form and the same guarantees, but a `seed` gives another sequence.
//! Never stores anything outside of the state.

mod bytes;
mod integer;
mod list;
mod source;
mod text;
mod words;

use crate::builtin::sdk::{Attr, BuiltIn, Rule, int_of, invalid_value};
use crate::lang::value::Value;
use crate::model::provider::ProviderDiagnostic;

/// Characters or elements of a result. More would not fit in one message to the real provider (64 MiB).
const LONGEST: usize = 16 << 20;

pub fn provider() -> BuiltIn {
    BuiltIn::new(
        vec![
            ("random_bytes", Box::new(bytes::Bytes::new())),
            ("random_id", Box::new(bytes::Id::new())),
            ("random_integer", Box::new(integer::Integer::new())),
            ("random_password", Box::new(text::Text::password())),
            ("random_pet", Box::new(list::Pet::new())),
            ("random_shuffle", Box::new(list::Shuffle::new())),
            ("random_string", Box::new(text::Text::string())),
            ("random_uuid", Box::new(bytes::Uuid::new())),
        ],
        vec![],
        vec![("random_password", Box::new(text::EphemeralPassword::new()))],
        vec![],
    )
}

fn keepers() -> Attr {
    Attr::string_map("keepers", "Any texts; a change of one replaces the resource, and so its random result.")
        .optional()
        .rule(Rule::ReplaceIfValues)
}

/// How many characters, bytes or elements an attribute asks for: 0 if it is null or negative, an error beyond `most`.
fn count_of(planned: &Value, name: &str, most: usize) -> Result<usize, ProviderDiagnostic> {
    let count = int_of(planned, name).unwrap_or(0).max(0);
    usize::try_from(count)
        .ok()
        .filter(|count| *count <= most)
        .ok_or_else(|| invalid_value(name, &format!("value must be at most {most}"), count))
}

fn fixed_id() -> Attr {
    Attr::string("id", "A fixed text, for internal use; not to be referred to.").computed().rule(Rule::Keep)
}

/// A failure with the advice that the real provider gives.
fn retry_error(summary: &str, what: &str, error: &str) -> ProviderDiagnostic {
    ProviderDiagnostic::error(
        summary,
        format!(
            "{what}\n\nRetry the Terraform operation. If the error still occurs or happens regularly, please contact \
             the provider developer with hardware and operating system information.\n\nOriginal Error: {error}"
        ),
    )
}

#[cfg(test)]
mod tests {
    use crate::builtin::sdk::Resource;
    use crate::lang::value::Value;

    #[test]
    fn huge_counts_are_refused() {
        let cases: Vec<(Box<dyn Resource>, &str)> = vec![
            (Box::new(super::bytes::Bytes::new()), "length"),
            (Box::new(super::bytes::Id::new()), "byte_length"),
            (Box::new(super::list::Pet::new()), "length"),
            (Box::new(super::list::Shuffle::new()), "result_count"),
            (Box::new(super::text::Text::string()), "length"),
            (Box::new(super::text::Text::password()), "min_upper"),
        ];
        for (resource, name) in cases {
            let planned = resource.shape().object([(name, Value::int(i64::MAX))]);
            let error = resource.create(&planned).unwrap_err().detail;
            assert!(error.starts_with(&format!("Attribute {name} value must be at most ")), "{error}");
        }
    }
}
