//! `taint` and `untaint`

use crate::cli::Invocation;
use crate::cli::args::ArgsError;
use crate::cli::args::taint::{self as args, Taint};
use crate::cli::view::human::Human;
use crate::model::addr::{ResourceMode, command_line};
use crate::ops::state::edits::{self, Mark, Marked, Refusal};

use super::state_edits::refused;

pub fn run_taint(invocation: &Invocation, args: &[String]) -> u8 {
    run(invocation, args::parse_taint(args), Mark::Taint)
}

pub fn run_untaint(invocation: &Invocation, args: &[String]) -> u8 {
    run(invocation, args::parse_untaint(args), Mark::Untaint)
}

fn run(invocation: &Invocation, args: Result<Taint, ArgsError>, mark: Mark) -> u8 {
    let (args, setup) = match super::begin(invocation, args, |_| &[]) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    let addr = match command_line::resource_instance(&args.address) {
        Ok(addr) => addr,
        Err(problems) => return super::finish_spaced(console, problems),
    };
    if mark == Mark::Taint && addr.mode() != ResourceMode::Managed {
        console.red_error_line(&format!("Resource instance {addr} cannot be tainted"));
        return 1;
    }
    let listener = Human::new(console.clone(), false);
    let work = edits::mark(&setup, &addr, mark, args.allow_missing, &args.options, &listener);
    match super::run_with(invocation, &setup.stop, work) {
        Ok(Ok(Marked::Done)) => {
            let what = match mark {
                Mark::Taint => "marked as tainted",
                Mark::Untaint => "successfully untainted",
            };
            console.line(&format!("Resource instance {addr} has been {what}."));
            0
        }
        Ok(Ok(Marked::Missing(warning))) => super::finish_spaced(console, warning.into()),
        Ok(Err(Refusal::Unread { reason, .. })) => {
            console.red_error_line(&format!("Failed to load state: {reason}"));
            1
        }
        Ok(Err(refusal)) => refused(console, refusal, "state", |reason| format!("Error writing state file: {reason}")),
        Err(code) => code,
    }
}
