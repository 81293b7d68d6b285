//! The rules of `time_rotating`: a timestamp that is replaced after its rotation time.

use std::fmt::Display;

use super::{NotANumber, bad_id, import_error, import_number};
use crate::providers::failure::Failure;
use crate::providers::time::timestamp::{Parts, Timestamp};

const NANOSECONDS_PER_MINUTE: i64 = 60_000_000_000;

/// The attributes `rotation_...`. At least one is required.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rotation {
    pub years: Option<i64>,
    pub months: Option<i64>,
    pub days: Option<i64>,
    pub hours: Option<i64>,
    pub minutes: Option<i64>,
    pub rfc3339: Option<String>,
}

/// The computed attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotatingTime {
    /// The base, also the `id`.
    pub rfc3339: String,
    /// Of the rotation; its `rfc3339` is the attribute `rotation_rfc3339`.
    pub rotation: Parts,
}

impl Rotation {
    /// Units are not added: the last one set, in the order days, hours, minutes, months, timestamp, years, takes
    /// effect.
    fn of_base(&self, base: Timestamp) -> Result<Timestamp, Failure> {
        let given = |count: Option<i64>| count.filter(|count| *count != 0);
        if let Some(years) = given(self.years) {
            return Ok(base.add_date(years, 0, 0));
        }
        if let Some(text) = self.rfc3339.as_deref().filter(|text| !text.is_empty()) {
            return super::stored(text);
        }
        if let Some(months) = given(self.months) {
            return Ok(base.add_date(0, months, 0));
        }
        if let Some(minutes) = given(self.minutes) {
            return Ok(base.add_nanoseconds(minutes.wrapping_mul(NANOSECONDS_PER_MINUTE)));
        }
        if let Some(hours) = given(self.hours) {
            return Ok(base.add_nanoseconds(hours.wrapping_mul(60 * NANOSECONDS_PER_MINUTE)));
        }
        Ok(given(self.days).map_or(Timestamp::ZERO, |days| base.add_date(0, 0, days)))
    }
}

/// Computes the attributes for a base, by default the current time.
///
/// A plan for an existing object computes them only if the rotation changed: from the planned base, or the state's if
/// that is not known, and likewise for `rotation_rfc3339`. Note that the state's `rotation_rfc3339` takes precedence
/// over the shorter units. An update computes them from the `id`.
pub fn attributes(base: Option<&str>, rotation: &Rotation, now: Timestamp) -> Result<RotatingTime, Failure> {
    let base = base.filter(|text| !text.is_empty()).map_or(Ok(now), super::stored)?;
    at(base, rotation)
}

fn at(base: Timestamp, rotation: &Rotation) -> Result<RotatingTime, Failure> {
    Ok(RotatingTime { rfc3339: base.to_attributes()?.rfc3339, rotation: rotation.of_base(base)?.to_attributes()? })
}

/// Returns whether a read removes the object because its `rotation_rfc3339` has passed.
pub fn is_expired(rotation_rfc3339: Option<&str>, now: Timestamp) -> Result<bool, Failure> {
    match rotation_rfc3339.filter(|text| !text.is_empty()) {
        Some(text) => Ok(now.is_after(super::stored(text)?)),
        None => Ok(false),
    }
}

/// Returns whether a change of `rotation_rfc3339` replaces the object, because the stored one has passed.
pub fn change_replaces(state_rotation: &str, now: Timestamp) -> Result<bool, Failure> {
    let problem = "The rotation rfc3339 timestamp that was supplied could not be parsed as RFC3339.";
    let rotation = Timestamp::parse(state_rotation)
        .map_err(|error| import_error("replaceIfOutdated plan modifier error", problem, &error))?;
    Ok(now.is_after(rotation))
}

/// The rotation and attributes for an import ID: `BASE,YEARS,MONTHS,DAYS,HOURS,MINUTES` or `BASE,ROTATION`.
pub fn import(id: &str) -> Result<(Rotation, RotatingTime), Failure> {
    const UNITS: &str = "BASETIMESTAMP,YEARS,MONTHS,DAYS,HOURS,MINUTES";
    const TIMESTAMP: &str = "BASETIMESTAMP,ROTATIONTIMESTAMP";
    let fields: Vec<&str> = id.split(',').collect();
    let failed = |problem: &str, cause: &dyn Display| import_error("Import time rotating error", problem, cause);
    match *fields.as_slice() {
        ["", _] | [_, ""] => Err(bad_id(id, TIMESTAMP)),
        [base, rotation] => {
            let problem = "The timestamp that was supplied could not be parsed as RFC3339.";
            let parse = |text| Timestamp::parse(text).map_err(|error| failed(problem, &error));
            let (base, rotation) = (parse(base)?, parse(rotation)?);
            let attributes =
                RotatingTime { rfc3339: base.to_attributes()?.rfc3339, rotation: rotation.to_attributes()? };
            Ok((Rotation::default(), attributes))
        }
        ["", _, _, _, _, _] | [_, "", "", "", "", ""] => {
            Err(bad_id(id, &format!("{UNITS} where at least one rotation value is non-empty")))
        }
        [base, ref units @ .., _] if units.len() == 4 => {
            let problem = "The parameter that was supplied could not be parsed.";
            let rotation = import_units(&fields[1..]).map_err(|error| failed(problem, &error))?;
            let base = Timestamp::parse(base).map_err(|error| failed(problem, &error))?;
            let attributes = at(base, &positive(&rotation))?;
            Ok((rotation, attributes))
        }
        _ => Err(bad_id(id, &format!("{UNITS} or {TIMESTAMP}"))),
    }
}

fn import_units(fields: &[&str]) -> Result<Rotation, NotANumber> {
    let number = |at: usize| import_number(fields.get(at).copied().unwrap_or_default(), "rotation");
    Ok(Rotation {
        years: number(0)?,
        months: number(1)?,
        days: number(2)?,
        hours: number(3)?,
        minutes: number(4)?,
        rfc3339: None,
    })
}

/// Imports store negative numbers but ignore them in the calculation.
fn positive(rotation: &Rotation) -> Rotation {
    let kept = |count: Option<i64>| count.filter(|count| *count > 0);
    Rotation {
        years: kept(rotation.years),
        months: kept(rotation.months),
        days: kept(rotation.days),
        hours: kept(rotation.hours),
        minutes: kept(rotation.minutes),
        rfc3339: None,
    }
}
