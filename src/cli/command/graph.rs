//! `graph`

use crate::cli::Invocation;
use crate::cli::args::graph::parse;
use crate::ops::graph;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let args = match parse(args) {
        Ok(args) => args,
        Err(error) => return invocation.usage_error(error),
    };
    let setup = match super::setup(invocation, false) {
        Ok(setup) => setup.with_variables(&args.variables),
        Err(code) => return code,
    };
    let work = graph::run(&setup, args.wanted, args.format, args.plan.as_deref());
    let console = &invocation.console;
    match super::run_with(invocation, &setup.stop, work) {
        Ok(Ok((text, warnings))) => {
            // The graph is for another program: nothing else may stand beside it.
            console.error_diagnostics(warnings);
            console.print(&text);
            0
        }
        Ok(Err(diagnostics)) => super::finish_spaced(console, diagnostics),
        Err(code) => code,
    }
}
