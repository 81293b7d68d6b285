//! `link`

use ops::link::{self, LinkKind, LinkOutcome, LinkReach, LinkRequest};

use crate::Invocation;
use crate::args::link::parse;
use crate::console::Console;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let request = match parse(args) {
        Ok(request) => request,
        Err(error) => return invocation.usage_error(error),
    };
    match link::run(&invocation.environment, &request) {
        Ok(outcome) => {
            show(&invocation.console, &request, &outcome);
            0
        }
        Err(diagnostics) => super::finish(&invocation.console, diagnostics),
    }
}

fn show(console: &Console, request: &LinkRequest, outcome: &LinkOutcome) {
    let kind = match outcome.kind {
        LinkKind::Symbolic => "a symbolic link to",
        LinkKind::Hard => "a hard link to",
        LinkKind::Copy => "a copy of",
    };
    let created = console.style.fill("[green][bold]Created {}[reset]", &[&outcome.path.display()]);
    console.line(&format!("{created}, {kind} {}.", outcome.program.display()));
    let name = &request.name;
    match &outcome.reach {
        LinkReach::Link => {}
        LinkReach::NotOnPath => {
            let folder = request.folder.display();
            console.line(&format!(
                "\nThe folder {folder} is not in PATH: the command \"{name}\" does not start the link."
            ));
        }
        LinkReach::Other(first) => {
            let first = first.display();
            console.line(&format!("\nThe command \"{name}\" starts {first}, which comes earlier in PATH."));
        }
    }
}
