//! The rules of `time_offset`: a timestamp with an offset from a base.

use super::{bad_id, import_error, import_number};
use crate::providers::failure::Failure;
use crate::providers::time::timestamp::{Parts, Timestamp};

const NANOSECONDS_PER_SECOND: i64 = 1_000_000_000;

/// The attributes `offset_...`. At least one is required.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offsets {
    pub years: Option<i64>,
    pub months: Option<i64>,
    pub days: Option<i64>,
    pub hours: Option<i64>,
    pub minutes: Option<i64>,
    pub seconds: Option<i64>,
}

/// The computed attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetTime {
    /// Also the `id`.
    pub base_rfc3339: String,
    pub parts: Parts,
}

impl Offsets {
    /// Adds the offsets. Hours, minutes and seconds wrap around after 292 years, as in the reference.
    pub fn add_to(&self, base: Timestamp) -> Timestamp {
        let nanoseconds = |count: Option<i64>, seconds: i64| {
            count.unwrap_or(0).wrapping_mul(seconds.wrapping_mul(NANOSECONDS_PER_SECOND))
        };
        base.add_date(0, 0, self.days.unwrap_or(0))
            .add_nanoseconds(nanoseconds(self.hours, 3600))
            .add_nanoseconds(nanoseconds(self.minutes, 60))
            .add_date(0, self.months.unwrap_or(0), 0)
            .add_nanoseconds(nanoseconds(self.seconds, 1))
            .add_date(self.years.unwrap_or(0), 0, 0)
    }
}

/// Computes the attributes for a base, by default the current time.
///
/// A plan computes them only if an offset changed; the base is then the planned one, or the state's if that is not
/// known.
pub fn attributes(base: Option<&str>, offsets: &Offsets, now: Timestamp) -> Result<OffsetTime, Failure> {
    let base = base.filter(|text| !text.is_empty()).map_or(Ok(now), super::stored)?;
    at(base, offsets)
}

fn at(base: Timestamp, offsets: &Offsets) -> Result<OffsetTime, Failure> {
    Ok(OffsetTime { base_rfc3339: base.to_attributes()?.rfc3339, parts: offsets.add_to(base).to_attributes()? })
}

/// The offsets and attributes for an import ID: `BASE,YEARS,MONTHS,DAYS,HOURS,MINUTES,SECONDS`.
pub fn import(id: &str) -> Result<(Offsets, OffsetTime), Failure> {
    const SUMMARY: &str = "Import time offset error";
    const FORM: &str = "BASETIMESTAMP,YEARS,MONTHS,DAYS,HOURS,MINUTES,SECONDS";
    let fields: Vec<&str> = id.split(',').collect();
    let &[base, years, months, days, hours, minutes, seconds] = fields.as_slice() else {
        return Err(bad_id(id, FORM));
    };
    if base.is_empty() || fields[1..].iter().all(|field| field.is_empty()) {
        return Err(bad_id(id, &format!("{FORM} where at least one offset value is non-empty")));
    }
    let number = |text, unit| {
        let problem = format!("The offset_{unit} parameter that was supplied could not be parsed as Int64.");
        import_number(text, "offset").map_err(|error| import_error(SUMMARY, &problem, &error))
    };
    let offsets = Offsets {
        years: number(years, "years")?,
        months: number(months, "months")?,
        days: number(days, "days")?,
        hours: number(hours, "hours")?,
        minutes: number(minutes, "minutes")?,
        seconds: number(seconds, "seconds")?,
    };
    let problem = "The base_rfc3339 timestamp that was supplied could not be parsed as RFC3339.";
    // The summary is the reference's: here, and nowhere else, it speaks of the creation.
    let base = Timestamp::parse(base).map_err(|error| import_error("Create time offset error", problem, &error))?;
    Ok((offsets, at(base, &offsets)?))
}
