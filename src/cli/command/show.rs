//! `show`

use crate::cli::Invocation;
use crate::cli::args::show::parse;
use crate::cli::view::shown;
use crate::ops::hcp;
use crate::ops::inspect::show::{self, Shown};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::begin_parsed(invocation, parse(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    let work = async {
        if let Some(path) = &args.path
            && let Some(shown) = hcp::show(&setup, path.as_ref(), !args.json).await?
        {
            return Ok(Err(shown));
        }
        show::run(&setup, args.path.as_deref()).await.map(Ok)
    };
    let (found, warnings) = match super::run_with(invocation, &setup.stop, work) {
        Ok(Ok(Ok(found))) => found,
        Ok(Ok(Err(run))) => {
            console.print(&shown::run(&run, args.json, &console.style));
            return 0;
        }
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
