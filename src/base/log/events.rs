//! The subscriber of the program: makes lines of the events of `tracing`.

use std::sync::Arc;

use serde_json::Value;
use terrane_logging::{Entry, Level, library};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

use super::{OWN_CRATES, Writer};

pub struct Events {
    /// The lowest level of the program itself.
    pub core: Level,
    pub writer: Arc<Writer>,
}

fn is_own(metadata: &Metadata<'_>) -> bool {
    OWN_CRATES.contains(&library::crate_of(metadata.target()))
}

impl Subscriber for Events {
    /// Once for each place in the code: what is below the level costs as little as without a log.
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let level = if is_own(metadata) { Level::from(*metadata.level()) } else { Level::Trace };
        // Lines have no context: spans are those of OpenTelemetry.
        !metadata.is_span() && level >= self.core
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.core.into())
    }

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        let entry = Entry::of(event);
        if is_own(metadata) {
            self.writer.write((*metadata.level()).into(), "", &entry.message, &texts(entry.fields));
        } else if let Some(entry) = library::reduced(entry) {
            self.writer.write(Level::Trace, metadata.target(), &entry.message, &texts(entry.fields));
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn texts(fields: terrane_logging::Fields) -> Vec<(String, String)> {
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    fields.into_iter().map(|(name, value)| (name.to_owned(), text(value))).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::io::{self, Write};
    use std::sync::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The lines of some work, at the time "T".
    fn log_of(core: Level, json: bool, work: impl FnOnce()) -> String {
        let buffer = Buffer::default();
        let writer = Writer { json, clock: |_| "T".to_owned(), out: Mutex::new(Box::new(buffer.clone())) };
        tracing::subscriber::with_default(Events { core, writer: Arc::new(writer) }, work);
        let bytes = buffer.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn some_work() {
        let span = tracing::info_span!("call", id = 1);
        let _entered = span.enter();
        tracing::trace!("reading {:?}", "a b");
        tracing::debug!(bytes = 3, path = "/x y", "read");
        tracing::info!("started");
        tracing::warn!("two\nlines");
        tracing::error!(text = "a\nb\n", "failed: {}", 1);
        tracing::error!(target: "h2::client", len = 9, frame = ?Some(7), authorization = "Basic YTpi", "sent: Basic {}", "YTpi");
        tracing::info!(target: "hyper_util::client", len = 9, "connecting to {}", "http://me:pw@h");
    }

    #[test]
    fn events_are_lines_of_text() {
        let expected = "T [TRACE] reading \"a b\"\n\
                        T [DEBUG] read: bytes=3 path=\"/x y\"\n\
                        T [INFO]  started\n\
                        T [WARN]  two\nlines\n\
                        T [ERROR] failed: 1: text=\n  | a\n  | b\n\
                        T [TRACE] hyper_util::client: connecting to http: len=9\n";
        assert_eq!(log_of(Level::Trace, false, some_work), expected);
    }

    #[test]
    fn events_are_lines_of_json() {
        let expected = "{\"@level\":\"trace\",\"@message\":\"reading \\\"a b\\\"\",\"@timestamp\":\"T\"}\n\
                        {\"@level\":\"debug\",\"@message\":\"read\",\"@timestamp\":\"T\",\"bytes\":\"3\",\"path\":\"/x y\"}\n\
                        {\"@level\":\"info\",\"@message\":\"started\",\"@timestamp\":\"T\"}\n\
                        {\"@level\":\"warn\",\"@message\":\"two\\nlines\",\"@timestamp\":\"T\"}\n\
                        {\"@level\":\"error\",\"@message\":\"failed: 1\",\"@timestamp\":\"T\",\"text\":\"a\\nb\\n\"}\n\
                        {\"@level\":\"trace\",\"@message\":\"connecting to http\",\"@module\":\"hyper_util::client\",\
                        \"@timestamp\":\"T\",\"len\":\"9\"}\n";
        assert_eq!(log_of(Level::Trace, true, some_work), expected);
    }

    #[test]
    fn libraries_log_at_trace_level_only() {
        let lines = log_of(Level::Debug, false, some_work);
        assert!(lines.starts_with("T [DEBUG] read") && !lines.contains("connecting"), "{lines}");
        assert_eq!(log_of(Level::Error, false, some_work).lines().count(), 3);
    }

    #[test]
    fn disabled_messages_are_not_formatted() {
        struct Unread;
        impl fmt::Display for Unread {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                unreachable!("formatted")
            }
        }
        let message = || {
            tracing::debug!("{Unread}");
            assert!(!tracing::enabled!(tracing::Level::DEBUG));
            assert!(!tracing::enabled!(target: "h2::client", tracing::Level::ERROR));
        };
        message();
        assert_eq!(log_of(Level::Info, false, message), "");
        log_of(Level::Debug, false, || assert!(tracing::enabled!(tracing::Level::DEBUG)));
    }

    #[test]
    fn known_secrets_are_masked() {
        crate::secret::keep_for_masking();
        let secret = crate::secret::Secret::new("hunter2-of-the-log");
        let lines = log_of(Level::Trace, false, || tracing::info!(field = secret.reveal(), "x{}x", secret.reveal()));
        assert_eq!(lines, "T [INFO]  x(sensitive)x: field=(sensitive)\n");
    }
}
