//! Summaries of mistakes that the verbs can report from several places: one text per kind of mistake.

use crate::base::diag::Diagnostic;

/// A value that gives no keys of instances.
pub const INVALID_FOR_EACH: &str = "Invalid for_each argument";
/// An address that an import cannot have.
pub const INVALID_IMPORT_TARGET: &str = "Invalid import 'to' expression";
/// An id that cannot be one.
pub const INVALID_IMPORT_ID: &str = "Invalid import id argument";
/// An ephemeral value where it would be kept.
pub const EPHEMERAL_VALUE: &str = "Ephemeral value not allowed";
/// An object that its schema does not allow.
pub const INVALID_PROVIDER_OBJECT: &str = "Provider produced invalid object";
/// A plan that configuration and schema do not allow.
pub const INVALID_PROVIDER_PLAN: &str = "Provider produced invalid plan";
/// An import whose identity cannot be used.
pub const INVALID_IMPORT_IDENTITY: &str = "Invalid import identity argument";

/// What waits for itself, by the names of its members.
pub fn cycle(names: &[String]) -> Diagnostic {
    Diagnostic::error(format!("Cycle: {}", names.join(", ")), "")
}
