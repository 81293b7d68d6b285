//! `time_static`: a timestamp that stays.

use terrane_sdk::{Context, Creation, Error, Import, Object, Plan, Resource, Schema, Value, replace};

use super::{imported, parts_attributes, parts_values, set, text, timestamp_attribute, triggers};
use crate::providers::time::rules::fixed;
use crate::providers::time::timestamp::{Parts, Timestamp};

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
            set(plan, parts_values(&fixed::attributes(Some(&given), Timestamp::now())?));
            plan.planned.set_value("id", Value::string(given));
        }
        Ok(())
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        let planned = creation.planned.model()?;
        let given = planned.text("rfc3339").filter(|text| !text.is_empty());
        let parts = fixed::attributes(given, Timestamp::now())?;
        let written = given.unwrap_or(&parts.rfc3339);
        let mut values = parts_values(&parts);
        values.extend([("rfc3339", Value::string(written)), ("id", Value::string(written))]);
        Ok(planned.with(values))
    }

    async fn import(&self, _: &mut Context<()>, import: Import) -> Result<Object, Error> {
        Ok(imported(&self.schema(), fixed_values(&fixed::import(import.id()?)?)))
    }
}
