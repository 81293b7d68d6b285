//! The resources, a file each, and what they share: timestamps that are kept in the state.
//!
//! Each owns its schema and its plan. Never knows how its attributes are computed: that is in `rules`.

mod fixed;
mod offset;
mod rotating;
mod sleep;

pub use fixed::Fixed;
pub use offset::Offset;
pub use rotating::Rotating;
pub use sleep::Sleep;
use terrane_sdk::{
    Attribute, ConfiguredAttribute, Object, Plan, PlanModifier, PlannedAttribute, Schema, Type, Value, replace,
};

use super::timestamp::{self, Parts};

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

/// The attribute that all resources have.
fn triggers() -> Attribute {
    Attribute::string_map("triggers")
        .optional()
        .description("Any texts; a change of one replaces the resource.")
        .modifier(replace())
}
