//! `show`

use crate::cli::Invocation;
use crate::cli::args::show::parse;
use crate::cli::view::shown;
use crate::ops::inspect::show::{self, Shown};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let args = match parse(args) {
        Ok(args) => args,
        Err(error) => return invocation.usage_error(error),
    };
    let setup = match super::setup(invocation, false) {
        Ok(setup) => setup,
        Err(code) => return code,
    };
    let setup = setup.with_variables(&args.variables);
    let work = show::run(&setup, args.path.as_deref());
    let console = &invocation.console;
    let (found, warnings) = match super::run_with(invocation, &setup.stop, work) {
        Ok(Ok(found)) => found,
        Ok(Err(diagnostics)) => return super::finish(console, diagnostics),
        Err(code) => return code,
    };
    if !args.json {
        console.diagnostics(warnings);
    }
    let what = if matches!(found, Shown::Plan { .. }) { "plan" } else { "state" };
    let text = match (&found, args.json) {
        (Shown::Nothing, false) => Ok("No state.\n".to_string()),
        (Shown::Nothing, true) => Ok("{\"format_version\":\"1.0\"}\n".to_string()),
        (Shown::State { file, schemas }, false) => shown::state(&file.state, schemas, &console.style),
        (Shown::State { file, schemas }, true) => shown::state_json(file, schemas),
        (Shown::Plan { planned }, false) => Ok(shown::plan(planned, &console.style, true)),
        (Shown::Plan { planned }, true) => shown::plan_json(planned),
    };
    match text {
        Ok(text) => {
            console.print(&text);
            0
        }
        Err(why) => {
            console.error_line(&format!("Failed to marshal {what} to json: {why}"));
            1
        }
    }
}
