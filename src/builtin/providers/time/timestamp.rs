//! Timestamps as attributes, and what the provider says of those that are none.

use std::time::{SystemTime, UNIX_EPOCH};

use gotext::calendar::Date;
use gotext::timestamp::{Clock, Timestamp};

use crate::providers::failure::Failure;

/// The computed attributes of a timestamp, in its own offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    pub rfc3339: String,
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub unix: i64,
}

impl Parts {
    /// Computes the attributes. Years outside of 0 to 9999 are an error.
    pub fn of(time: Timestamp) -> Result<Parts, Failure> {
        let rfc3339 = time.to_rfc3339();
        check(&rfc3339)?;
        let Date { year, month, day } = time.date();
        let Clock { hour, minute, second } = time.clock();
        Ok(Parts {
            rfc3339,
            year: year as i64,
            month: month as i64,
            day: day as i64,
            hour,
            minute,
            second,
            unix: time.seconds,
        })
    }
}

/// The present moment, in UTC.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { seconds: since.as_secs() as i64, nanoseconds: since.subsec_nanos(), offset: 0 }
}

/// Validates an attribute that is an RFC 3339 text.
pub fn check(text: &str) -> Result<(), Failure> {
    Timestamp::parse(text).map(drop).map_err(|error| {
        let problem = "A string value was provided that is not valid RFC3339 string format.";
        Failure::new("Invalid RFC3339 String Value", format!("{problem}\n\nGiven Value: {text}\nError: {error}"))
    })
}

/// Returns whether two texts are semantically equal, in which case the earlier spelling is kept: they differ only in
/// the fraction or in the notation of UTC.
pub fn is_same(old: &str, new: &str) -> bool {
    match (Timestamp::parse(old), Timestamp::parse(new)) {
        (Ok(old), Ok(new)) => old.to_rfc3339() == new.to_rfc3339(),
        _ => old == new,
    }
}
