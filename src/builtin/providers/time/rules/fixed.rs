//! The rules of `time_static`: a constant timestamp.

use super::import_error;
use crate::providers::failure::Failure;
use crate::providers::time::timestamp::{Parts, Timestamp};

/// Computes the attributes for `rfc3339`, by default the current time.
pub fn attributes(rfc3339: Option<&str>, now: Timestamp) -> Result<Parts, Failure> {
    rfc3339.map_or(Ok(now), super::stored)?.to_attributes()
}

/// The attributes for an import ID, which is an RFC 3339 text.
pub fn import(id: &str) -> Result<Parts, Failure> {
    let problem = "The id that was supplied could not be parsed as RFC3339.";
    Timestamp::parse(id).map_err(|error| import_error("Import time static error", problem, &error))?.to_attributes()
}
