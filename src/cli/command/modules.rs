//! `modules`

use crate::cli::Invocation;
use crate::cli::args::modules::parse;
use crate::cli::view::modules::view;
use crate::ops::inspect::modules;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::arguments_and_setup(invocation, parse(args), |args| &args.variables) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let (called, diagnostics) = modules::run(&setup);
    let console = &invocation.console;
    if diagnostics.has_errors() {
        return super::finish(console, diagnostics);
    }
    console.print(&view(args.json).text(&called));
    // Warnings are for commands that do something with the configuration.
    0
}
