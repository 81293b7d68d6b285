//! `modules`

use clap::Command;

use super::common::{TOO_MANY, json_flag, view_flags};
use super::flags::{self, Given};
use super::{ArgsError, gather};

pub fn command() -> Command {
    flags::command("modules")
        .about("Show all declared modules in a working directory")
        .long_about(
            "Shows the modules that the configuration calls, as a tree: the name of each call, where the module comes from, and \
             its version.",
        )
        .args([json_flag()])
        .args(view_flags())
}

/// Whether JSON is wanted.
pub fn parse(args: &[String]) -> Result<bool, ArgsError> {
    let (given, mut diagnostics) = gather(command(), args);
    if !given.positional().is_empty() {
        diagnostics.error(TOO_MANY, "Expected no positional arguments");
    }
    // Mistakes are told to people even if programs are to read the answer.
    if diagnostics.has_errors() { Err(ArgsError::all(diagnostics, false)) } else { Ok(given.on("json")) }
}
