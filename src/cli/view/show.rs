//! What `show` shows of a state or of a plan.

use std::fmt;
use std::sync::Arc;

use base::diag::Diagnostics;
use base::term::DEFAULT_WIDTH;
use ops::hcp::{RunPlan, ShownRun};
use ops::inspect::show::ShowSubject;
use render::json::go;
use render::json::module::module_json;
use render::objects::ObjectError;
use render::text::style::Style;

use super::{remote, shown};
use crate::args::plan_view::{PlanView, SummaryForm};
use crate::console::Console;

/// The view of `show`.
pub trait ShowView {
    fn warnings(&self, warnings: Diagnostics);

    /// The text of the subject.
    fn text(&self, subject: &ShowSubject) -> Result<String, ShowError>;

    /// The text of a plan that a service saved.
    fn run(&self, run: &ShownRun) -> String;
}

/// Why a subject cannot be shown.
#[derive(Debug)]
pub enum ShowError {
    Object(ObjectError),
    /// There is no text for people.
    JsonRequired,
}

impl fmt::Display for ShowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShowError::Object(error) => error.fmt(f),
            ShowError::JsonRequired => f.write_str("-json is required"),
        }
    }
}

/// The view for people in a form, or the one for programs.
pub fn view(console: &Arc<Console>, json: bool, form: &PlanView) -> Box<dyn ShowView> {
    match json {
        true => Box::new(ShowJson),
        false => Box::new(ShowHuman { console: console.clone(), style: console.style, form: form.clone() }),
    }
}

/// As [`view`] for people, for a file: without colours, and of the width that is assumed for pipes.
pub fn file_view(console: &Arc<Console>, form: &PlanView) -> Box<dyn ShowView> {
    let style = Style { colour: false, extras: false, width: DEFAULT_WIDTH, ..console.style };
    Box::new(ShowHuman { console: console.clone(), style, form: form.clone() })
}

struct ShowHuman {
    console: Arc<Console>,
    style: Style,
    form: PlanView,
}

impl ShowView for ShowHuman {
    fn warnings(&self, warnings: Diagnostics) {
        match self.form.summary_form {
            // Standard output is the document.
            Some(SummaryForm::Json) => self.console.diagnostics_aside(warnings),
            _ => self.console.diagnostics(warnings),
        }
    }

    fn text(&self, subject: &ShowSubject) -> Result<String, ShowError> {
        let (style, form) = (&self.style, &self.form);
        match (subject, form.summary_form) {
            (ShowSubject::Nothing, None) => Ok("No state.\n".to_owned()),
            (ShowSubject::Nothing, Some(summary)) => Ok(shown::state_summary(None, style, summary, form)),
            (ShowSubject::State { file, schemas }, None) => {
                shown::state(&file.state, schemas, style).map_err(ShowError::Object)
            }
            (ShowSubject::State { file, .. }, Some(summary)) => {
                Ok(shown::state_summary(Some(&file.state), style, summary, form))
            }
            (ShowSubject::Plan { planned }, _) => Ok(shown::plan(planned, style, true, form)),
            (ShowSubject::Config { .. } | ShowSubject::Module(_), _) => Err(ShowError::JsonRequired),
        }
    }

    fn run(&self, run: &ShownRun) -> String {
        run_text(run, &self.style, &self.form)
    }
}

/// The plan of a run, between its address and its status.
fn run_text(run: &ShownRun, style: &Style, form: &PlanView) -> String {
    if let (Some(SummaryForm::Json), RunPlan::Described(described)) = (form.summary_form, &run.plan) {
        return remote::described_plan(described, style, true, form);
    }
    let header = "[reset][yellow]To view this run in a browser, visit:[reset]\n[reset][yellow]{}[reset]\n";
    let mut text = style.fill(header, &[&run.url]);
    if let RunPlan::Described(described) = &run.plan {
        text.push_str(&remote::described_plan(described, style, true, form));
    }
    let status = run.status.replace('_', " ");
    let (colour, note) = if run.is_confirmable { ("green", "confirmable") } else { ("red", "not confirmable") };
    let (lock_colour, lock) = if run.is_locked { ("red", "locked") } else { ("green", "unlocked") };
    let footer =
        format!("\n[reset][{colour}]Run status: {{}} ({note})[reset]\n[{lock_colour}]Workspace is {lock}[reset]\n");
    text + &style.fill(&footer, &[&status])
}

/// One document; warnings have no place in it.
struct ShowJson;

impl ShowView for ShowJson {
    fn warnings(&self, _: Diagnostics) {}

    fn text(&self, subject: &ShowSubject) -> Result<String, ShowError> {
        match subject {
            ShowSubject::Nothing => Ok("{\"format_version\":\"1.0\"}\n".to_owned()),
            ShowSubject::State { file, schemas } => shown::state_json(file, schemas).map_err(ShowError::Object),
            ShowSubject::Plan { planned } => shown::plan_json(planned).map_err(ShowError::Object),
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
