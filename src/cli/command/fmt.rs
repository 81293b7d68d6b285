//! `fmt`

use base::diag::Diagnostic;
use base::term;
use ops::fmt;

use crate::Invocation;
use crate::args::fmt::parse;

/// A file does not parse or cannot be read or written.
const FAILED: u8 = 2;
/// `-check` found a file that is not in the standard style.
const DIFFERS: u8 = 3;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let args = match parse(args) {
        Ok(args) => args,
        Err(error) => return invocation.usage_error(error),
    };
    let console = &invocation.console;
    let (shown, diagnostics) = match &args.paths {
        Some(paths) => fmt::run(invocation.environment.dialect(), paths, &args.options),
        None => match term::read_all() {
            Ok(content) => fmt::run_stdin(&content, &args.options),
            Err(_) => (Vec::new(), Diagnostic::error("Failed to read <stdin>", "").into()),
        },
    };
    if !args.check {
        console.print_bytes(&shown);
    }
    if diagnostics.has_errors() {
        console.diagnostics(diagnostics);
        return FAILED;
    }
    if args.check && args.list {
        console.print_bytes(&shown);
    }
    if args.check && !shown.is_empty() { DIFFERS } else { 0 }
}
