//! `state migrate`

use crate::cli::Invocation;
use crate::cli::args::state_migrate::parse;
use crate::cli::view::init::human::{InstallLines, trust_line};
use crate::ops::init::migrate::{self, MigrateEvent, MigrateRequest};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::parsed_and_setup(invocation, parse(args), |args| args.input) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    let line = |template: &str, from: &str, to: &str| {
        console.line(&console.style.fill(template, &[&from, &to]));
    };
    let installing = InstallLines::new(console.clone());
    let mut tell = |event: MigrateEvent<'_>| match event {
        MigrateEvent::Started { from, to } => {
            line("[reset][bold]Migrating state from {} to {}...[reset]", from, to);
        }
        MigrateEvent::Finished { from, to } => {
            line("[reset][bold]Finished migrating state from {} to {}.[reset]", from, to);
        }
        MigrateEvent::Installing => console.line(&console.style.fill("[reset][bold]Installing providers...", &[])),
        MigrateEvent::Install(event) => installing.event(&event),
        MigrateEvent::Installed => console.line(""),
        MigrateEvent::Trust(trust) => console.line(&trust_line(trust, &console.style)),
        MigrateEvent::Diagnostics(diagnostics) => console.diagnostics(diagnostics),
    };
    let request = MigrateRequest {
        force_copy: args.force_copy,
        options: args.options,
        source_lock: args.source_lock,
        destination_lock: args.destination_lock,
        upgrade: args.upgrade,
    };
    match super::run_with(invocation, &setup, migrate::run(&setup, &request, &mut tell)) {
        Ok(diagnostics) => super::finish(console, diagnostics),
        Err(code) => code,
    }
}
