//! What `show` shows of a state or of a plan.

use std::sync::Arc;

use crate::base::diag::Diagnostics;
use crate::cli::console::Console;
use crate::ops::inspect::show::ShowSubject;

use super::shown;

/// The view of `show`.
pub trait ShowView {
    fn warnings(&self, warnings: Diagnostics);

    /// The text of the subject. An error says why it cannot be shown.
    fn text(&self, subject: &ShowSubject) -> Result<String, String>;
}

pub fn view(console: &Arc<Console>, json: bool) -> Box<dyn ShowView> {
    if json { Box::new(Json) } else { Box::new(Human(console.clone())) }
}

struct Human(Arc<Console>);

impl ShowView for Human {
    fn warnings(&self, warnings: Diagnostics) {
        self.0.diagnostics(warnings);
    }

    fn text(&self, subject: &ShowSubject) -> Result<String, String> {
        match subject {
            ShowSubject::Nothing => Ok("No state.\n".to_owned()),
            ShowSubject::State { file, schemas } => shown::state(&file.state, schemas, &self.0.style),
            ShowSubject::Plan { planned } => Ok(shown::plan(planned, &self.0.style, true)),
        }
    }
}

/// One document; warnings have no place in it.
struct Json;

impl ShowView for Json {
    fn warnings(&self, _: Diagnostics) {}

    fn text(&self, subject: &ShowSubject) -> Result<String, String> {
        match subject {
            ShowSubject::Nothing => Ok("{\"format_version\":\"1.0\"}\n".to_owned()),
            ShowSubject::State { file, schemas } => shown::state_json(file, schemas),
            ShowSubject::Plan { planned } => shown::plan_json(planned),
        }
    }
}
