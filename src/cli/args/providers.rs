//! `providers` and `providers schema`

use clap::Command;

use super::ArgsError;
use super::common::{test_directory_flag, variable_arguments, variable_flags, view_flags};
use super::flags::{self, Given};
use crate::ops::options::VariableArgument;

pub fn command() -> Command {
    flags::command("providers")
        .about("Show the providers required for this configuration")
        .long_about("Shows the tree of modules with the providers that each requires.")
        .args([test_directory_flag()])
        .args(variable_flags())
        .args(view_flags())
}

/// Values of variables that decide which modules there are.
pub fn parse(args: &[String]) -> Result<Vec<VariableArgument>, ArgsError> {
    let given = flags::parse(command(), args).map_err(ArgsError::flag_with_page)?;
    if given.positional().is_empty() { Ok(variable_arguments(&given)) } else { Err(ArgsError::too_many()) }
}
