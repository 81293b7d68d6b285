//! `import`

use ops::run::import;

use crate::Invocation;
use crate::args::import::parse;
use crate::view::import::view;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let args = match parse(args) {
        Ok(args) => args,
        Err(error) => return invocation.usage_error(error),
    };
    let setup = match super::setup(invocation, args.input) {
        Ok(setup) => setup,
        Err(code) => return code,
    };
    let view = view(&invocation.console, super::plan::audience(invocation, args.json));
    match super::run_with(invocation, &setup, import::run(&setup, &args.request, view.listener())) {
        Ok(Ok(diagnostics)) => view.success(diagnostics),
        Ok(Err(refusal)) => view.refused(refusal),
        Err(code) => code,
    }
}
