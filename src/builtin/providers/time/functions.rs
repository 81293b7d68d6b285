//! The functions `duration_parse`, `rfc3339_parse` and `unix_timestamp_parse`. Errors belong to argument 0.

use std::fmt;

use terrane_value::duration;

use super::timestamp::Timestamp;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A text that a function cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentError {
    Duration(String),
    Timestamp(String),
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentError::Duration(text) => {
                write!(f, "Error parsing duration string: {text:?} is not a valid duration string")
            }
            ArgumentError::Timestamp(text) => {
                write!(f, "Error parsing RFC3339 timestamp: {text:?} is not a valid RFC3339 timestamp")
            }
        }
    }
}

impl std::error::Error for ArgumentError {}

/// One duration in six units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DurationParts {
    pub hours: f64,
    pub minutes: f64,
    pub seconds: f64,
    pub milliseconds: i64,
    pub microseconds: i64,
    pub nanoseconds: i64,
}

pub fn duration_parse(text: &str) -> Result<DurationParts, ArgumentError> {
    let nanoseconds = duration::nanoseconds(text).map_err(|_| ArgumentError::Duration(text.to_owned()))?;
    // Whole units are exact; only the rest is rounded.
    let units = |length: i64| (nanoseconds / length) as f64 + (nanoseconds % length) as f64 / length as f64;
    Ok(DurationParts {
        hours: units(3_600_000_000_000),
        minutes: units(60_000_000_000),
        seconds: units(1_000_000_000),
        milliseconds: nanoseconds / 1_000_000,
        microseconds: nanoseconds / 1_000,
        nanoseconds,
    })
}

/// A point in time in its own offset. `rfc3339_parse` returns all but `rfc3339`, `unix_timestamp_parse` all but `unix`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    pub rfc3339: String,
    pub unix: i64,
    pub year: i64,
    /// From 1.
    pub year_day: i64,
    pub month: i64,
    pub month_name: &'static str,
    pub day: i64,
    /// From 0 for Sunday.
    pub weekday: i64,
    pub weekday_name: &'static str,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub iso_year: i64,
    pub iso_week: i64,
}

pub fn rfc3339_parse(text: &str) -> Result<Moment, ArgumentError> {
    Timestamp::parse(text).map(moment).map_err(|_| ArgumentError::Timestamp(text.to_owned()))
}

/// The moment in UTC.
pub fn unix_timestamp_parse(unix: i64) -> Moment {
    moment(Timestamp::from_unix(unix))
}

fn moment(time: Timestamp) -> Moment {
    let date = time.date();
    let (hour, minute, second) = time.clock();
    let (iso_year, iso_week) = date.iso_week();
    let name = |names: &[&'static str], at: i128| usize::try_from(at).ok().and_then(|at| names.get(at).copied());
    Moment {
        rfc3339: time.to_rfc3339(),
        unix: time.unix(),
        year: date.year as i64,
        year_day: date.day_of_year() as i64,
        month: date.month as i64,
        month_name: name(&MONTHS, date.month - 1).unwrap_or_default(),
        day: date.day as i64,
        weekday: date.weekday() as i64,
        weekday_name: name(&WEEKDAYS, date.weekday()).unwrap_or_default(),
        hour,
        minute,
        second,
        iso_year: iso_year as i64,
        iso_week: iso_week as i64,
    }
}
