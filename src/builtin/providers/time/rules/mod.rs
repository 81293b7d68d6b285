//! What each resource computes from its arguments, from its state and from the ID of an import.
//!
//! `fixed` is `time_static`; the others are named as their resources. Never knows schemas or plans.

pub mod fixed;
pub mod offset;
pub mod rotating;
pub mod sleep;

use std::fmt;

use super::timestamp::Timestamp;
use crate::providers::failure::Failure;

/// A field of an import ID that is not an integer. `what`: what the field says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NotANumber {
    what: &'static str,
    text: String,
}

impl fmt::Display for NotANumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotANumber { what, text } = self;
        write!(f, "could not parse {what} ({text:?}) as int: {text:?} is not a 64-bit integer")
    }
}

impl std::error::Error for NotANumber {}

/// Parses a field of an import ID as an integer. An empty field is `None`.
fn import_number(text: &str, what: &'static str) -> Result<Option<i64>, NotANumber> {
    if text.is_empty() {
        return Ok(None);
    }
    let signed = text.strip_prefix(['+', '-']).unwrap_or(text);
    let parsed = if signed.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None };
    parsed.map(Some).ok_or_else(|| NotANumber { what, text: text.to_owned() })
}

/// The error for an invalid import ID. The plus sign is part of the reference's text.
fn import_error(summary: &str, problem: &str, cause: &dyn fmt::Display) -> Failure {
    Failure::new(summary, format!("{problem}\n\n+Original Error: {cause}"))
}

fn bad_id(id: &str, expected: &str) -> Failure {
    Failure::new("Unexpected Format of ID", format!("Unexpected format of ID ({id:?}), expected {expected}"))
}

/// Parses a timestamp from the state or the plan.
fn stored(text: &str) -> Result<Timestamp, Failure> {
    Timestamp::parse(text).map_err(|error| Failure::new("RFC3339 ValueRFC3339Time Error", error))
}
