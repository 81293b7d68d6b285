//! `import`

use std::sync::Arc;

use crate::base::name::PROGRAM;
use crate::cli::Invocation;
use crate::cli::args::import::parse;
use crate::cli::console::Console;
use crate::cli::view::human::Human;
use crate::model::addr::AbsResourceInstance;
use crate::ops::run::import::{self, Refusal};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let args = match parse(args) {
        Ok(args) => args,
        Err(error) => return invocation.usage_error(error),
    };
    let setup = match super::setup(invocation, args.input) {
        Ok(setup) => setup,
        Err(code) => return code,
    };
    let console = &invocation.console;
    let listener = Arc::new(Human::new(console.clone(), super::plan::in_automation(invocation)));
    match super::run_with(invocation, &setup, import::run(&setup, &args.request, listener)) {
        Ok(Ok(diagnostics)) => {
            console.line(&console.style.fill(SUCCESS, &[&PROGRAM, &PROGRAM]));
            super::finish_spaced(console, diagnostics)
        }
        Ok(Err(refusal)) => refused(console, refusal),
        Err(code) => code,
    }
}

fn refused(console: &Console, refusal: Refusal) -> u8 {
    match refusal {
        Refusal::Diagnostics(diagnostics) => super::finish_spaced(console, diagnostics),
        Refusal::Address(diagnostics) => {
            console.spaced_diagnostics(diagnostics);
            console.line(ADDRESSES);
            1
        }
        Refusal::Undeclared(addr, diagnostics) => {
            console.spaced_diagnostics(diagnostics);
            console.error_line(&undeclared(console, &addr));
            1
        }
    }
}

/// An error with an example, which diagnostics have no place for.
fn undeclared(console: &Console, addr: &AbsResourceInstance) -> String {
    let module = if addr.module.is_root() { "the root module".into() } else { addr.module.to_string() };
    let resource = &addr.resource.resource;
    let (address, kind, name) = (addr.to_string(), &*resource.kind, &*resource.name);
    let text = "[red][reset][bold][red]Error:[reset][bold] resource address {} does not exist in the configuration.[reset]\n\nBefore \
                importing this resource, please create its configuration in {}. For example:\n\nresource {} {} {\n  # (resource \
                arguments)\n}\n[reset]";
    console.style.fill(text, &[&format!("{address:?}"), &module, &format!("{kind:?}"), &format!("{name:?}")])
}

const ADDRESSES: &str =
    "For information on valid syntax, see:\nhttps://developer.hashicorp.com/terraform/cli/state/resource-addressing";

const SUCCESS: &str = "[reset][green]\nImport successful!\n\nThe resources that were imported are shown above. These resources \
                       are now in\nyour {} state and will henceforth be managed by {}.\n";
