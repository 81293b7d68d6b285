//! The `random` provider, as version 3.7 of the well-known one.
//!
//! Results have the same shape and the same guarantees; what a `seed` yields is our own sequence, not the same one.
//! Never keeps anything but in the state.

mod bytes;
mod integer;
mod list;
mod source;
mod text;
mod words;

use crate::builtin::sdk::{Attr, BuiltIn, Rule};
use crate::model::provider::ProviderDiagnostic;

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
