//! `get`

use crate::cli::Invocation;
use crate::cli::args::get::parse;
use crate::ops::init;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let args = match parse(args) {
        Ok(args) => args,
        Err(error) => return invocation.usage_error(error),
    };
    let setup = match super::setup(invocation, false) {
        Ok(setup) => setup.with_variables(&args.variables),
        Err(code) => return code,
    };
    let console = &invocation.console;
    let mut tell = |event| {
        if let init::InitEvent::Module(event) = event {
            console.line(&event.to_string());
        }
    };
    match super::run_with(invocation, &setup.stop, init::get(&setup, args.update, &mut tell)) {
        Ok(diagnostics) => super::finish(console, diagnostics),
        Err(code) => code,
    }
}
