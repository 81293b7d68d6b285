//! `time_offset`: a timestamp at a distance from a base.

use terrane_sdk::{
    Attribute, Context, Creation, Error, Import, Object, Plan, Resource, Schema, Update, Validation, Value,
};

use super::{imported, parts_attributes, parts_values, set, text, timestamp_attribute, triggers};
use crate::providers::rules::require_one_of;
use crate::providers::time::rules::offset::{self, OffsetTime, Offsets};
use crate::providers::time::timestamp::Timestamp;

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
        let time = offset::attributes(base, &offsets(&planned.0), Timestamp::now())?;
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
        let time = offset::attributes(base, &offsets(planned), Timestamp::now())?;
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
