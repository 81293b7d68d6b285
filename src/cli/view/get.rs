//! What `get` shows.

use std::sync::Arc;

use base::diag::Diagnostics;
use base::dialect::Dialect;
use install::event::ModuleEvent;
use render::json::events;
use render::json::message::Message;

use super::both::Both;
use super::json::write;
use crate::console::Console;
use crate::opentofu;

/// The view of `get`.
pub trait GetView: Sync {
    fn module(&self, event: &ModuleEvent);

    /// What is left to say.
    fn finish(&self, diagnostics: Diagnostics);
}

pub fn view(console: &Arc<Console>, json: bool) -> Box<dyn GetView> {
    let view: Box<dyn GetView> =
        if json { Box::new(GetJson::new(console.clone())) } else { Box::new(GetHuman::new(console.clone())) };
    match &console.copy {
        Some(copy) => Box::new(Both(view, Box::new(GetJson::new(copy.clone())))),
        None => view,
    }
}

struct GetHuman(Arc<Console>);

impl GetHuman {
    fn new(console: Arc<Console>) -> GetHuman {
        console.progress.begin_part(Some("Installing modules"));
        GetHuman(console)
    }
}

impl GetView for GetHuman {
    fn module(&self, event: &ModuleEvent) {
        self.0.progress.module(event);
        if let Some(text) = event.text() {
            self.0.line(&text);
        }
    }

    fn finish(&self, diagnostics: Diagnostics) {
        self.0.spaced_diagnostics(diagnostics);
    }
}

struct GetJson(Arc<Console>);

impl GetJson {
    /// Begins the stream.
    fn new(console: Arc<Console>) -> GetJson {
        write(&console, &events::version(false, console.dialect()));
        GetJson(console)
    }
}

/// The message of an event; some have none.
pub fn module_message(event: &ModuleEvent, dialect: Dialect) -> Option<Message> {
    let text = event.text()?;
    Some(match (event, opentofu::has_plain_streams(dialect)) {
        (ModuleEvent::Installed { path, dir }, true) => {
            events::note(format!("installing {} in {}", path.0.join("."), dir.display()))
        }
        (_, true) => events::note(text),
        (_, false) => events::log(text),
    })
}

impl GetView for GetJson {
    fn module(&self, event: &ModuleEvent) {
        if let Some(message) = module_message(event, self.0.dialect()) {
            write(&self.0, &message);
        }
    }

    fn finish(&self, diagnostics: Diagnostics) {
        diagnostics.iter().for_each(|diagnostic| write(&self.0, &events::diagnostic(diagnostic)));
    }
}

impl GetView for Both<Box<dyn GetView>> {
    fn module(&self, event: &ModuleEvent) {
        self.0.module(event);
        self.1.module(event);
    }

    fn finish(&self, diagnostics: Diagnostics) {
        self.0.finish(diagnostics.clone());
        self.1.finish(diagnostics);
    }
}
