//! Operations as programs follow them: a stream of JSON lines.

use std::sync::{Arc, OnceLock};

use base::diag::{Diagnostics, Kind};
use base::name::PROGRAM;
use base::stop::Stage;
use engine::event::Event;
use engine::ports::Observer;
use model::config::Config;
use model::plan::{Action, Mode, Plan, ResourceChange};
use model::state::State;
use model::version::at_least;
use ops::interface::listen::{Listener, RemoteLine};
use ops::interface::planning::{Planned, Tally};
use render::json::events::{self, Counts};
use render::json::message::Message;
use render::json::{actions, listing, policies, query_policies};
use render::text::style::Style;
use terrane_protocol::schema::ResourceMode;

use super::contract::{OperationView, Written};
use crate::console::Console;
use crate::opentofu;
use crate::view::json::{write, write_diagnostics};
use crate::view::remote;
use crate::view::ticker::Ticker;

/// The stream of JSON lines that programs follow an operation by.
pub struct OperationJson {
    console: Arc<Console>,
    ticker: Ticker,
    /// Whether the configuration has actions, once the first line is written: it names the version of the format.
    has_actions: OnceLock<bool>,
}

impl OperationJson {
    /// The stream begins with the configuration, or with the first message.
    pub fn new(console: Arc<Console>) -> OperationJson {
        OperationJson { console, ticker: Ticker::default(), has_actions: OnceLock::new() }
    }

    /// Begins the stream of a query.
    pub fn of_query(console: Arc<Console>) -> OperationJson {
        let view = OperationJson::new(console);
        // The format of its messages is as new as that of actions.
        view.begin(true);
        view
    }

    /// Writes the first line, unless it is written; gives whether the format has actions.
    pub fn begin(&self, has_actions: bool) -> bool {
        *self.has_actions.get_or_init(|| {
            write(&self.console, &events::version(has_actions, self.console.dialect()));
            has_actions
        })
    }

    fn write(&self, message: &Message) {
        self.begin(false);
        write(&self.console, message);
    }

    fn counts(&self, tally: Tally) -> Counts {
        let has_actions = self.begin(false);
        Counts {
            add: tally.added,
            change: tally.changed,
            import: tally.imported,
            remove: tally.removed,
            forget: opentofu::counts_forgotten_objects(self.console.dialect()).then_some(tally.forgotten),
            actions: (has_actions || at_least(14)).then_some((tally.actions, tally.failed_actions)),
        }
    }

    /// A line for each change; `unchanged` chooses those of the objects that stay as they are.
    fn planned_changes(&self, planned: &Planned, unchanged: impl Fn(&ResourceChange) -> bool) {
        for change in planned.plan.reported_changes() {
            let deleted_data = change.action == Action::Delete && change.addr.mode() == ResourceMode::Data;
            if !deleted_data && (change.action != Action::NoOp || unchanged(change)) {
                self.write(&events::planned_change(change));
            }
        }
    }

    fn planned_actions(&self, plan: &Plan) {
        plan.invocations.iter().for_each(|invocation| self.write(&actions::planned(invocation)));
    }
}

impl Observer for OperationJson {
    fn event(&self, event: Event) {
        self.console.progress.hear(&event);
        if let Event::Diagnostics(diagnostics) = event {
            Listener::diagnostics(self, diagnostics);
            return;
        }
        let (console, dialect) = (self.console.clone(), self.console.dialect());
        self.ticker.hear(&event, move |change, elapsed| {
            if let Some(message) = events::still(&change.addr, change.operation, elapsed, dialect) {
                write(&console, &message);
            }
        });
        if let Event::ProvisionOutput { addr, kind, text, sensitive } = &event {
            let text = sensitive.as_ref().filter(|_| self.console.view.show_sensitive).unwrap_or(text);
            for line in text.split(['\n', '\r']).filter(|line| !line.is_empty()) {
                let (addr, kind) = (addr.clone(), kind.clone());
                let piece = Event::ProvisionOutput { addr, kind, text: line.to_string(), sensitive: None };
                events::event(&piece, dialect).iter().for_each(|message| self.write(message));
            }
            return;
        }
        if let Event::ListFinished(results) = &event {
            return listing::finished(results).iter().for_each(|message| self.write(message));
        }
        if let Event::PolicyResult(report) = &event {
            return policies::messages(report).iter().for_each(|message| self.write(message));
        }
        if let Event::QueryPolicies(lists) = &event {
            return lists.iter().for_each(|list| self.write(&query_policies::summary(list)));
        }
        events::event(&event, dialect).iter().for_each(|message| self.write(message));
    }
}

impl Listener for OperationJson {
    fn configured(&self, config: &Config) {
        self.begin(config.modules().iter().any(|module| !module.actions.is_empty()));
    }

    fn planned(&self, planned: &Planned) {
        let plan = &planned.plan;
        for change in
            plan.drift.iter().filter(|change| change.action != Action::NoOp || change.previous_addr != change.addr)
        {
            self.write(&events::drift(change));
        }
        self.planned_changes(planned, |change| change.previous_addr != change.addr || change.importing.is_some());
        self.planned_actions(plan);
        self.write(&events::change_summary(self.counts(Tally::of_plan(plan)), "plan"));
        events::planned_outputs(&plan.outputs).iter().for_each(|message| self.write(message));
    }

    fn loaded(&self, planned: &Planned) {
        self.planned_changes(planned, |_| false);
        self.planned_actions(&planned.plan);
    }

    fn diagnostics(&self, diagnostics: Diagnostics) {
        self.begin(false);
        // What policies found was written with their results.
        let other = diagnostics.into_iter().filter(|diagnostic| diagnostic.kind != Kind::Policy).collect();
        write_diagnostics(&self.console, other);
    }

    fn waiting_for_lock(&self) {
        self.write(&events::log("Acquiring state lock. This may take a few moments..."));
    }

    fn remote(&self, line: RemoteLine<'_>) {
        match line {
            RemoteLine::Message { text, .. } => self.console.line(text),
            RemoteLine::Text(text) => self.write(&events::log(remote::without_colours(text).into_owned())),
            // The messages of the log have said it.
            RemoteLine::Plan(_) => {}
            RemoteLine::Own { template, arguments } => {
                let text = remote::filled(&Style::plain(), template, arguments);
                if !text.trim().is_empty() {
                    self.write(&events::log(text.trim()));
                }
            }
        }
    }
}

impl OperationView for OperationJson {
    fn next_steps(&self, _plan: &Plan, _written: Written<'_>) {}

    fn complete(&self, mode: Mode, tally: Tally) {
        let operation = if mode == Mode::Destroy { "destroy" } else { "apply" };
        self.write(&events::change_summary(self.counts(tally), operation));
    }

    fn outputs(&self, state: &State) {
        self.write(&events::outputs(&state.outputs));
    }

    fn cancelled(&self, mode: Mode) {
        self.write(&events::log(match mode {
            Mode::Destroy => "Destroy cancelled",
            Mode::Normal | Mode::RefreshOnly => "Apply cancelled",
        }));
    }

    fn interrupted(&self, stage: Stage) {
        match stage {
            Stage::Running => {}
            Stage::Stopping => {
                self.write(&events::log(
                    format!("\nInterrupt received.\nPlease wait for {PROGRAM} to exit or data loss may occur.\nGracefully shutting down...\n"),
                ));
                if !self.console.is_asking() {
                    self.write(&events::log("Stopping operation..."));
                }
            }
            Stage::Killed => self.write(&events::log(
                "\nTwo interrupts received. Exiting immediately. Note that data loss may have occurred.\n",
            )),
        }
    }

    fn finish(&self, diagnostics: Diagnostics) {
        Listener::diagnostics(self, diagnostics);
    }
}
