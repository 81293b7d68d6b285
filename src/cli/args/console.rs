//! `console`

use base::diag::Diagnostic;
use clap::Command;
use model::addr::ModuleInstance;
use model::addr::parse::parse_module_instance;
use ops::inspect::console::ConsoleRequest;
use ops::interface::options::StateOptions;

use super::ArgsError;
use super::common::*;
use super::flags::{self, Given, switch, text};

pub fn command() -> Command {
    flags::command("console")
        .about("Try expressions at an interactive command prompt")
        .long_about(
            "Evaluates expressions with the values of the configuration and of the state. At a terminal it shows a prompt; from \
             a pipe it reads one expression per line and shows the value of the last one. Changes nothing.",
        )
        .args([
            switch("plan", false, "Make a plan first, and use the planned values instead of those of the state."),
            text("scope", "module", "Evaluate in this module instance, such as module.a[0]. Default: the root module."),
            text("state", "path", "For the local backend only: the state file to use."),
        ])
        .args(lock_flags())
        .args(variable_flags())
        .arg(text("json-into", "path", "Write the values as lines of JSON to this file, beside the output for people."))
        .args(view_flags())
}

pub fn parse(args: &[String]) -> Result<ConsoleRequest, ArgsError> {
    let given = flags::parse(command(), args).map_err(|error| ArgsError::Text {
        text: format!("Error parsing command line flags: {error}\n"),
        usage: true,
    })?;
    if !given.positional().is_empty() {
        return Err(ArgsError::too_many());
    }
    let scope = match given.text("scope").filter(|text| !text.is_empty()) {
        Some(text) => parse_module_instance(&text).map_err(|problem| ArgsError::Diagnostics {
            diagnostics: Diagnostic::error(format!("Invalid scope {text:?}"), problem.detail).into(),
            hint: false,
        })?,
        None => ModuleInstance::root(),
    };
    let state = StateOptions {
        state: given.text("state").filter(|path| !path.is_empty()).map(Into::into),
        lock: given.on("lock"),
        lock_timeout: given.duration("lock-timeout"),
        ..StateOptions::default()
    };
    Ok(ConsoleRequest { state, variables: variable_arguments(&given), plan: given.on("plan"), scope })
}
