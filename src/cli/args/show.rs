//! `show`

use clap::Command;

use super::common::*;
use super::flags::{self, Given};
use super::{ArgsError, gather};
use crate::ops::interface::options::VariableArgument;

#[derive(Debug)]
pub struct Show {
    pub path: Option<String>,
    pub json: bool,
    /// Values that opening the state or the plan takes, such as a passphrase.
    pub variables: Vec<VariableArgument>,
}

pub fn command() -> Command {
    flags::command("show")
        .about("Show the current state or a saved plan")
        .override_usage("[options] [path]")
        .long_about("Shows the current state, or the state file or saved plan with the given path.")
        .args([json_flag()])
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse(args: &[String]) -> Result<Show, ArgsError> {
    let (given, diagnostics) = gather(command(), args);
    let path = first_of_at_most_one(&given, diagnostics)?;
    let variables = variable_arguments(&given);
    Ok(Show { path: path.filter(|path| !path.is_empty()), json: given.on("json"), variables })
}
