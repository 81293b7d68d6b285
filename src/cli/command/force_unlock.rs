//! `force-unlock`

use crate::base::name::PROGRAM;
use crate::cli::Invocation;
use crate::cli::args::force_unlock::parse;
use crate::ops::interface::ask::NoAnswer;
use crate::ops::state::force_unlock::{self, Outcome};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::parsed_and_setup(invocation, parse(args), |_| true) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let work = force_unlock::run(&setup, &args.id, args.force);
    match super::run_with(invocation, &setup, work) {
        Ok(Ok(outcome)) => show(invocation, outcome),
        Ok(Err(diagnostics)) => super::finish(&invocation.console, diagnostics),
        Err(code) => code,
    }
}

fn show(invocation: &Invocation, outcome: Outcome) -> u8 {
    let console = &invocation.console;
    let error = match outcome {
        Outcome::Unlocked => {
            let text = "[reset][bold][green]{} state has been successfully unlocked![reset][green]\n\nThe state has been \
                        unlocked, and {} commands should now be able to\nobtain a new lock on the remote state.";
            console.line(&console.style.fill(text, &[&PROGRAM, &PROGRAM]));
            return 0;
        }
        Outcome::Refused => {
            console.line("force-unlock cancelled.");
            return 1;
        }
        Outcome::OfProcess => "Local state cannot be unlocked by another process".to_owned(),
        Outcome::NoAnswer(NoAnswer::Interrupted) => "Error asking for confirmation: interrupted".to_owned(),
        Outcome::NoAnswer(NoAnswer::Failed(reason)) => format!("Error asking for confirmation: {reason}"),
        Outcome::Failed(reason) => format!("Failed to unlock state: {reason}"),
    };
    console.red_error_line(&error);
    1
}
