//! Points in time with an offset, and their arithmetic.

use std::time::{SystemTime, UNIX_EPOCH};

use super::calendar::{Date, SECONDS_PER_DAY};
use super::parse::{self, ParseError};
use crate::providers::failure::Failure;

const NANOSECONDS_PER_SECOND: i128 = 1_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// Seconds from 1970-01-01 UTC.
    unix: i64,
    nanoseconds: u32,
    /// Seconds east of UTC.
    offset: i32,
}

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

impl Timestamp {
    /// 0001-01-01, Go's zero time.
    pub const ZERO: Timestamp = Timestamp { unix: -62_135_596_800, nanoseconds: 0, offset: 0 };

    pub fn now() -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp { unix: since.as_secs() as i64, nanoseconds: since.subsec_nanos(), offset: 0 }
    }

    pub fn from_unix(unix: i64) -> Timestamp {
        Timestamp { unix, nanoseconds: 0, offset: 0 }
    }

    /// Parses RFC 3339 text. Errors have Go's text.
    pub fn parse(text: &str) -> Result<Timestamp, ParseError> {
        let time = parse::parse(text)?;
        Ok(Timestamp::from_local(time.seconds, time.nanoseconds, time.offset))
    }

    /// Takes seconds from 1970-01-01 in local time.
    fn from_local(local: i128, nanoseconds: u32, offset: i32) -> Timestamp {
        Timestamp { unix: (local - i128::from(offset)) as i64, nanoseconds, offset }
    }

    fn local(self) -> i128 {
        i128::from(self.unix) + i128::from(self.offset)
    }

    pub fn date(self) -> Date {
        Date::from_days(self.local().div_euclid(SECONDS_PER_DAY))
    }

    fn second_of_day(self) -> i128 {
        self.local().rem_euclid(SECONDS_PER_DAY)
    }

    /// Adds to the fields of the date. Days after the end of the month overflow into the next: one month after 31
    /// January is in March.
    pub fn add_date(self, years: i64, months: i64, days: i64) -> Timestamp {
        let date = self.date();
        let months = date.month - 1 + i128::from(months);
        let year = date.year + i128::from(years) + months.div_euclid(12);
        let first = Date { year, month: months.rem_euclid(12) + 1, day: 1 };
        let total = first.to_days() + date.day - 1 + i128::from(days);
        Timestamp::from_local(total * SECONDS_PER_DAY + self.second_of_day(), self.nanoseconds, self.offset)
    }

    pub fn add_nanoseconds(self, nanoseconds: i64) -> Timestamp {
        let total = i128::from(self.nanoseconds) + i128::from(nanoseconds);
        let unix = i128::from(self.unix) + total.div_euclid(NANOSECONDS_PER_SECOND);
        let nanoseconds = total.rem_euclid(NANOSECONDS_PER_SECOND) as u32;
        Timestamp { unix: unix as i64, nanoseconds, offset: self.offset }
    }

    pub fn is_after(self, other: Timestamp) -> bool {
        (self.unix, self.nanoseconds) > (other.unix, other.nanoseconds)
    }

    /// RFC 3339 text, without the fraction.
    pub fn to_rfc3339(self) -> String {
        let Date { year, month, day } = self.date();
        let second = self.second_of_day();
        let sign = if year < 0 { "-" } else { "" };
        let clock = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
        let zone = match self.offset / 60 {
            0 => "Z".to_owned(),
            minutes => {
                let sign = if minutes < 0 { '-' } else { '+' };
                format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
            }
        };
        format!("{sign}{:04}-{month:02}-{day:02}T{clock}{zone}", year.abs())
    }

    /// Returns the computed attributes. Years outside of 0 to 9999 are an error.
    pub fn to_attributes(self) -> Result<Parts, Failure> {
        let rfc3339 = self.to_rfc3339();
        check(&rfc3339)?;
        let Date { year, month, day } = self.date();
        let second = self.second_of_day();
        Ok(Parts {
            rfc3339,
            year: year as i64,
            month: month as i64,
            day: day as i64,
            hour: (second / 3600) as i64,
            minute: (second / 60 % 60) as i64,
            second: (second % 60) as i64,
            unix: self.unix,
        })
    }

    pub fn unix(self) -> i64 {
        self.unix
    }

    pub fn clock(self) -> (i64, i64, i64) {
        let second = self.second_of_day() as i64;
        (second / 3600, second / 60 % 60, second % 60)
    }
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
