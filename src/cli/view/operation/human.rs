//! Operations as people follow them.

use std::sync::Arc;

use base::diag::Diagnostics;
use base::name::{COMMAND, PROGRAM};
use base::stop::Stage;
use engine::event::Event;
use engine::ports::Observer;
use model::plan::{Mode, Plan};
use model::state::State;
use ops::interface::listen::{Listener, RemoteLine};
use ops::interface::planning::{Planned, Tally, Unfinished};
use render::text::progress;

use super::contract::{OperationView, Written};
use crate::args::plan_view::PlanView;
use crate::console::Console;
use crate::opentofu;
use crate::view::interrupt::announce_interrupt;
use crate::view::ticker::Ticker;
use crate::view::{remote, shown, unfinished};

/// The lines that people follow an operation by.
pub struct OperationHuman {
    console: Arc<Console>,
    in_automation: bool,
    shown: PlanView,
    ticker: Ticker,
}

impl OperationHuman {
    /// `in_automation`: leaves out advice on the next command.
    pub fn new(console: Arc<Console>, in_automation: bool) -> OperationHuman {
        OperationHuman { console, in_automation, shown: PlanView::default(), ticker: Ticker::default() }
    }

    /// With another form of plans.
    pub fn showing(self, shown: PlanView) -> OperationHuman {
        OperationHuman { shown, ..self }
    }
}

impl Observer for OperationHuman {
    fn event(&self, event: Event) {
        self.console.progress.hear(&event);
        if let Event::Diagnostics(diagnostics) = event {
            self.console.diagnostics(diagnostics);
            return;
        }
        let is_shown = match event {
            Event::RequestPending { .. } => self.console.advises(),
            // Results of the command, and no steps of it.
            Event::QueryPolicies(_) => true,
            _ => !self.console.view.concise && !self.shown.filter.diff_only,
        };
        if !is_shown {
            return;
        }
        let console = self.console.clone();
        self.ticker.hear(&event, move |change, elapsed| {
            // The status area shows what still runs.
            if console.progress.has_area() {
                return;
            }
            if let Some(line) = progress::still(&change.addr, change.operation, &change.label, elapsed, &console.style)
            {
                console.print(&line);
            }
        });
        if let Some(line) = progress::line(&event, &self.console.style) {
            self.console.print(&line);
        }
    }
}

impl Listener for OperationHuman {
    fn planned(&self, planned: &Planned) {
        self.console.progress.planned(&planned.plan);
        self.console.print(&shown::plan(planned, &self.console.style, self.in_automation, &self.shown));
    }

    // People have seen the plan when they made it, unless they ask for it again.
    fn loaded(&self, planned: &Planned) {
        match self.shown.is_default() {
            true => self.console.progress.planned(&planned.plan),
            false => self.planned(planned),
        }
    }

    fn diagnostics(&self, diagnostics: Diagnostics) {
        self.console.diagnostics(diagnostics);
    }

    fn waiting_for_lock(&self) {
        self.console.line("Acquiring state lock. This may take a few moments...");
    }

    fn remote(&self, line: RemoteLine<'_>) {
        remote::show(&self.console, line, self.in_automation, &self.shown);
    }
}

impl OperationView for OperationHuman {
    fn next_steps(&self, plan: &Plan, written: Written<'_>) {
        if !plan.applyable {
            return;
        }
        let has_generated = plan.changes.iter().any(|c| c.generated_config.is_some());
        self.remote_next_steps(Written { generated: written.generated.filter(|_| has_generated), ..written });
    }

    fn remote_next_steps(&self, written: Written<'_>) {
        let is_unwanted = self.shown.filter.diff_only && written.plan.is_none() && written.generated.is_none();
        if self.in_automation || is_unwanted {
            return;
        }
        let style = &self.console.style;
        let rule = style.fill("[dark_gray]\n{}", &[&"─".repeat(style.width.saturating_sub(1))]);
        let review = written.generated.map_or_else(String::new, |path| {
            let note = format!(
                "{PROGRAM} has generated configuration and written it to {path}. Please review the configuration and edit it as \
                 necessary before adding it to version control."
            );
            format!("\n{}\n", style.wrapped(&note))
        });
        let text = match written.plan {
            None => {
                let note = format!(
                    "Note: You didn't use the -out option to save this plan, so {PROGRAM} can't guarantee to take exactly \
                            these actions if you run \"{COMMAND} apply\" now."
                );
                format!("\n{}\n", style.wrapped(&note))
            }
            Some(path) => {
                let note = format!(
                    "\nSaved the plan to: {path}\n\n\
                     To perform exactly these actions, run the following command to apply:\n    {COMMAND} apply {path:?}\n"
                );
                style.wrapped(&note)
            }
        };
        self.console.print(&format!("{rule}\n{review}{text}"));
    }

    fn complete(&self, mode: Mode, tally: Tally) {
        let Tally { added, changed, imported, removed, forgotten, actions, failed_actions } = tally;
        let is_counted = forgotten > 0 && opentofu::counts_forgotten_objects(self.console.dialect());
        let forgotten = if is_counted { format!(", {forgotten} forgotten") } else { String::new() };
        let text = match mode {
            Mode::Destroy => format!("\nDestroy complete! Resources: {removed} destroyed."),
            Mode::Normal | Mode::RefreshOnly => {
                let imported = if imported > 0 { format!("{imported} imported, ") } else { String::new() };
                format!(
                    "\nApply complete! Resources: {imported}{added} added, {changed} changed, {removed} destroyed{forgotten}."
                )
            }
        };
        let failed = if failed_actions > 0 { format!(", {failed_actions} failed") } else { String::new() };
        let actions = if actions > 0 { format!(" Actions: {actions} invoked{failed}.") } else { String::new() };
        let text = format!("{text}{actions}");
        self.console.print(&self.console.style.fill("[reset][bold][green]{}\n", &[&text]));
    }

    fn unfinished(&self, mode: Mode, tally: Tally, left: &Unfinished) {
        if self.console.advises() {
            self.console.print(&unfinished::text(mode, tally, left, &self.console.style));
        }
    }

    fn outputs(&self, state: &State) {
        if state.outputs.is_empty() {
            return;
        }
        let style = &self.console.style;
        let heading = style.fill("[reset][bold][green]\nOutputs:\n\n", &[]);
        self.console.print(&format!("{heading}{}", shown::outputs(state, style)));
    }

    fn cancelled(&self, mode: Mode) {
        self.console.line(match mode {
            Mode::Destroy => "Destroy cancelled.",
            Mode::Normal | Mode::RefreshOnly => "Apply cancelled.",
        });
    }

    fn interrupted(&self, stage: Stage) {
        announce_interrupt(&self.console, stage);
        if stage == Stage::Stopping && !self.console.is_asking() {
            self.console.line("Stopping operation...");
        }
    }

    fn finish(&self, diagnostics: Diagnostics) {
        self.console.diagnostics(diagnostics);
    }
}
