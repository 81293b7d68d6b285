//! `time_sleep`: waits while it is created or destroyed.

use terrane_sdk::validators::{at_least_one_of, matches};
use terrane_sdk::{Attribute, Context, Creation, Error, Import, Object, Resource, Schema, Type, Value, keep};

use super::triggers;
use crate::providers::time::rules::sleep::{self, DURATION_RULE, Pause};
use crate::providers::time::timestamp::Timestamp;

const DURATIONS: &[&str] = &["create_duration", "destroy_duration"];

pub struct Sleep;

/// Waits; an interrupt ends the wait with an error.
async fn wait(context: &Context<()>, pause: Pause, text: Option<&str>) -> Result<(), Error> {
    let length = pause.duration(text)?;
    tokio::select! {
        () = tokio::time::sleep(length) => Ok(()),
        () = context.stopping() => Err(pause.interrupted().into()),
    }
}

/// The time as the ID of an object.
fn id() -> Result<Value, Error> {
    Ok(Value::string(Timestamp::now().to_attributes()?.rfc3339))
}

impl Resource for Sleep {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        let duration = |name: &str, when: &str| {
            Attribute::string(name)
                .optional()
                .description(format!("How long to wait {when}: a number with the unit ms, s, m or h."))
                .validator(matches(DURATION_RULE, sleep::is_valid_duration))
                .validator(at_least_one_of(DURATIONS))
        };
        Schema::new([
            duration("create_duration", "after the creation"),
            duration("destroy_duration", "before the deletion"),
            Attribute::string("id").computed().description("The time of the creation.").modifier(keep()),
            triggers(),
        ])
        .description("Waits while it is created or destroyed.")
    }

    async fn create(&self, context: &mut Context<()>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        let planned = creation.planned.model()?;
        wait(context, Pause::AfterCreate, planned.text("create_duration")).await?;
        Ok(planned.with([("id", id()?)]))
    }

    async fn delete(&self, context: &mut Context<()>, state: Object) -> Result<(), Error> {
        wait(context, Pause::BeforeDelete, state.text("destroy_duration")).await
    }

    async fn import(&self, _: &mut Context<()>, import: Import) -> Result<Object, Error> {
        let (create, destroy) = sleep::import(import.id()?)?;
        let text = |text: Option<&str>| text.map_or_else(|| Value::null(Type::String), Value::string);
        let triggers = Value::map(Type::String, std::iter::empty::<(std::sync::Arc<str>, Value)>());
        let values = [
            ("create_duration", text(create)),
            ("destroy_duration", text(destroy)),
            ("id", id()?),
            ("triggers", triggers),
        ];
        Ok(Object::of(&self.schema().block, values))
    }
}
