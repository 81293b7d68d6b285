//! What every view of an operation on infrastructure does.

use std::sync::Arc;

use base::diag::Diagnostics;
use base::stop::Stage;
use model::plan::{Mode, Plan};
use model::state::State;
use ops::interface::listen::Listener;
use ops::interface::planning::{Tally, Unfinished};

use crate::view::both::Both;

/// Who reads what a command shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// `-json`
    Programs,
    /// `in_automation`: leave out advice on the next command.
    People { in_automation: bool },
}

/// Where `plan` has written what.
#[derive(Clone, Copy)]
pub struct Written<'a> {
    pub plan: Option<&'a str>,
    /// Only counts where the plan holds generated configuration.
    pub generated: Option<&'a str>,
}

/// The view of an operation on infrastructure; hears it as a [`Listener`] and shows its end.
pub trait OperationView: Listener {
    /// Where the plan was saved, or that it was not; `plan` is what was shown.
    fn next_steps(&self, plan: &Plan, written: Written<'_>);

    /// As `next_steps`, for a plan that a service made.
    fn remote_next_steps(&self, _written: Written<'_>) {}

    /// Everything that was planned is done.
    fn complete(&self, mode: Mode, tally: Tally);

    /// What is left after errors or an interrupt, and what was done before; for people at a terminal.
    fn unfinished(&self, _mode: Mode, _tally: Tally, _unfinished: &Unfinished) {}

    /// The root module's outputs after an apply or refresh; nothing if there are none.
    fn outputs(&self, state: &State);

    /// The user did not approve.
    fn cancelled(&self, mode: Mode);

    /// The first or second interrupt.
    fn interrupted(&self, stage: Stage);

    /// What is left to say.
    fn finish(&self, diagnostics: Diagnostics);
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
