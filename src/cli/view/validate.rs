//! What `validate` shows.

use std::sync::Arc;

use base::diag::Diagnostics;
use engine::event::Event;
use engine::ports::Observer;
use ops::interface::listen::SilentListener;
use render::json::diagnostic::diagnostic_json;
use render::json::go;
use render::text::progress;
use render::text::wrap::wrap;
use serde::{Serialize, Serializer};

use super::both::Both;
use crate::console::Console;
use crate::opentofu;

/// The view of `validate`.
pub trait ValidateView {
    /// What follows the validation while it runs.
    fn observer(&self) -> Arc<dyn Observer>;

    fn result(&self, diagnostics: Diagnostics);
}

pub fn view(console: &Arc<Console>, json: bool) -> Box<dyn ValidateView> {
    let view: Box<dyn ValidateView> =
        if json { Box::new(ValidateJson(console.clone())) } else { Box::new(ValidateHuman(console.clone())) };
    match &console.copy {
        Some(copy) => Box::new(Both(view, Box::new(ValidateJson(copy.clone())))),
        None => view,
    }
}

struct ValidateHuman(Arc<Console>);

impl ValidateView for ValidateHuman {
    fn observer(&self) -> Arc<dyn Observer> {
        Arc::new(PendingRequests(self.0.clone()))
    }

    fn result(&self, diagnostics: Diagnostics) {
        result(&self.0, diagnostics);
    }
}

/// Shows of a validation how far it is, and which requests to providers are not answered, on a terminal.
struct PendingRequests(Arc<Console>);

impl Observer for PendingRequests {
    fn event(&self, event: Event) {
        self.0.progress.hear(&event);
        if matches!(event, Event::RequestPending { .. })
            && self.0.advises()
            && let Some(line) = progress::line(&event, &self.0.style)
        {
            self.0.print(&line);
        }
    }
}

/// One document.
struct ValidateJson(Arc<Console>);

impl ValidateView for ValidateJson {
    fn observer(&self) -> Arc<dyn Observer> {
        Arc::new(SilentListener)
    }

    fn result(&self, diagnostics: Diagnostics) {
        json_result(&self.0, &self.0.view.wanted(diagnostics));
    }
}

impl ValidateView for Both<Box<dyn ValidateView>> {
    fn observer(&self) -> Arc<dyn Observer> {
        self.0.observer()
    }

    fn result(&self, diagnostics: Diagnostics) {
        self.0.result(diagnostics.clone());
        self.1.result(diagnostics);
    }
}

fn result(console: &Console, diagnostics: Diagnostics) {
    let found_none = diagnostics.is_empty();
    let diagnostics = console.view.wanted(diagnostics);
    let silent = match opentofu::mentions_suppressed_warnings(console.dialect()) {
        true => found_none,
        false => diagnostics.is_empty(),
    };
    let failed = diagnostics.has_errors();
    console.diagnostics(diagnostics);
    if failed {
        return;
    }
    let but = if silent { "" } else { ", but there were some validation warnings as shown above" };
    let text = console.style.fill("[green][bold]Success![reset] The configuration is valid{}.\n", &[&but]);
    // As in the reference, the escape sequences count as text.
    console.line(&wrap(&text, console.style.width.saturating_sub(1)));
}

#[derive(Serialize)]
struct ResultJson<'a> {
    format_version: &'static str,
    valid: bool,
    error_count: usize,
    warning_count: usize,
    #[serde(serialize_with = "one_by_one")]
    diagnostics: &'a Diagnostics,
}

/// A document quotes its place in the configuration: tens of thousands of them are not made at once.
fn one_by_one<S: Serializer>(diagnostics: &&Diagnostics, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(diagnostics.iter().map(diagnostic_json))
}

/// Writes the document of a validation.
pub fn json_result(console: &Console, diagnostics: &Diagnostics) {
    let errors = diagnostics.iter().filter(|d| d.is_error()).count();
    let result = ResultJson {
        format_version: "1.0",
        valid: errors == 0,
        error_count: errors,
        warning_count: diagnostics.len() - errors,
        diagnostics,
    };
    go::pretty_in_parts(&result, |part| console.print(part));
    console.print("\n");
}
