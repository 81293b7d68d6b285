//! `time_static`, `time_offset` and `time_rotating`: timestamps that are kept in the state.

use terrane_sdk::validators::at_least;
use terrane_sdk::{
    Attribute, ConfiguredAttribute, Context, Creation, Error, Import, Object, Plan, PlanModifier, PlannedAttribute,
    Resource, Schema, Type, Update, Validation, Value, replace,
};

use super::fixed;
use super::offset::{self, OffsetTime, Offsets};
use super::provider::triggers;
use super::rotating::{self, RotatingTime, Rotation};
use super::timestamp::{self, Parts};
use crate::providers::rules::require_one_of;

const PARTS: &[&str] = &["year", "month", "day", "hour", "minute", "second"];

/// The computed parts of a timestamp, and the ID.
fn parts_attributes() -> impl Iterator<Item = Attribute> {
    let number = |name: &str, text: String| Attribute::int(name).computed().description(text);
    let parts = PARTS.iter().map(move |name| number(name, format!("The {name} of the timestamp.")));
    let unix = number("unix", "Seconds from 1970-01-01T00:00:00Z to the timestamp.".to_owned());
    let id = Attribute::string("id").computed().description("A timestamp in RFC 3339 format.");
    parts.chain([unix, id])
}

/// A timestamp in RFC 3339 format.
fn timestamp_attribute(name: &str, text: &str) -> Attribute {
    Attribute::string(name).description(text).validator(|attribute: &mut ConfiguredAttribute<'_>| {
        if let Some(Err(failure)) = attribute.value.as_str().map(timestamp::check) {
            attribute.error(failure.summary, failure.detail);
        }
    })
}

fn parts_values(parts: &Parts) -> Vec<(&'static str, Value)> {
    vec![
        ("year", Value::int(parts.year)),
        ("month", Value::int(parts.month)),
        ("day", Value::int(parts.day)),
        ("hour", Value::int(parts.hour)),
        ("minute", Value::int(parts.minute)),
        ("second", Value::int(parts.second)),
        ("unix", Value::int(parts.unix)),
    ]
}

/// Sets attributes of a planned object.
fn set(plan: &mut Plan<Object>, values: Vec<(&'static str, Value)>) {
    for (name, value) in values {
        plan.planned.set_value(name, value);
    }
}

/// A known text of an object; none if it is null, unknown or empty.
fn text<'v>(object: &'v Value, name: &str) -> Option<&'v str> {
    object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// An imported object: triggers are empty, so that a configuration without them replaces it.
fn imported(schema: &Schema, values: Vec<(&'static str, Value)>) -> Object {
    let triggers = Value::map(Type::String, std::iter::empty::<(std::sync::Arc<str>, Value)>());
    Object::of(&schema.block, values).with([("triggers", triggers)])
}

/// Keeps the earlier spelling of a timestamp that means the same.
fn keep_same_timestamp() -> impl PlanModifier {
    |attribute: &mut PlannedAttribute<'_>| {
        if let (Some(old), Some(new)) = (attribute.prior.as_str(), attribute.planned.as_str())
            && timestamp::is_same(old, new)
        {
            attribute.planned = attribute.prior.clone();
        }
    }
}

/// `time_static`.
pub struct Fixed;

fn fixed_values(parts: &Parts) -> Vec<(&'static str, Value)> {
    let mut values = parts_values(parts);
    values.push(("rfc3339", Value::string(&parts.rfc3339)));
    values.push(("id", Value::string(&parts.rfc3339)));
    values
}

impl Resource for Fixed {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        let rfc3339 = timestamp_attribute("rfc3339", "The timestamp, by default the time of the creation.");
        let rfc3339 = rfc3339.optional().computed().modifier(replace());
        Schema::new(parts_attributes().chain([rfc3339, triggers()])).description("A timestamp that stays.")
    }

    /// A given timestamp is the ID as it is written. Objects that exist keep theirs.
    async fn plan(&self, _: &mut Context<()>, plan: &mut Plan<Object>) -> Result<(), Error> {
        if !plan.is_create() {
            return Ok(());
        }
        if let Some(given) = text(plan.config.value(), "rfc3339").map(str::to_owned) {
            set(plan, parts_values(&fixed::attributes(Some(&given), timestamp::now())?));
            plan.planned.set_value("id", Value::string(given));
        }
        Ok(())
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        let planned = creation.planned.model()?;
        let given = planned.text("rfc3339").filter(|text| !text.is_empty());
        let parts = fixed::attributes(given, timestamp::now())?;
        let written = given.unwrap_or(&parts.rfc3339);
        let mut values = parts_values(&parts);
        values.extend([("rfc3339", Value::string(written)), ("id", Value::string(written))]);
        Ok(planned.with(values))
    }

    async fn import(&self, _: &mut Context<()>, import: Import) -> Result<Object, Error> {
        Ok(imported(&self.schema(), fixed_values(&fixed::import(import.id()?)?)))
    }
}

const OFFSETS: &[&str] =
    &["offset_years", "offset_months", "offset_days", "offset_hours", "offset_minutes", "offset_seconds"];

/// `time_offset`.
pub struct Offset;

fn offsets(object: &Value) -> Offsets {
    let number = |name: &str| object.get(name).and_then(Value::as_i64);
    Offsets {
        years: number("offset_years"),
        months: number("offset_months"),
        days: number("offset_days"),
        hours: number("offset_hours"),
        minutes: number("offset_minutes"),
        seconds: number("offset_seconds"),
    }
}

fn offset_values(time: &OffsetTime) -> Vec<(&'static str, Value)> {
    let mut values = parts_values(&time.parts);
    values.push(("rfc3339", Value::string(&time.parts.rfc3339)));
    values.push(("base_rfc3339", Value::string(&time.base_rfc3339)));
    values.push(("id", Value::string(&time.base_rfc3339)));
    values
}

impl Offset {
    /// The object with what is computed from its base.
    fn complete(planned: &Object) -> Result<Object, Error> {
        let base = planned.text("base_rfc3339").filter(|text| !text.is_empty());
        let time = offset::attributes(base, &offsets(&planned.0), timestamp::now())?;
        let mut values = offset_values(&time);
        values.retain(|(name, _)| *name != "base_rfc3339" || base.is_none());
        Ok(planned.with(values))
    }
}

impl Resource for Offset {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        let base = timestamp_attribute("base_rfc3339", "The base, by default the time of the creation.");
        let base = base.optional().computed();
        let result = Attribute::string("rfc3339").computed().description("The base with all offsets added.");
        let offsets = OFFSETS.iter().map(|name| {
            let unit = name.trim_start_matches("offset_");
            let text = format!("The number of {unit} to add to the base. At least one offset must be given.");
            Attribute::int(*name).optional().description(text)
        });
        Schema::new(parts_attributes().chain(offsets).chain([base, result, triggers()]))
            .description("A timestamp at a distance from a base.")
    }

    fn validate(&self, validation: &mut Validation<'_, Object>) {
        require_one_of(validation, OFFSETS);
    }

    /// A change of an offset shows the new timestamp; one of the base only at apply.
    async fn plan(&self, _: &mut Context<()>, plan: &mut Plan<Object>) -> Result<(), Error> {
        if plan.is_create() || plan.is_destroy() {
            return Ok(());
        }
        let (prior, planned) = (plan.prior.value(), plan.planned.value());
        let is_known = OFFSETS.iter().all(|name| planned.get(name).is_some_and(Value::is_known));
        if !is_known || OFFSETS.iter().all(|name| prior.get(name) == planned.get(name)) {
            return Ok(());
        }
        let base = text(planned, "base_rfc3339").or_else(|| text(prior, "base_rfc3339"));
        let time = offset::attributes(base, &offsets(planned), timestamp::now())?;
        set(plan, offset_values(&time));
        Ok(())
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        Offset::complete(&creation.planned.model()?)
    }

    async fn update(&self, _: &mut Context<()>, update: &mut Update<Object>) -> Result<Object, Error> {
        Offset::complete(&update.planned.model()?)
    }

    async fn import(&self, _: &mut Context<()>, import: Import) -> Result<Object, Error> {
        let (offsets, time) = offset::import(import.id()?)?;
        let mut values = offset_values(&time);
        let counts = [offsets.years, offsets.months, offsets.days, offsets.hours, offsets.minutes, offsets.seconds];
        let given = OFFSETS.iter().zip(counts).filter_map(|(name, count)| Some((*name, Value::int(count?))));
        values.extend(given);
        Ok(imported(&self.schema(), values))
    }
}

const UNITS: &[&str] = &["rotation_years", "rotation_months", "rotation_days", "rotation_hours", "rotation_minutes"];
const ROTATION: &str = "rotation_rfc3339";
const ROTATIONS: &[&str] =
    &["rotation_years", "rotation_months", "rotation_days", "rotation_hours", "rotation_minutes", ROTATION];

/// `time_rotating`.
pub struct Rotating;

fn rotation(object: &Value, rfc3339: Option<&str>) -> Rotation {
    let number = |name: &str| object.get(name).and_then(Value::as_i64);
    Rotation {
        years: number("rotation_years"),
        months: number("rotation_months"),
        days: number("rotation_days"),
        hours: number("rotation_hours"),
        minutes: number("rotation_minutes"),
        rfc3339: rfc3339.map(str::to_owned),
    }
}

fn rotating_values(time: &RotatingTime) -> Vec<(&'static str, Value)> {
    let mut values = parts_values(&time.rotation);
    values.push((ROTATION, Value::string(&time.rotation.rfc3339)));
    values.push(("rfc3339", Value::string(&time.rfc3339)));
    values.push(("id", Value::string(&time.rfc3339)));
    values
}

/// A change of the rotation's time replaces the object if that time has passed.
fn replace_if_passed() -> impl PlanModifier {
    |attribute: &mut PlannedAttribute<'_>| {
        let is_change = !attribute.planned_object.is_null()
            && !attribute.config.is_null()
            && !attribute.prior.is_null()
            && attribute.planned != *attribute.prior;
        let passed = attribute
            .prior
            .as_str()
            .is_some_and(|text| rotating::change_replaces(text, timestamp::now()).unwrap_or(false));
        attribute.requires_replace |= is_change && passed;
    }
}

impl Rotating {
    /// The object with what is computed from its base; given spellings stay.
    fn complete(planned: &Object, base: Option<&str>) -> Result<Object, Error> {
        let given = planned.text(ROTATION).filter(|text| !text.is_empty());
        let time = rotating::attributes(base, &rotation(&planned.0, given), timestamp::now())?;
        let mut values = rotating_values(&time);
        let known = |name: &str| planned.text(name).is_some_and(|text| !text.is_empty());
        values.retain(|(name, _)| !matches!(*name, "rfc3339" | ROTATION) || !known(name));
        Ok(planned.with(values))
    }
}

impl Resource for Rotating {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        let base = timestamp_attribute("rfc3339", "The base, by default the time of the creation.");
        let base = base.optional().computed().modifier(keep_same_timestamp()).modifier(replace());
        let at = timestamp_attribute(ROTATION, "The time after which the resource is replaced.");
        let at = at.optional().computed();
        let at = at.modifier(keep_same_timestamp()).modifier(replace_if_passed());
        let units = UNITS.iter().map(|name| {
            let unit = name.trim_start_matches("rotation_");
            let text = format!("The number of {unit} after the base when the resource is replaced.");
            Attribute::int(*name).optional().description(text).validator(at_least(1))
        });
        Schema::new(parts_attributes().chain(units).chain([base, at, triggers()]))
            .description("A timestamp that is replaced once a later one has passed.")
    }

    fn validate(&self, validation: &mut Validation<'_, Object>) {
        require_one_of(validation, ROTATIONS);
    }

    /// A change of the rotation shows its new time.
    async fn plan(&self, _: &mut Context<()>, plan: &mut Plan<Object>) -> Result<(), Error> {
        if plan.is_create() || plan.is_destroy() {
            return Ok(());
        }
        let (prior, planned, config) = (plan.prior.value(), plan.planned.value(), plan.config.value());
        let is_known = UNITS.iter().all(|name| planned.get(name).is_some_and(Value::is_known));
        let units_changed = UNITS.iter().any(|name| prior.get(name) != planned.get(name));
        let given = text(config, ROTATION);
        let time_changed = given.is_some() && given != text(prior, ROTATION);
        if !is_known || !(units_changed || time_changed) {
            return Ok(());
        }
        let base = text(planned, "rfc3339").or_else(|| text(prior, "rfc3339"));
        // The time in the state counts only where no units are given.
        let has_units = UNITS.iter().any(|name| planned.get(name).and_then(Value::as_i64).is_some());
        let at = given.or_else(|| if has_units { None } else { text(prior, ROTATION) });
        let time = rotating::attributes(base, &rotation(planned, at), timestamp::now())?;
        set(plan, rotating_values(&time));
        Ok(())
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        let planned = creation.planned.model()?;
        let base = planned.text("rfc3339").map(str::to_owned);
        Rotating::complete(&planned, base.as_deref())
    }

    async fn read(&self, _: &mut Context<()>, state: Object) -> Result<Option<Object>, Error> {
        let is_expired = rotating::is_expired(state.text(ROTATION), timestamp::now())?;
        Ok((!is_expired).then_some(state))
    }

    async fn update(&self, _: &mut Context<()>, update: &mut Update<Object>) -> Result<Object, Error> {
        let planned = update.planned.model()?;
        let base = planned.text("id").map(str::to_owned);
        Rotating::complete(&planned, base.as_deref())
    }

    async fn import(&self, _: &mut Context<()>, import: Import) -> Result<Object, Error> {
        let (rotation, time) = rotating::import(import.id()?)?;
        let mut values = rotating_values(&time);
        let counts = [rotation.years, rotation.months, rotation.days, rotation.hours, rotation.minutes];
        values.extend(UNITS.iter().zip(counts).filter_map(|(name, count)| Some((*name, Value::int(count?)))));
        Ok(imported(&self.schema(), values))
    }
}
