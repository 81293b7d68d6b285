//! `metadata functions`

use clap::Command;

use super::ArgsError;
use super::common::json_flag;
use super::flags::{self, Given};

pub fn functions_command() -> Command {
    flags::command("metadata functions")
        .about("Show signatures of the available functions")
        .long_about("Shows the signatures of the language's functions as JSON. The flag -json is required.")
        .args([json_flag()])
}

/// Whether JSON is wanted.
pub fn parse_functions(args: &[String]) -> Result<bool, ArgsError> {
    let given = flags::parse(functions_command(), args).map_err(ArgsError::flag_with_page)?;
    Ok(given.on("json"))
}
