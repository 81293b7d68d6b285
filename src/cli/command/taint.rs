//! `taint` and `untaint`

use base::diag::Diagnostics;
use model::addr::{Pattern, command_line, pattern};
use ops::state::edits::{self, EditRefusal, Edited, Mark, Marked, Marking, Selector};
use terrane_protocol::schema::ResourceMode;

use super::state_edits::refused;
use crate::Invocation;
use crate::args::Parsed;
use crate::args::taint::{self as args, Taint};
use crate::view::lines::Lines;

pub fn run_taint(invocation: &Invocation, args: &[String]) -> u8 {
    run(invocation, args::parse_taint(args), Mark::Taint)
}

pub fn run_untaint(invocation: &Invocation, args: &[String]) -> u8 {
    run(invocation, args::parse_untaint(args), Mark::Untaint)
}

fn run(invocation: &Invocation, args: Parsed<Taint>, mark: Mark) -> u8 {
    let (args, setup) = match super::parsed_and_setup(invocation, args, |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    let lines = Lines::new(console, args.json);
    let selectors = match args.addresses.iter().map(|text| selector(text)).collect::<Result<Vec<_>, _>>() {
        Ok(selectors) => selectors,
        Err(problems) => return lines.finish(problems),
    };
    let unfit = selectors.iter().find_map(|selector| match selector {
        Selector::Instance(addr) if mark == Mark::Taint && addr.mode() != ResourceMode::Managed => Some(addr),
        _ => None,
    });
    if let Some(addr) = unfit {
        let why = format!("Resource instance {addr} cannot be tainted");
        lines.each(|output| match output.is_stream() {
            true => output.refuse(&format!("Invalid resource address\n\n{why}")),
            false => output.refuse(&why),
        });
        return 1;
    }
    let wanted = Marking { selectors, mark, allow_missing: args.allow_missing, options: args.options };
    match super::run_with(invocation, &setup, edits::mark(&setup, &wanted, &lines)) {
        Ok(Ok(Edited { outcome, warnings })) => {
            lines.finish(warnings);
            outcome.into_iter().for_each(|marked| show(&lines, mark, marked));
            0
        }
        Ok(Err(EditRefusal::Unread { reason, .. })) => {
            lines.refuse(&format!("Failed to load state: {reason}"));
            1
        }
        Ok(Err(refusal)) => refused(&lines, refusal, "state", |reason| format!("Error writing state file: {reason}")),
        Err(code) => code,
    }
}

fn selector(text: &str) -> Result<Selector, Diagnostics> {
    match pattern::is_pattern(text) {
        true => Pattern::parse(text).map(Selector::Pattern),
        false => command_line::resource_instance(text).map(Selector::Instance),
    }
}

fn show(lines: &Lines, mark: Mark, marked: Marked) {
    match marked {
        Marked::Missing(warning) => {
            lines.finish(warning.into());
        }
        Marked::Done(addr) => {
            let what = match mark {
                Mark::Taint => "marked as tainted",
                Mark::Untaint => "successfully untainted",
            };
            lines.say(&format!("Resource instance {addr} has been {what}."));
        }
    }
}
