//! `modules`

use ops::inspect::modules;

use crate::Invocation;
use crate::args::modules::parse;
use crate::view::modules::view;

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
