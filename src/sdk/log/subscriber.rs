//! The subscriber of a provider: makes lines of the events of `tracing`.

use std::sync::Arc;

use terrane_logging::{Entry, Fields, Level, library};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_core::span::Current;

use super::{Log, is_own, spans};

pub struct ProviderLog(pub Arc<Log>);

impl Subscriber for ProviderLog {
    /// Once for each place in the code: what is below the level costs one comparison.
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    /// Spans of any level are context for lines of any level.
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        match is_own(metadata.target()) {
            true => metadata.is_span() || Level::from(*metadata.level()) >= self.0.level,
            false => !metadata.is_span() && self.0.level == Level::Trace,
        }
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut entry = Entry::default();
        attributes.record(&mut entry);
        let parent = match attributes.is_contextual() {
            true => spans::current(),
            false => attributes.parent().map(Id::into_u64),
        };
        Id::from_u64(self.0.spans.open(attributes.metadata(), fields_of(entry), parent))
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let mut entry = Entry::default();
        values.record(&mut entry);
        self.0.spans.record(id.into_u64(), fields_of(entry));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let (log, metadata) = (&self.0, event.metadata());
        let span = match event.is_contextual() {
            true => spans::current(),
            false => event.parent().map(Id::into_u64),
        };
        let entry = Entry::of(event);
        if is_own(metadata.target()) {
            let fields = named(entry.fields).collect();
            log.write((*metadata.level()).into(), &log.module, &entry.message, fields, span);
        } else if let Some(entry) = library::reduced(entry) {
            let module = format!("{}.{}", log.module, metadata.target());
            log.write(Level::Trace, &module, &entry.message, named(entry.fields).collect(), span);
        }
    }

    fn enter(&self, id: &Id) {
        spans::enter(id.into_u64());
    }

    fn exit(&self, id: &Id) {
        spans::exit(id.into_u64());
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.0.spans.keep(id.into_u64());
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        self.0.spans.release(id.into_u64())
    }

    fn current_span(&self) -> Current {
        let current = spans::current().and_then(|id| Some((id, self.0.spans.metadata(id)?)));
        current.map_or_else(Current::none, |(id, metadata)| Current::new(Id::from_u64(id), metadata))
    }
}

/// A field `message` of a span is a field as others are.
fn fields_of(entry: Entry) -> Fields {
    let message = (!entry.message.is_empty()).then(|| ("message", entry.message.into()));
    message.into_iter().chain(entry.fields).collect()
}

fn named(fields: Fields) -> impl Iterator<Item = (String, serde_json::Value)> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value))
}
