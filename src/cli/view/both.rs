//! Two views of one command: one for people, and one for programs in a file (`-json-into`).

use std::sync::Arc;

use base::diag::Diagnostics;
use engine::event::Event;
use engine::ports::Observer;
use model::config::Config;
use ops::interface::listen::{Listener, RemoteLine};
use ops::interface::planning::Planned;

/// The view for people, and the one for programs.
pub struct Both<V>(pub V, pub V);

impl<V: Listener + ?Sized> Observer for Both<Arc<V>> {
    fn event(&self, event: Event) {
        self.0.event(event.clone());
        self.1.event(event);
    }
}

impl<V: Listener + ?Sized> Listener for Both<Arc<V>> {
    fn configured(&self, config: &Config) {
        self.0.configured(config);
        self.1.configured(config);
    }

    fn planned(&self, planned: &Planned) {
        self.0.planned(planned);
        self.1.planned(planned);
    }

    fn loaded(&self, planned: &Planned) {
        self.0.loaded(planned);
        self.1.loaded(planned);
    }

    fn diagnostics(&self, diagnostics: Diagnostics) {
        self.0.diagnostics(diagnostics.clone());
        self.1.diagnostics(diagnostics);
    }

    fn waiting_for_lock(&self) {
        self.0.waiting_for_lock();
        self.1.waiting_for_lock();
    }

    fn remote(&self, line: RemoteLine<'_>) {
        self.0.remote(line);
        self.1.remote(line);
    }
}
