//! `state list`, `state identities`, `state show` and `state pull`

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::Diagnostic;
use base::name::{COMMAND, PROGRAM};
use model::state::StateMeta;
use model::state::file::StateFile;
use ops::interface::listen::Listener;
use ops::interface::options::StateOptions;
use ops::state::instances::{self, ReadRefusal, ShowRefusal, StoredInstance};
use render::json::go;
use render::objects::ObjectError;
use serde_json::Value as Json;

use crate::Invocation;
use crate::args::state::{parse_identities, parse_list, parse_pull, parse_show};
use crate::console::Console;
use crate::opentofu;
use crate::view::lines::{LineOutput, Lines};
use crate::view::{documents, shown};

pub(super) fn no_state() -> String {
    format!(
        "No state file was found!\n\nState management commands require a state file. Run this command\n\
                        in a directory where {PROGRAM} has been run or use the -state flag\nto point the command to a specific state location."
    )
}

fn one_instance() -> String {
    format!(
        "This command requires that the address references one specific instance.\n\
                            To view the available instances, use \"{COMMAND} state list\". Please modify \n\
                            the address to reference a specific instance."
    )
}

pub fn run_list(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::parsed_and_setup(invocation, parse_list(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let options = StateOptions { state: args.state, ..StateOptions::default() };
    let lines = Lines::new(&invocation.console, args.json);
    let work = instances::list(&setup, &options, &args.addresses, args.id.as_deref());
    match super::run_with(invocation, &setup, work) {
        Ok(Ok((found, warnings))) => {
            lines.aside(warnings);
            found.iter().for_each(|addr| lines.address(addr));
            0
        }
        Ok(Err(refusal)) => refused(&lines, refusal),
        Err(code) => code,
    }
}

pub fn run_identities(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::parsed_and_setup(invocation, parse_identities(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    if !args.json {
        console.red_error_line(&format!("The `{COMMAND} state identities` command requires the `-json` flag.\n"));
        return 1;
    }
    let options = StateOptions { state: args.state, ..StateOptions::default() };
    let work = instances::identities(&setup, &options, &args.addresses, args.id.as_deref());
    match super::run_with(invocation, &setup, work) {
        Ok(Ok((found, warnings))) => {
            let read = |(addr, text): (String, Arc<str>)| {
                serde_json::from_str::<BTreeMap<String, Json>>(&text).map(|identity| (addr, identity))
            };
            match found.into_iter().map(read).collect::<Result<BTreeMap<_, _>, _>>() {
                Ok(identities) => console.line(&go::pretty(&identities)),
                Err(error) => {
                    console.red_error_line(&format!("Failed to unmarshal identity JSON: {error}"));
                    return 1;
                }
            }
            console.diagnostics_aside(warnings);
            0
        }
        Ok(Err(refusal)) => refused(&Lines::new(console, false), refusal),
        Err(code) => code,
    }
}

/// An error that the reference does not colour.
fn put_error(output: &LineOutput, text: &str) {
    match output.is_stream() {
        true => output.refuse(text),
        false => output.console.error_line(text),
    }
}

fn refused(lines: &Lines, refusal: ReadRefusal) -> u8 {
    match refusal {
        ReadRefusal::NoState => {
            lines.refuse(&no_state());
            1
        }
        ReadRefusal::Unread(diagnostics) => {
            let failed = diagnostics.has_errors();
            lines.diagnostics(diagnostics);
            u8::from(failed)
        }
        ReadRefusal::Diagnostics(diagnostics) => lines.finish(diagnostics),
    }
}

/// Shows one instance. The error is for people.
fn show_instance(output: &LineOutput, found: &StoredInstance) -> Result<(), String> {
    let console = &output.console;
    let text = match output.is_stream() {
        true => {
            let file = StateFile { meta: StateMeta::default(), state: found.state.clone() };
            shown::state_json(&file, &found.schemas)
        }
        false => shown::instance(&found.addr, &found.state, &found.schemas, &console.style),
    };
    text.map(|text| console.print(&text)).map_err(|why| unmarshalled(&why))
}

pub fn run_show(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::parsed_and_setup(invocation, parse_show(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let options = StateOptions { state: args.state, ..StateOptions::default() };
    let work = instances::show(&setup, &options, &args.address);
    let (console, is_document) =
        (&invocation.console, args.json && opentofu::writes_documents(invocation.environment.dialect()));
    let lines = if is_document { Lines::aside_only(console) } else { Lines::new(console, args.json) };
    let result = super::run_with(invocation, &setup, work);
    if let (true, Ok(found)) = (is_document, &result) {
        write_document(console, found);
    }
    match result {
        Ok(Ok(found)) => {
            lines.aside(found.warnings.clone());
            let mut code = 0;
            lines.each(|output| {
                if let Err(why) = show_instance(output, &found) {
                    put_error(output, &why);
                    code = 1;
                }
            });
            code
        }
        Ok(Err(ShowRefusal::Read(refusal))) => refused(&lines, refusal),
        Ok(Err(ShowRefusal::Address(text))) => {
            lines.each(|output| {
                let shown = if output.is_stream() { format!(" {text:?}") } else { format!(": {text}") };
                put_error(output, &format!("Error parsing instance address{shown}\n\n{}", one_instance()));
            });
            1
        }
        Ok(Err(ShowRefusal::NotFound(question))) => {
            let text = not_found();
            lines.each(|output| {
                put_error(output, &text);
                if !question.is_empty() && !output.is_stream() && output.console.shows_tips() {
                    output.console.error_line(&format!("\n{question}"));
                }
            });
            1
        }
        Err(code) => code,
    }
}

fn write_document(console: &Console, found: &Result<StoredInstance, ShowRefusal>) {
    let error = |text: &str| Diagnostic::error(text.trim().replace(" \n", "\n"), "").into();
    let diagnostics = match found {
        Ok(found) => {
            let file = StateFile { meta: StateMeta::default(), state: found.state.clone() };
            return match shown::state_json(&file, &found.schemas) {
                Ok(text) => documents::instance(console, Some(&text), found.warnings.clone()),
                Err(why) => documents::instance(console, None, error(&unmarshalled(&why))),
            };
        }
        Err(ShowRefusal::Read(ReadRefusal::NoState)) => error(&no_state()),
        Err(ShowRefusal::Read(ReadRefusal::Unread(problems) | ReadRefusal::Diagnostics(problems))) => problems.clone(),
        Err(ShowRefusal::Address(text)) => {
            error(&format!("Error parsing instance address: {text}\n\n{}", one_instance()))
        }
        Err(ShowRefusal::NotFound(_)) => error(&not_found()),
    };
    documents::instance(console, None, diagnostics);
}

fn unmarshalled(why: &ObjectError) -> String {
    format!("Failed to marshal state to json: {why}")
}

fn not_found() -> String {
    format!("No instance found for the given address!\n\n{}", one_instance())
}

pub fn run_pull(invocation: &Invocation, args: &[String]) -> u8 {
    let ((), setup) = match super::parsed_and_setup(invocation, parse_pull(args), |()| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    match super::run_with(invocation, &setup, instances::pull(&setup)) {
        Ok(Ok(content)) => {
            if let Some(content) = content {
                // The file ends in a line ending, and the reference adds another one.
                invocation.console.line(&String::from_utf8_lossy(&content));
            }
            0
        }
        Ok(Err(diagnostics)) => super::finish(&invocation.console, diagnostics),
        Err(code) => code,
    }
}
