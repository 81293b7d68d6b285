//! The time provider: timestamps in the state, pauses, and three functions.
//!
//! `timestamp` has what they have in common. Each resource has a module with its rules: `fixed` (`time_static`), `offset`,
//! `rotating` and `sleep`. `functions` has the provider functions.
//!
//! Offsets are fixed. The reference applies the daylight saving time of the machine's time zone to timestamps with the
//! same offset; this module does not depend on the machine.
//!
//! Only `provider`, `resources` and `sleep_resource` know schemas; the rest never does.

pub mod fixed;
pub mod functions;
pub mod offset;
pub mod provider;
mod resources;
pub mod rotating;
pub mod sleep;
mod sleep_resource;
#[cfg(test)]
mod tests;
pub mod timestamp;

use gotext::timestamp::Timestamp;

use super::failure::Failure;

/// Parses a field of an import ID as an integer. An empty field is `None`.
fn import_number(text: &str, what: &str) -> Result<Option<i64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let signed = text.strip_prefix(['+', '-']).unwrap_or(text);
    let parsed = if signed.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None };
    parsed
        .map(Some)
        .ok_or_else(|| format!("could not parse {what} ({text:?}) as int: {text:?} is not a 64-bit integer"))
}

/// The error for an invalid import ID. The plus sign is part of the reference's text.
fn import_error(summary: &str, problem: &str, cause: &str) -> Failure {
    Failure::new(summary, format!("{problem}\n\n+Original Error: {cause}"))
}

fn bad_id(id: &str, expected: &str) -> Failure {
    Failure::new("Unexpected Format of ID", format!("Unexpected format of ID ({id:?}), expected {expected}"))
}

/// Parses a timestamp from the state or the plan.
fn stored(text: &str) -> Result<Timestamp, Failure> {
    Timestamp::parse(text).map_err(|error| Failure::new("RFC3339 ValueRFC3339Time Error", error))
}
