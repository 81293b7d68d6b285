//! Two views of one command: one for people, and one for programs in a file (`-json-into`).

use std::sync::Arc;

use base::diag::Diagnostics;
use base::stop::Stage;
use engine::event::Event;
use engine::ports::Observer;
use install::event::ModuleEvent;
use model::config::Config;
use model::plan::{Mode, Plan};
use model::state::State;
use ops::init::{InitEvent, InitOutcome};
use ops::interface::listen::{Listener, RemoteLine};
use ops::interface::planning::{Planned, Tally, Unfinished};
use ops::run::import::ImportRefusal;

use super::get::GetView;
use super::import::ImportView;
use super::init::InitView;
use super::operation::{OperationView, Written};
use super::validate::ValidateView;

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

impl OperationView for Both<Arc<dyn OperationView>> {
    fn next_steps(&self, plan: &Plan, written: Written<'_>) {
        self.0.next_steps(plan, written);
        self.1.next_steps(plan, written);
    }

    fn remote_next_steps(&self, written: Written<'_>) {
        self.0.remote_next_steps(written);
        self.1.remote_next_steps(written);
    }

    fn complete(&self, mode: Mode, tally: Tally) {
        self.0.complete(mode, tally);
        self.1.complete(mode, tally);
    }

    fn unfinished(&self, mode: Mode, tally: Tally, unfinished: &Unfinished) {
        self.0.unfinished(mode, tally, unfinished);
        self.1.unfinished(mode, tally, unfinished);
    }

    fn outputs(&self, state: &State) {
        self.0.outputs(state);
        self.1.outputs(state);
    }

    fn cancelled(&self, mode: Mode) {
        self.0.cancelled(mode);
        self.1.cancelled(mode);
    }

    fn interrupted(&self, stage: Stage) {
        self.0.interrupted(stage);
        self.1.interrupted(stage);
    }

    fn finish(&self, diagnostics: Diagnostics) {
        self.0.finish(diagnostics.clone());
        self.1.finish(diagnostics);
    }
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

impl ImportView for Both<Box<dyn ImportView>> {
    fn listener(&self) -> Arc<dyn Listener> {
        Arc::new(Both(self.0.listener(), self.1.listener()))
    }

    fn success(&self, diagnostics: Diagnostics) -> u8 {
        self.1.success(diagnostics.clone());
        self.0.success(diagnostics)
    }

    fn refused(&self, refusal: ImportRefusal) -> u8 {
        self.1.refused(refusal.clone());
        self.0.refused(refusal)
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
