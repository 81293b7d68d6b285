//! `modules`

use clap::Command;
use ops::interface::options::VariableArgument;

use super::common::{TOO_MANY, json_flag, variable_arguments, variable_flags, view_flags};
use super::flags::{self, Given};
use super::{ArgsError, gather};

pub fn command() -> Command {
    flags::command("modules")
        .about("Show all declared modules in a working directory")
        .long_about(
            "Shows the tree of modules that the configuration calls: the name of each call, the source of the module, and its \
             version.",
        )
        .args([json_flag()])
        .args(variable_flags())
        .args(view_flags())
}

#[derive(Debug)]
pub struct Modules {
    pub json: bool,
    /// Values of variables that decide which modules there are.
    pub variables: Vec<VariableArgument>,
}

pub fn parse(args: &[String]) -> Result<Modules, ArgsError> {
    let (given, mut diagnostics) = gather(command(), args);
    if !given.positional().is_empty() {
        diagnostics.error(TOO_MANY, "Expected no positional arguments");
    }
    // Errors are text even with `-json`.
    if diagnostics.has_errors() {
        return Err(ArgsError::all(diagnostics, false));
    }
    Ok(Modules { json: given.on("json"), variables: variable_arguments(&given) })
}
