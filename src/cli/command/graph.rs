//! `graph`

use ops::inspect::graph;

use crate::Invocation;
use crate::args::graph::parse;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::arguments_and_setup(invocation, parse(args), |args| &args.variables) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    if let Some(plan) = args.request.plan.as_ref().filter(|plan| !plan.exists()) {
        invocation.console.red_error_line(&format!("stat {}: no such file or directory", plan.display()));
        return 1;
    }
    let work = graph::run(&setup, &args.request);
    let console = &invocation.console;
    match super::run_with(invocation, &setup, work) {
        Ok(Ok((text, _))) => {
            // The graph is for another program: warnings may not stand beside it.
            console.print(&text);
            0
        }
        Ok(Err(diagnostics)) => super::finish_spaced(console, diagnostics),
        Err(code) => code,
    }
}
