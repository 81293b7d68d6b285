//! `force-unlock`

use crate::cli::Invocation;
use crate::cli::args::force_unlock::parse;
use crate::ops::force_unlock;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    if let Err(error) = parse(args) {
        return invocation.usage_error(error);
    }
    let setup = match super::setup(invocation, false) {
        Ok(setup) => setup,
        Err(code) => return code,
    };
    match super::run_with(invocation, &setup.stop, force_unlock::is_local(&setup)) {
        Ok(Ok(_)) => {
            invocation.console.error_line("Local state cannot be unlocked by another process");
            1
        }
        Ok(Err(diagnostics)) => super::finish(&invocation.console, diagnostics),
        Err(code) => code,
    }
}
