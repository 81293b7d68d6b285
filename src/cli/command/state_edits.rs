//! `state mv`, `state push`, `state replace-provider` and `state rm`

use base::name::PROGRAM;
use base::term;
use model::addr::pattern::is_pattern;
use model::addr::{AbsResource, AbsResourceInstance, Provider, Target};
use ops::state::edits::{self, EditRefusal, Edited, MoveEnd, Moved, OtherDir, ROOT};
use render::json::events;

use super::state::no_state;
use crate::Invocation;
use crate::args::state_edits as args;
use crate::console::Console;
use crate::view::lines::Lines;

pub fn run_mv(invocation: &Invocation, args: &[String]) -> u8 {
    let ((args, json), setup) = match super::parsed_and_setup(invocation, args::parse_mv(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    let lines = Lines::new(console, json);
    let verb = if args.dry_run { "Would move" } else { "Move" };
    let is_rename = matches!(&args.sources[..], [one] if !is_pattern(one)) && args.destination != ROOT;
    let (from_where, to_where) = match &args.other {
        None => (String::new(), String::new()),
        Some(OtherDir::From(dir)) => (format!(" in {}", dir.display()), String::new()),
        Some(OtherDir::To(dir)) => (String::new(), format!(" in {}", dir.display())),
    };
    let moved = |moved: Moved| {
        // Of an instance the new address is shown as it was given.
        let to = match moved.from {
            Target::Instance(_) if is_rename => args.destination.clone(),
            _ => moved.to.to_string(),
        };
        lines.say(&format!("{verb} {:?}{from_where} to {to:?}{to_where}", moved.from.to_string()));
    };
    match super::run_with(invocation, &setup, edits::mv(&setup, &args, &lines, moved)) {
        Ok(Ok(Edited { outcome: count, warnings })) => {
            lines.finish(warnings);
            if !args.dry_run {
                lines.sentence(&format!("Successfully moved {count} object(s)."));
            }
            0
        }
        Ok(Err(refusal)) => refused(&lines, refusal, "source state", unsaved),
        Err(code) => code,
    }
}

pub fn run_rm(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::parsed_and_setup(invocation, args::parse_rm(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    let lines = Lines::new(console, args.json);
    let verb = if args.dry_run { "Would remove" } else { "Removed" };
    let removed = |addr: &AbsResourceInstance| lines.say(&format!("{verb} {addr}"));
    let work = edits::remove(&setup, &args.options, &args.addresses, args.dry_run, &lines, removed);
    match super::run_with(invocation, &setup, work) {
        Ok(Ok(Edited { outcome: count, warnings })) => {
            lines.finish(warnings);
            match (args.dry_run, count) {
                (true, 0) => lines.sentence("Would have removed nothing."),
                (true, _) => {}
                (false, count) => lines.sentence(&format!("Successfully removed {count} resource instance(s).")),
            }
            0
        }
        Ok(Err(refusal)) => refused(&lines, refusal, "state", unsaved),
        Err(code) => code,
    }
}

pub fn run_replace_provider(invocation: &Invocation, args: &[String]) -> u8 {
    let parsed = args::parse_replace_provider(args);
    let ((args, json), setup) = match super::parsed_and_setup(invocation, parsed, |(args, _)| !args.auto_approve) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let lines = Lines::new(&invocation.console, json);
    let planned = |from: &Provider, to: &Provider, resources: &[AbsResource]| {
        lines.each(|output| match output.is_stream() {
            true => output.message(&events::provider_replacement(from, to, resources)),
            false => show_replacement(&output.console, from, to, resources, args.auto_approve),
        });
    };
    let work = edits::replace_provider(&setup, &args, &lines, planned);
    match super::run_with(invocation, &setup, work) {
        Ok(Ok(Edited { outcome, warnings })) => {
            lines.finish(warnings);
            match outcome {
                Some(0) => lines.sentence("No matching resources found."),
                Some(count) => {
                    let done = format!("Successfully replaced provider for {count} resources");
                    lines.coloured(&format!("\n{done}."), &done);
                }
                None => lines.sentence("Cancelled replacing providers."),
            }
            0
        }
        Ok(Err(refusal)) => refused(&lines, refusal, "source state", unsaved),
        Err(code) => code,
    }
}

fn show_replacement(console: &Console, from: &Provider, to: &Provider, resources: &[AbsResource], approved: bool) {
    let line = |template: &str, args: &[&dyn std::fmt::Display]| console.line(&console.style.fill(template, args));
    console.line(&format!("{PROGRAM} will perform the following actions:\n"));
    line("  [yellow]~[reset] Updating provider:", &[]);
    line("    [red]-[reset] {}", &[from]);
    line("    [green]+[reset] {}\n", &[to]);
    line("[bold]Changing[reset] {} resources:\n", &[&resources.len()]);
    resources.iter().for_each(|addr| console.line(&format!("  {addr}")));
    if !approved {
        line("\n[bold]Do you want to make these changes?[reset]\nOnly 'yes' will be accepted to continue.\n", &[]);
    }
}

pub fn run_push(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::parsed_and_setup(invocation, args::parse_push(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    let lines = Lines::new(console, args.json);
    let work = edits::push(&setup, &args.path, args.force, args.locking, &lines, term::read_all);
    match super::run_with(invocation, &setup, work) {
        Ok(Ok(())) => 0,
        Ok(Err(EditRefusal::NotSaved(reason))) => {
            lines.each(|output| match output.is_stream() {
                true => output.refuse(&format!("Failed to write the imported state\n\n{reason}")),
                false => output.refuse(&format!("Failed to write state: {reason}")),
            });
            1
        }
        Ok(Err(refusal)) => refused(&lines, refusal, "destination state", unsaved),
        Err(code) => code,
    }
}

/// Says why a state was not changed. `source`: what that state is called; `unsaved`: what is said if it cannot be written.
pub fn refused(lines: &Lines, refusal: EditRefusal, source: &str, unsaved: impl Fn(&str) -> String) -> u8 {
    if let EditRefusal::Diagnostics(diagnostics) = refusal {
        return lines.finish(diagnostics);
    }
    lines.each(|output| output.refuse(&refusal_text(&refusal, source, &unsaved, output.is_stream())));
    1
}

/// Lists of diagnostics have no text.
fn refusal_text(refusal: &EditRefusal, source: &str, unsaved: &dyn Fn(&str) -> String, is_stream: bool) -> String {
    match refusal {
        EditRefusal::Diagnostics(_) => String::new(),
        EditRefusal::Unopened(reason) => format!(
            "Error loading the state: {reason}\n\nPlease ensure that your {PROGRAM} state exists and that you've\nconfigured it \
             properly. You can use the \"-state\" flag to point\n{PROGRAM} at another state file."
        ),
        EditRefusal::Unread { which: MoveEnd::Source, reason } => format!("Failed to refresh {source}: {reason}"),
        EditRefusal::Unread { which: MoveEnd::Destination, reason } => {
            format!("Failed to refresh destination state: {reason}")
        }
        EditRefusal::NoState => no_state(),
        EditRefusal::ModuleExists => MODULE_EXISTS.into(),
        EditRefusal::NotSaved(reason) => unsaved(reason),
        EditRefusal::NoSource(reason) if is_stream => format!("Failed to open the given state file\n\n{reason}"),
        EditRefusal::NoSource(reason) => reason.clone(),
        EditRefusal::BadSource { path, reason } if is_stream => {
            format!("Failed to read source state {path:?}\n\n{reason}")
        }
        EditRefusal::BadSource { path, reason } => format!("Error reading source state {path:?}: {reason}"),
        EditRefusal::NoAnswer(reason) => format!("Error asking for approval: {reason}"),
    }
}

const MODULE_EXISTS: &str = "Error moving state: destination module already exists\n\nPlease ensure your addresses and state \
                             paths are valid. No\nstate was persisted. Your existing states are untouched.";

pub fn unsaved(reason: &str) -> String {
    format!(
        "Error saving the state: {reason}\n\nThe state was not saved. No items were removed from the persisted\nstate. No backup \
         was created since no modification occurred. Please\nresolve the issue above and try again."
    )
}
