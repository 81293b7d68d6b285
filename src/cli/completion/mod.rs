//! Shell completion.
//!
//! A shell starts the program with the line in `COMP_LINE` and reads the candidates from standard output. Commands and flags
//! come from the dispatcher's table. Never prints errors, because they would appear
//! in the user's command line.

mod candidates;
mod form;
pub mod install;
mod line;
mod sources;

use base::env::{COMP_LINE, COMP_POINT, COMP_SHELL, Environment};
use candidates::candidates;
use form::LineForm;
use line::Line;
use sources::Project;

use crate::console::Console;

/// If a shell asks for candidates: they are printed. Gives whether one did.
pub fn answered(environment: &Environment, console: &Console) -> bool {
    let Some(text) = environment.non_empty(COMP_LINE) else { return false };
    let point = environment.get(COMP_POINT).and_then(|point| point.parse().ok());
    let line = Line::parse(text, point);
    let form = LineForm::of(environment.get(COMP_SHELL));
    let project = Project::new(environment, &line);
    let found = candidates(&line, &project);
    let lines: String = found.iter().map(|candidate| form.line(candidate, &line) + "\n").collect();
    console.print(&lines);
    true
}
