//! `init` as programs follow it: a stream of JSON lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::diag::{Diagnostics, Kind};
use model::version::at_least;
use ops::init::{InitEvent, InitOutcome};
use ops::providers::Trust;
use render::json::{events, policies};
use render::text::style::Style;

use super::contract::InitView;
use super::human::{install, is_of_store};
use super::texts::{advice, message, ready, ready_codes, reused_version, trust_text};
use crate::console::Console;
use crate::opentofu;
use crate::view::get::module_message;
use crate::view::json::{write, write_to_the_second};

pub struct InitJson {
    console: Arc<Console>,
    /// There is a state store: versions are named, as by those versions of the reference that have them.
    has_store: AtomicBool,
    /// The first message is written.
    begun: AtomicBool,
}

impl InitJson {
    pub fn new(console: Arc<Console>) -> InitJson {
        InitJson { console, has_store: AtomicBool::new(false), begun: AtomicBool::new(false) }
    }

    /// Begins the stream, unless it has begun; `event` is the first that there is to write.
    fn begin(&self, event: Option<&InitEvent>) {
        let of_store = event.is_some_and(is_of_store);
        self.has_store.fetch_or(of_store, Ordering::Relaxed);
        if !self.begun.swap(true, Ordering::Relaxed) {
            write(&self.console, &events::version(of_store, self.console.dialect()));
        }
    }

    fn output(&self, text: &str, code: &str) {
        write_to_the_second(&self.console, &events::init_output(text, code));
    }

    /// OpenTofu has no codes, and no line ends within its messages.
    fn note(&self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        write(&self.console, &events::note(words.join(" ")));
    }

    /// The lines that people read too, without what sets them apart.
    fn opentofu(&self, event: &InitEvent) {
        let text = match event {
            InitEvent::Install(event) => {
                match install(event, &Style { dialect: self.console.dialect(), ..Style::plain() }) {
                    Some(text) => text,
                    None => return,
                }
            }
            InitEvent::Module(event) => {
                let message = module_message(event, self.console.dialect());
                return message.iter().for_each(|message| write(&self.console, message));
            }
            _ => match message(event, self.console.dialect()) {
                Some((text, _)) => text,
                None => return,
            },
        };
        self.note(text.trim_start_matches("- "));
    }

    fn diagnostics(&self, diagnostics: &Diagnostics) {
        // What policies found was written with their results.
        let others = diagnostics.iter().filter(|diagnostic| diagnostic.kind != Kind::Policy);
        others.for_each(|diagnostic| write(&self.console, &events::diagnostic(diagnostic)));
    }
}

impl InitView for InitJson {
    fn event(&self, event: &InitEvent) {
        self.begin(Some(event));
        if let InitEvent::Diagnostics(diagnostics) = event {
            self.diagnostics(diagnostics);
            return;
        }
        if let InitEvent::Policy(report) = event {
            return policies::messages(report).iter().for_each(|message| write(&self.console, message));
        }
        if let InitEvent::NotSound(text) = event {
            let lines: Vec<&str> = text.split_whitespace().collect();
            return write(&self.console, &events::error(lines.join(" ")));
        }
        if let InitEvent::StoreProviderTrust(trust) = event {
            let kind = match trust {
                Trust::Automatic => "provider_automatic_approval",
                Trust::Approved => "provider_interactive_approval",
                Trust::Rejected => "provider_interactive_rejection",
            };
            return write(&self.console, &events::store_provider_trust(kind, trust_text(*trust)));
        }
        if let InitEvent::StoreProvider { .. } = event {
            let text = message(event, self.console.dialect()).map(|(text, _)| text).unwrap_or_default();
            return write(&self.console, &events::store_provider_start(text));
        }
        if let InitEvent::Install(event) = event
            && let Some((provider, version)) = reused_version(event)
            && (self.has_store.load(Ordering::Relaxed) || at_least(17))
        {
            let provider = provider.for_display();
            let text = format!("{provider}: Reusing version {version} from the dependency lock file");
            return write(&self.console, &events::log(text));
        }
        if opentofu::has_plain_streams(self.console.dialect()) {
            return self.opentofu(event);
        }
        let Some((text, code)) = message(event, self.console.dialect()) else { return };
        match code {
            Some(code) => self.output(&text, code),
            None => write(&self.console, &events::log(text)),
        }
    }

    fn finish(&self, outcome: InitOutcome) {
        self.begin(None);
        self.diagnostics(outcome.diagnostics());
        let InitOutcome::Ready { place, .. } = outcome else { return };
        if opentofu::has_plain_streams(self.console.dialect()) {
            self.note(&ready(place));
            return self.note(&advice(place));
        }
        let (ready_code, advice_code) = ready_codes(place);
        self.output(&ready(place), ready_code);
        self.output(advice(place).trim_start(), advice_code);
    }
}
