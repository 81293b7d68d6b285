//! `get`

use crate::cli::Invocation;
use crate::cli::args::get::parse;
use crate::cli::view::json::write;
use crate::ops::init;
use crate::render::json::events;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::begin(invocation, parse(args), |args| &args.variables) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    if args.json {
        write(console, &events::version());
    }
    let mut tell = |event| {
        if let init::InitEvent::Module(event) = event {
            match args.json {
                true => write(console, &events::log(event.to_string())),
                false => console.line(&event.to_string()),
            }
        }
    };
    let diagnostics = match super::run_with(invocation, &setup.stop, init::get(&setup, args.update, &mut tell)) {
        Ok(diagnostics) => diagnostics,
        Err(code) => return code,
    };
    let failed = diagnostics.has_errors();
    match args.json {
        true => diagnostics.iter().for_each(|diagnostic| write(console, &events::diagnostic(diagnostic))),
        false => console.spaced_diagnostics(diagnostics),
    }
    u8::from(failed)
}
