//! The content of an event.

use std::error::Error;
use std::fmt;

use serde_json::Value;
use tracing::field::{Field, Visit};

/// Names and values in the order of the event.
pub type Fields = Vec<(&'static str, Value)>;

/// The message and the other fields of an event; of a span, which has no message, its fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    pub message: String,
    pub fields: Fields,
}

impl Entry {
    pub fn of(event: &tracing::Event<'_>) -> Entry {
        let mut entry = Entry::default();
        event.record(&mut entry);
        entry
    }

    /// A field has one value: the last one.
    fn set(&mut self, field: &Field, value: Value) {
        let name = field.name();
        match self.fields.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.fields.push((name, value)),
        }
    }

    fn set_text(&mut self, field: &Field, text: String) {
        match field.name() {
            "message" => self.message = text,
            _ => self.set(field, text.into()),
        }
    }
}

impl Visit for Entry {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set_text(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set_text(field, value.to_owned());
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.set_text(field, value.to_string());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value.into());
    }
}
