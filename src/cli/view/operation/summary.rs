//! A plan as one line of JSON on standard output: its summary. Everything else is for people, on standard error.

use std::sync::Arc;

use base::diag::Diagnostics;
use base::stop::Stage;
use engine::event::Event;
use engine::ports::Observer;
use model::plan::{Mode, Plan};
use model::state::State;
use ops::interface::listen::{Listener, RemoteLine};
use ops::interface::planning::{Planned, Tally};

use super::contract::{OperationView, Written};
use crate::args::plan_view::PlanView;
use crate::console::Console;
use crate::view::{remote, shown};

/// The view of `plan -summary=json`.
pub struct OperationSummary {
    pub console: Arc<Console>,
    pub shown: PlanView,
}

impl Observer for OperationSummary {
    fn event(&self, event: Event) {
        self.console.progress.hear(&event);
        if let Event::Diagnostics(diagnostics) = event {
            self.console.diagnostics_aside(diagnostics);
        }
    }
}

impl Listener for OperationSummary {
    fn planned(&self, planned: &Planned) {
        self.console.print(&shown::plan(planned, &self.console.style, true, &self.shown));
    }

    fn loaded(&self, planned: &Planned) {
        self.planned(planned);
    }

    fn diagnostics(&self, diagnostics: Diagnostics) {
        self.console.diagnostics_aside(diagnostics);
    }

    fn waiting_for_lock(&self) {
        self.console.error_line("Acquiring state lock. This may take a few moments...");
    }

    fn remote(&self, line: RemoteLine<'_>) {
        let console = &self.console;
        match line {
            RemoteLine::Own { template, arguments } => {
                console.error_line(&remote::filled(&console.style, template, arguments));
            }
            RemoteLine::Text(text) => console.error_line(&remote::without_colours(text)),
            RemoteLine::Message { text, .. } => console.error_line(text),
            RemoteLine::Plan(plan) => {
                console.print(&shown::described_plan(plan, &console.style, true, &self.shown));
            }
        }
    }
}

impl OperationView for OperationSummary {
    fn next_steps(&self, _plan: &Plan, _written: Written<'_>) {}

    fn complete(&self, _mode: Mode, _tally: Tally) {}

    fn outputs(&self, _state: &State) {}

    fn cancelled(&self, _mode: Mode) {}

    fn interrupted(&self, stage: Stage) {
        if stage != Stage::Running {
            self.console.error_line("\nInterrupt received.");
        }
    }

    fn finish(&self, diagnostics: Diagnostics) {
        self.console.diagnostics_aside(diagnostics);
    }
}
