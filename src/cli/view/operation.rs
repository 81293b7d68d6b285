//! What plan, apply, destroy and refresh show.

use std::sync::Arc;

use base::diag::Diagnostics;
use base::stop::Stage;
use model::plan::{Mode, Plan};
use model::state::State;
use ops::interface::listen::Listener;
use ops::interface::planning::{Tally, Unfinished};

use super::both::Both;
use super::human::Human;
use super::json::Json;
use crate::console::Console;

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

/// The view for an audience.
pub fn view(console: &Arc<Console>, audience: Audience) -> Arc<dyn OperationView> {
    let view: Arc<dyn OperationView> = match audience {
        Audience::Programs => Arc::new(Json::new(console.clone())),
        Audience::People { in_automation } => Arc::new(Human::new(console.clone(), in_automation)),
    };
    match &console.copy {
        Some(copy) => Arc::new(Both(view, Arc::new(Json::new(copy.clone())))),
        None => view,
    }
}

/// As [`view`], for a query.
pub fn query_view(console: &Arc<Console>, audience: Audience) -> Arc<dyn OperationView> {
    match audience {
        Audience::Programs => Arc::new(Json::of_query(console.clone())),
        Audience::People { .. } => view(console, audience),
    }
}

/// Passes a view on as the listener that it is.
pub fn listener(view: &Arc<dyn OperationView>) -> Arc<dyn Listener> {
    view.clone()
}
