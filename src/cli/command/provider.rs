//! `provider new`, `provider docs` and `provider package`

use std::path::Path;

use base::name::COMMAND;
use ops::authoring::docs::{self, DocsOutcome};
use ops::authoring::release::{self, ReleaseOutcome};
use ops::authoring::{BuildEvent, scaffold};

use crate::Invocation;
use crate::args::provider::{parse_docs, parse_new, parse_package};
use crate::console::Console;

pub fn run_new(invocation: &Invocation, args: &[String]) -> u8 {
    let console = &invocation.console;
    let request = match parse_new(args) {
        Ok(request) => request,
        Err(error) => return invocation.usage_error(error),
    };
    match scaffold::run(&request) {
        Ok(folder) => {
            let folder = folder.display();
            console.line(&console.style.fill("[green][bold]Created {}[reset]", &[&folder]));
            console.line(&format!(
                "\n  cargo test                 builds and tests it\n  {COMMAND} provider docs      makes the pages for registries\n  \
                 {COMMAND} provider package   makes a release\n\nREADME.md says more. Run the commands in {folder}."
            ));
            0
        }
        Err(diagnostics) => super::finish_spaced(console, diagnostics),
    }
}

pub fn run_docs(invocation: &Invocation, args: &[String]) -> u8 {
    let console = &invocation.console;
    let (request, setup) = match super::arguments_and_setup(invocation, parse_docs(args), |_| &[]) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let mut tell = |event: BuildEvent<'_>| console.line(&build_line(event));
    let (outcome, warnings) = match super::run_with(invocation, &setup, docs::run(&setup, &request, &mut tell)) {
        Ok(Ok(done)) => done,
        Ok(Err(diagnostics)) => return super::finish_spaced(console, diagnostics),
        Err(code) => return code,
    };
    super::finish_spaced(console, warnings);
    show_pages(console, &outcome, request.check);
    u8::from(request.check && !outcome.is_current())
}

fn show_pages(console: &Console, outcome: &DocsOutcome, check: bool) {
    let words = if check { ["missing", "outdated", "to delete"] } else { ["created", "changed", "deleted"] };
    for (word, paths) in words.into_iter().zip([&outcome.created, &outcome.changed, &outcome.removed]) {
        paths.iter().for_each(|path| console.line(&format!("- {}: {word}", path.display())));
    }
    let pages = outcome.pages;
    match (outcome.is_current(), check) {
        (true, _) => console.line(&format!("All {pages} pages are current.")),
        (false, true) => {
            console.line(&format!("The documentation is not current: run \"{COMMAND} provider docs\" to update it."));
        }
        (false, false) => console.line(&format!("{pages} pages are current now.")),
    }
}

fn build_line(event: BuildEvent<'_>) -> String {
    match event {
        BuildEvent::Started(package) => format!("Building {package}..."),
        BuildEvent::Line(line) => line.to_owned(),
    }
}

pub fn run_package(invocation: &Invocation, args: &[String]) -> u8 {
    let console = &invocation.console;
    let parsed = parse_package(args).map(|request| (request, Vec::new()));
    let (request, setup) = match super::parsed_and_setup(invocation, parsed, |_| true) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let mut tell = |event: BuildEvent<'_>| console.line(&build_line(event));
    match super::run_with(invocation, &setup, release::run(&setup, &request, &mut tell)) {
        Ok(Ok(outcome)) => {
            show_release(console, outcome, &request.output);
            0
        }
        Ok(Err(diagnostics)) => super::finish_spaced(console, diagnostics),
        Err(code) => code,
    }
}

fn show_release(console: &Console, outcome: ReleaseOutcome, folder: &Path) {
    let ReleaseOutcome { files, protocols, signer, warnings } = outcome;
    super::finish_spaced(console, warnings);
    files.iter().for_each(|file| console.line(&format!("- {}", file.display())));
    console.line(&format!("\nProtocol versions: {}", protocols.join(", ")));
    match signer {
        Some(key) => console.line(&format!("Signed by the key {key}.")),
        None => console.line("Not signed: registries require a signature. Give the key with -key."),
    }
    console.line(&console.style.fill("[green][bold]The release is in {}.[reset]", &[&folder.display()]));
}
