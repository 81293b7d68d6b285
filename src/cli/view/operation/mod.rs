//! What plan, apply, destroy and refresh show: lines for people, or a stream of JSON lines.
//!
//! Never decides what is done.

mod contract;
mod human;
mod json;
mod summary;

use std::sync::Arc;

pub use contract::{Audience, OperationView, Written};
pub use human::OperationHuman;
pub use json::OperationJson;
use ops::interface::listen::Listener;
use summary::OperationSummary;

use super::both::Both;
use crate::args::plan_view::{PlanView, SummaryForm};
use crate::console::Console;

/// The view for an audience; `shown` decides how much of a plan people see.
pub fn view(console: &Arc<Console>, audience: Audience, shown: PlanView) -> Arc<dyn OperationView> {
    let view: Arc<dyn OperationView> = match audience {
        Audience::Programs => Arc::new(OperationJson::new(console.clone())),
        Audience::People { .. } if shown.summary_form == Some(SummaryForm::Json) => {
            Arc::new(OperationSummary { console: console.clone(), shown })
        }
        Audience::People { in_automation } => {
            Arc::new(OperationHuman::new(console.clone(), in_automation).showing(shown))
        }
    };
    match &console.copy {
        Some(copy) => Arc::new(Both(view, Arc::new(OperationJson::new(copy.clone())))),
        None => view,
    }
}

/// As [`view`], for a query.
pub fn query_view(console: &Arc<Console>, audience: Audience) -> Arc<dyn OperationView> {
    match audience {
        Audience::Programs => Arc::new(OperationJson::of_query(console.clone())),
        Audience::People { .. } => view(console, audience, PlanView::default()),
    }
}

/// Passes a view on as the listener that it is.
pub fn listener(view: &Arc<dyn OperationView>) -> Arc<dyn Listener> {
    view.clone()
}
