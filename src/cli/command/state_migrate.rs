//! `state migrate`

use base::name::{COMMAND, PROGRAM};
use ops::migrate::{self, MigrateEvent, MigrateRequest};

use crate::Invocation;
use crate::args::state_migrate::parse;
use crate::view::init::human::{InstallLines, lock_created_line, trust_line};
use crate::view::init::texts::lock_changed;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, variables) = match parse(args, &super::missing) {
        Ok(parsed) => parsed,
        Err(error) => return invocation.usage_error(error),
    };
    let setup = match super::setup(invocation, args.input) {
        Ok(setup) => setup.with_variables(&variables),
        Err(code) => return code,
    };
    let console = &invocation.console;
    let line = |template: &str, from: &str, to: &str| {
        console.line(&console.style.fill(template, &[&from, &to]));
    };
    let installing = InstallLines::new(console.clone());
    let mut tell = |event: MigrateEvent<'_>| match event {
        MigrateEvent::Started { from, to } => {
            console.progress.begin_part(Some("Migrating states"));
            line("[reset][bold]Migrating state from {} to {}...[reset]", from, to);
        }
        MigrateEvent::Finished { from, to } => {
            line("[reset][bold]Finished migrating state from {} to {}.[reset]", from, to);
        }
        MigrateEvent::Failed { from, to, is_copied } => {
            let (title, text) = failure(is_copied);
            line(title, from, to);
            console.line(&format!("\n{text}"));
        }
        MigrateEvent::LockCreated => console.line(&format!("{}\n", lock_created_line(&console.style))),
        MigrateEvent::LockChanged => console.line(&format!("{}\n", lock_changed())),
        MigrateEvent::Installing => {
            console.progress.begin_part(Some("Installing providers"));
            console.line(&console.style.fill("[reset][bold]Installing providers...", &[]));
        }
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
        Ok(is_done) => u8::from(!is_done),
        Err(code) => code,
    }
}

/// The line and the text after an error; `is_copied`: the states were copied before it.
fn failure(is_copied: bool) -> (&'static str, String) {
    if is_copied {
        return (
            "[reset][bold]Finished migrating state from {} to {}, but an error occurred before the command was finished.[reset]",
            format!(
                "Your state has been copied to the new destination, but {PROGRAM} was unable to perform final operations to enable future \
                 commands to use your migrated state. Either {PROGRAM} was unable to record the new provider used for the destination \
                 state store to your dependency lock file, or the backend state file was unable to be updated. Please check the errors \
                 message(s) above for more information.\n\nThe successful migration means you will have two copies of your state, both in \
                 the source and destination locations.\n\nIf you can address the errors you can retry this command safely."
            ),
        );
    }
    (
        "[reset][bold]Failed to migrate state from {} to {}.[reset]",
        format!(
            "Something went wrong while migrating the state. Please check the errors message(s) above for more information.\n\nThe \
             \"{COMMAND} state migrate\" command does not modify the source state, so you can retry this command safely after addressing \
             errors. When the command does succeed you will have two copies of your state, both in the source and destination \
             locations.\n\nMake sure you're supplying all the necessary attribute values for both the source and destination state stores. \
             Remember, some values may need to be supplied via environment variables for either of the source or destination locations. \
             If you continue to experience issues please report the issue to either the {PROGRAM} team when using a backend, or to the \
             relevant provider development team when using a pluggable state store."
        ),
    )
}
