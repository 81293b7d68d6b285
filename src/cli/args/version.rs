//! `version`

use clap::Command;

use super::ArgsError;
use super::common::json_flag;
use super::flags::{self, Given};

pub fn command() -> Command {
    flags::command("version")
        .about("Show the current version")
        .long_about(
            "Shows the version of the language, of this program, and of the providers in the dependency lock file.",
        )
        .args([json_flag()])
}

/// Whether JSON is wanted.
pub fn parse(args: &[String]) -> Result<bool, ArgsError> {
    let given = flags::parse(command(), args).map_err(ArgsError::flag_with_page)?;
    Ok(given.on("json"))
}
