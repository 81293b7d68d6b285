//! What `explain` shows.

use std::sync::Arc;

use base::diag::Diagnostics;
use engine::event::Event;
use engine::ports::Observer;
use ops::inspect::explain::Answers;
use ops::interface::listen::Listener;
use ops::interface::planning::Planned;
use render::json::explain::{dependent_json, explanation_json};
use render::text::explain::explain_text;
use serde_json::{Value as Json, json};

use super::documents;
use crate::console::Console;

/// The view of `explain`.
pub trait ExplainView {
    /// Shows the answers, if there are any, and what else is to be said.
    fn result(&self, answers: Option<Answers>, diagnostics: Diagnostics);
}

pub fn view(console: &Arc<Console>, json: bool) -> Box<dyn ExplainView> {
    if json { Box::new(ExplainJson(console.clone())) } else { Box::new(ExplainHuman(console.clone())) }
}

/// Passes on how a new plan is made to the progress of the command, and shows nothing else.
pub fn plan_listener(console: &Arc<Console>) -> Arc<dyn Listener> {
    Arc::new(PlanProgress(console.clone()))
}

struct PlanProgress(Arc<Console>);

impl Observer for PlanProgress {
    fn event(&self, event: Event) {
        self.0.progress.hear(&event);
    }
}

impl Listener for PlanProgress {
    fn planned(&self, planned: &Planned) {
        self.0.progress.planned(&planned.plan);
    }

    fn loaded(&self, _planned: &Planned) {}

    fn diagnostics(&self, _diagnostics: Diagnostics) {}

    fn waiting_for_lock(&self) {}
}

struct ExplainHuman(Arc<Console>);

impl ExplainView for ExplainHuman {
    fn result(&self, answers: Option<Answers>, diagnostics: Diagnostics) {
        self.0.diagnostics(diagnostics);
        if let Some(answers) = answers {
            self.0.print(&explain_text(&answers.explanations, answers.dependents.as_deref(), &self.0.style));
        }
    }
}

/// One document.
struct ExplainJson(Arc<Console>);

impl ExplainView for ExplainJson {
    fn result(&self, answers: Option<Answers>, diagnostics: Diagnostics) {
        let dialect = self.0.dialect();
        let content = answers.map(|answers| {
            let objects: Vec<Json> =
                answers.explanations.iter().map(|explanation| explanation_json(explanation, dialect)).collect();
            let mut content = json!({ "objects": objects });
            if let Some(dependents) = &answers.dependents {
                content["dependents"] = dependents.iter().map(|dependent| dependent_json(dependent, dialect)).collect();
            }
            content
        });
        documents::explanation(&self.0, content, diagnostics);
    }
}
