//! What every view of `init` does.

use ops::init::{InitEvent, InitOutcome};

use crate::view::both::Both;

/// The view of `init`.
pub trait InitView: Sync {
    fn event(&self, event: &InitEvent);

    /// What is left to say.
    fn finish(&self, outcome: InitOutcome);
}

impl InitView for Both<Box<dyn InitView>> {
    fn event(&self, event: &InitEvent) {
        self.0.event(event);
        self.1.event(event);
    }

    fn finish(&self, outcome: InitOutcome) {
        self.0.finish(outcome.clone());
        self.1.finish(outcome);
    }
}
