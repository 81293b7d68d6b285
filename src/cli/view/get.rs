//! What `get` shows.

use std::sync::Arc;

use crate::base::diag::Diagnostics;
use crate::cli::console::Console;
use crate::install::event::ModuleEvent;
use crate::render::json::events;

use super::json::write;

/// The view of `get`.
pub trait GetView: Sync {
    fn module(&self, event: &ModuleEvent);

    /// What is left to say.
    fn finish(&self, diagnostics: Diagnostics);
}

pub fn view(console: &Arc<Console>, json: bool) -> Box<dyn GetView> {
    if json { Box::new(Json::new(console.clone())) } else { Box::new(Human(console.clone())) }
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

impl GetView for Json {
    fn module(&self, event: &ModuleEvent) {
        write(&self.0, &events::log(event.to_string()));
    }

    fn finish(&self, diagnostics: Diagnostics) {
        diagnostics.iter().for_each(|diagnostic| write(&self.0, &events::diagnostic(diagnostic)));
    }
}
