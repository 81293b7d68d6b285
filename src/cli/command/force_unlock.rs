//! `force-unlock`

use base::name::PROGRAM;
use ops::interface::ask::NoAnswer;
use ops::interface::listen::Listener;
use ops::state::force_unlock::{self, UnlockOutcome};

use crate::Invocation;
use crate::args::force_unlock::parse;
use crate::view::lines::Lines;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::parsed_and_setup(invocation, parse(args), |args| !args.json) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let lines = Lines::new(&invocation.console, args.json);
    let work = force_unlock::run(&setup, &args.id, args.force);
    match super::run_with(invocation, &setup, work) {
        Ok(Ok(outcome)) => show(invocation, &lines, outcome),
        Ok(Err(diagnostics)) => {
            let failed = diagnostics.has_errors();
            lines.diagnostics(diagnostics);
            u8::from(failed)
        }
        Err(code) => code,
    }
}

fn show(invocation: &Invocation, lines: &Lines, outcome: UnlockOutcome) -> u8 {
    let error = match outcome {
        UnlockOutcome::Unlocked => {
            let text = "[reset][bold][green]{} state has been successfully unlocked![reset][green]\n\nThe state has been \
                        unlocked, and {} commands should now be able to\nobtain a new lock on the remote state.";
            let plain = format!(
                "The state has been unlocked, and {PROGRAM} commands should now be able to obtain a new lock on the remote state."
            );
            lines.coloured(&invocation.console.style.fill(text, &[&PROGRAM, &PROGRAM]), &plain);
            return 0;
        }
        UnlockOutcome::Refused => {
            lines.sentence("force-unlock cancelled.");
            return 1;
        }
        UnlockOutcome::OfProcess => "Local state cannot be unlocked by another process".to_owned(),
        UnlockOutcome::NoAnswer(NoAnswer::Interrupted) => "Error asking for confirmation: interrupted".to_owned(),
        UnlockOutcome::NoAnswer(NoAnswer::Failed(reason)) => format!("Error asking for confirmation: {reason}"),
        UnlockOutcome::Failed(reason) => format!("Failed to unlock state: {reason}"),
    };
    lines.refuse_plainly(&error);
    1
}
