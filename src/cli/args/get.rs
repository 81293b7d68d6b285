//! `get`

use base::name::COMMAND;
use clap::Command;
use ops::interface::options::VariableArgument;

use super::ArgsError;
use super::common::{
    json_flag, json_into_flag, progress_flag, test_directory_flag, variable_arguments, variable_flags, view_flags,
};
use super::flags::{self, Given, switch};

pub fn command() -> Command {
    flags::command("get")
        .about("Install or upgrade modules")
        .long_about(format!("Downloads the modules that the configuration calls. \"{COMMAND} init\" does this too."))
        .args([
            switch("update", false, "Also look for newer versions of modules that are already downloaded."),
            json_flag(),
            json_into_flag(),
            test_directory_flag(),
        ])
        .args(variable_flags())
        .arg(progress_flag())
        .args(view_flags())
}

#[derive(Debug)]
pub struct Get {
    /// Look for newer versions.
    pub update: bool,
    pub json: bool,
    pub variables: Vec<VariableArgument>,
}

pub fn parse(args: &[String]) -> Result<Get, ArgsError> {
    let given = flags::parse(command(), args).map_err(ArgsError::flag_with_page)?;
    if !given.positional().is_empty() {
        return Err(ArgsError::too_many());
    }
    Ok(Get { update: given.on("update"), json: given.on("json"), variables: variable_arguments(&given) })
}
