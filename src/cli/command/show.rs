//! `show`

use ops::hcp;
use ops::inspect::show::{self, ShowRequest, ShowSubject};

use crate::Invocation;
use crate::args::show::parse;
use crate::view::show::view;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::parsed_and_setup(invocation, parse(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    let work = async {
        if let ShowRequest::File(path) | ShowRequest::Plan(path) = &args.subject
            && let Some(shown) = hcp::show(&setup, path.as_ref(), args.json).await?
        {
            return Ok(Err(shown));
        }
        show::run(&setup, &args.subject).await.map(Ok)
    };
    let (found, warnings) = match super::run_with(invocation, &setup, work) {
        Ok(Ok(Ok(found))) => found,
        Ok(Ok(Err(run))) => {
            console.print(&view(console, args.json).run(&run));
            return 0;
        }
        Ok(Err(diagnostics)) => return super::finish(console, diagnostics),
        Err(code) => return code,
    };
    if let Some(copy) = &console.copy
        && let Ok(text) = view(copy, true).text(&found)
    {
        copy.print(&text);
    }
    let view = view(console, args.json);
    view.warnings(warnings);
    let what = if matches!(found, ShowSubject::Plan { .. }) { "plan" } else { "state" };
    match view.text(&found) {
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
