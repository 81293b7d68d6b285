//! What `show` shows of a state or of a plan.

use std::sync::Arc;

use base::diag::Diagnostics;
use ops::hcp::{RunPlan, ShownRun};
use ops::inspect::show::ShowSubject;
use render::json::go;
use render::json::module::module_json;
use render::text::style::Style;

use super::{remote, shown};
use crate::console::Console;

/// The view of `show`.
pub trait ShowView {
    fn warnings(&self, warnings: Diagnostics);

    /// The text of the subject. An error says why it cannot be shown.
    fn text(&self, subject: &ShowSubject) -> Result<String, String>;

    /// The text of a plan that a service saved.
    fn run(&self, run: &ShownRun) -> String;
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
            ShowSubject::Config { .. } | ShowSubject::Module(_) => Err("-json is required".to_owned()),
        }
    }

    fn run(&self, run: &ShownRun) -> String {
        run_text(run, &self.0.style)
    }
}

/// The plan of a run, between its address and its status.
fn run_text(run: &ShownRun, style: &Style) -> String {
    let header = "[reset][yellow]To view this run in a browser, visit:[reset]\n[reset][yellow]{}[reset]\n";
    let mut text = style.fill(header, &[&run.url]);
    if let RunPlan::Described(described) = &run.plan {
        text.push_str(&remote::described_plan(described, style, true));
    }
    let status = run.status.replace('_', " ");
    let (colour, note) = if run.is_confirmable { ("green", "confirmable") } else { ("red", "not confirmable") };
    let (lock_colour, lock) = if run.is_locked { ("red", "locked") } else { ("green", "unlocked") };
    let footer =
        format!("\n[reset][{colour}]Run status: {{}} ({note})[reset]\n[{lock_colour}]Workspace is {lock}[reset]\n");
    text + &style.fill(&footer, &[&status])
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
            ShowSubject::Config { config, schemas } => Ok(shown::config_json(config, schemas)),
            ShowSubject::Module(module) => Ok(format!("{}\n", go::compact(&module_json(module)))),
        }
    }

    fn run(&self, run: &ShownRun) -> String {
        match &run.plan {
            RunPlan::Json(json) => format!("{}\n", String::from_utf8_lossy(json)),
            RunPlan::Described(_) => String::new(),
        }
    }
}
