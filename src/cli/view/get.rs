//! What `get` shows.

use std::sync::Arc;

use base::diag::Diagnostics;
use base::name;
use install::event::ModuleEvent;
use render::json::events::{self, Message};

use super::both::Both;
use super::json::write;
use crate::console::Console;

/// The view of `get`.
pub trait GetView: Sync {
    fn module(&self, event: &ModuleEvent);

    /// What is left to say.
    fn finish(&self, diagnostics: Diagnostics);
}

pub fn view(console: &Arc<Console>, json: bool) -> Box<dyn GetView> {
    let view: Box<dyn GetView> =
        if json { Box::new(Json::new(console.clone())) } else { Box::new(Human(console.clone())) };
    match &console.copy {
        Some(copy) => Box::new(Both(view, Box::new(Json::new(copy.clone())))),
        None => view,
    }
}

struct Human(Arc<Console>);

impl GetView for Human {
    fn module(&self, event: &ModuleEvent) {
        self.0.line(&event.to_string());
    }

    fn finish(&self, diagnostics: Diagnostics) {
        self.0.spaced_diagnostics(diagnostics);
    }
}

struct Json(Arc<Console>);

impl Json {
    /// Begins the stream.
    fn new(console: Arc<Console>) -> Json {
        write(&console, &events::version(false));
        Json(console)
    }
}

/// The message of an event; OpenTofu's has no type, and other words.
pub fn module_message(event: &ModuleEvent) -> Message {
    match (event, name::is_opentofu()) {
        (ModuleEvent::Installed { path, dir }, true) => {
            events::note(format!("installing {} in {}", path.0.join("."), dir.display()))
        }
        (_, true) => events::note(event.to_string()),
        (_, false) => events::log(event.to_string()),
    }
}

impl GetView for Json {
    fn module(&self, event: &ModuleEvent) {
        write(&self.0, &module_message(event));
    }

    fn finish(&self, diagnostics: Diagnostics) {
        diagnostics.iter().for_each(|diagnostic| write(&self.0, &events::diagnostic(diagnostic)));
    }
}
