//! `get`

use clap::Command;

use super::ArgsError;
use super::common::{json_flag, test_directory_flag, view_flags};
use super::flags::{self, Given, switch};

pub fn command() -> Command {
    flags::command("get")
        .about("Install or upgrade modules")
        .long_about("Fetches the modules that the configuration calls. \"terrane init\" does so too.")
        .args([
            switch("update", false, "Look for newer versions of modules that are there already."),
            json_flag().hide(true),
            test_directory_flag(),
        ])
        .args(view_flags())
}

/// Whether to look for newer versions.
pub fn parse(args: &[String]) -> Result<bool, ArgsError> {
    let given = flags::parse(command(), args).map_err(ArgsError::flag_with_page)?;
    if given.positional().is_empty() { Ok(given.on("update")) } else { Err(ArgsError::too_many()) }
}
