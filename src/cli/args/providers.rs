//! `providers` and `providers schema`

use clap::Command;

use super::ArgsError;
use super::common::{test_directory_flag, view_flags};
use super::flags::{self, Given};

pub fn command() -> Command {
    flags::command("providers")
        .about("Show the providers required for this configuration")
        .long_about("Shows the tree of modules with the providers that each requires.")
        .args([test_directory_flag()])
        .args(view_flags())
}

pub fn parse(args: &[String]) -> Result<(), ArgsError> {
    let given = flags::parse(command(), args).map_err(ArgsError::flag_with_page)?;
    if given.positional().is_empty() { Ok(()) } else { Err(ArgsError::too_many()) }
}
