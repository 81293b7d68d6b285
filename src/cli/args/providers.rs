//! `providers` and `providers schema`

use clap::Command;
use ops::interface::options::VariableArgument;

use super::ArgsError;
use super::common::{json_flag, test_directory_flag, variable_arguments, variable_flags, view_flags};
use super::flags::{self, Given};

pub fn command() -> Command {
    flags::command("providers")
        .about("Show the providers required for this configuration")
        .long_about("Shows the tree of modules with the providers that each of them requires.")
        .args([test_directory_flag()])
        .args(variable_flags())
        .args(view_flags())
}

#[derive(Debug)]
pub struct Providers {
    /// The folder of the tests.
    pub test_dir: String,
    /// Values of variables that decide which modules there are.
    pub variables: Vec<VariableArgument>,
}

pub fn parse(args: &[String]) -> Result<Providers, ArgsError> {
    let given = flags::parse(command(), args).map_err(ArgsError::flag_with_page)?;
    if !given.positional().is_empty() {
        return Err(ArgsError::too_many());
    }
    Ok(Providers { test_dir: given.text("test-directory").unwrap_or_default(), variables: variable_arguments(&given) })
}

pub fn schema_command() -> Command {
    flags::command("providers schema")
        .about("Show schemas for the providers used in the configuration")
        .long_about(
            "Writes the schemas of all providers of the configuration and of the state as one JSON document. The flag -json is \
             required.",
        )
        .args([json_flag()])
        .args(variable_flags())
        .args(view_flags())
}

/// What `providers schema` was given, or None without `-json`.
pub fn parse_schema(args: &[String]) -> Result<Option<Vec<VariableArgument>>, ArgsError> {
    let given = flags::parse(schema_command(), args).map_err(ArgsError::flag_with_page)?;
    Ok(given.on("json").then(|| variable_arguments(&given)))
}
