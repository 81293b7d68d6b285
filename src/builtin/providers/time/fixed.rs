//! `time_static`: a constant timestamp.

use gotext::timestamp::Timestamp;

use super::import_error;
use super::timestamp::Parts;
use crate::providers::failure::Failure;

/// Computes the attributes for `rfc3339`, by default the current time.
pub fn attributes(rfc3339: Option<&str>, now: Timestamp) -> Result<Parts, Failure> {
    Parts::of(rfc3339.map_or(Ok(now), super::stored)?)
}

/// The attributes for an import ID, which is an RFC 3339 text.
pub fn import(id: &str) -> Result<Parts, Failure> {
    let problem = "The id that was supplied could not be parsed as RFC3339.";
    Parts::of(Timestamp::parse(id).map_err(|error| import_error("Import time static error", problem, &error))?)
}
