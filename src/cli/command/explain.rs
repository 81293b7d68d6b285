//! `explain`

use ops::inspect::explain;

use crate::Invocation;
use crate::args::explain::parse;
use crate::view::explain::{plan_listener, view};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    explain_address(invocation, args).unwrap_or_else(|code| code)
}

fn explain_address(invocation: &Invocation, args: &[String]) -> Result<u8, u8> {
    let mut args = parse(args).map_err(|error| invocation.usage_error(error))?;
    let view = view(&invocation.console, args.json);
    let problems = ops::configuration::target_files::read(&mut args.request.operation.plan);
    if problems.has_errors() {
        view.result(None, problems);
        return Ok(1);
    }
    let variables = args.request.operation.variables.clone();
    let setup = super::setup(invocation, args.input)?.with_variables(&variables);
    let work = explain::run(&setup, &args.request, plan_listener(&invocation.console));
    let (answers, diagnostics) = super::run_with(invocation, &setup, work)?;
    let failed = answers.is_none() || diagnostics.has_errors();
    view.result(answers, diagnostics);
    Ok(u8::from(failed))
}
