//! `get`

use ops::init;

use crate::Invocation;
use crate::args::get::parse;
use crate::view::get::view;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::arguments_and_setup(invocation, parse(args), |args| &args.variables) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let view = view(&invocation.console, args.json);
    let mut tell = |event| {
        if let init::InitEvent::Module(event) = event {
            view.module(&event);
        }
    };
    let diagnostics = match super::run_with(invocation, &setup, init::get(&setup, args.update, &mut tell)) {
        Ok(diagnostics) => diagnostics,
        Err(code) => return code,
    };
    let failed = diagnostics.has_errors();
    view.finish(diagnostics);
    u8::from(failed)
}
