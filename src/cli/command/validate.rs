//! `validate`

use ops::inspect::validate::ValidateRequest;

use crate::Invocation;
use crate::args::validate::parse;
use crate::view::validate::view;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::arguments_and_setup(invocation, parse(args), |args| &args.variables) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let request = ValidateRequest { path: args.path, test_dir: args.test_dir, queries: args.queries, lint: args.lint };
    let view = view(&invocation.console, args.json);
    let observer = view.observer();
    let work = ops::inspect::validate::run(&setup, &request, &observer);
    let diagnostics = match super::run_with(invocation, &setup, work) {
        Ok(diagnostics) => diagnostics,
        Err(code) => return code,
    };
    let failed = diagnostics.has_errors();
    view.result(diagnostics);
    u8::from(failed)
}
