//! `time_rotating`: a timestamp that is replaced once a later one has passed.

use terrane_sdk::validators::at_least;
use terrane_sdk::{
    Attribute, Context, Creation, Error, Import, Object, Plan, PlanModifier, PlannedAttribute, Resource, Schema,
    Update, Validation, Value, replace,
};

use super::{imported, keep_same_timestamp, parts_attributes, parts_values, set, text, timestamp_attribute, triggers};
use crate::providers::rules::require_one_of;
use crate::providers::time::rules::rotating::{self, RotatingTime, Rotation};
use crate::providers::time::timestamp::Timestamp;

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
            .is_some_and(|text| rotating::change_replaces(text, Timestamp::now()).unwrap_or(false));
        attribute.requires_replace |= is_change && passed;
    }
}

impl Rotating {
    /// The object with what is computed from its base; given spellings stay.
    fn complete(planned: &Object, base: Option<&str>) -> Result<Object, Error> {
        let given = planned.text(ROTATION).filter(|text| !text.is_empty());
        let time = rotating::attributes(base, &rotation(&planned.0, given), Timestamp::now())?;
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
        let time = rotating::attributes(base, &rotation(planned, at), Timestamp::now())?;
        set(plan, rotating_values(&time));
        Ok(())
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        let planned = creation.planned.model()?;
        let base = planned.text("rfc3339").map(str::to_owned);
        Rotating::complete(&planned, base.as_deref())
    }

    async fn read(&self, _: &mut Context<()>, state: Object) -> Result<Option<Object>, Error> {
        let is_expired = rotating::is_expired(state.text(ROTATION), Timestamp::now())?;
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
