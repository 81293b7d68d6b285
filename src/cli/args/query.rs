//! `query`

use std::path::PathBuf;

use base::name::COMMAND;
use clap::Command;
use ops::interface::options::VariableArgument;

use super::common::{TOO_MANY, json_flag, progress_flag, timings_flag, variable_arguments, variable_flags, view_flags};
use super::flags::{self, Given, list, text};
use super::{ArgsError, gather};

#[derive(Debug)]
pub struct Query {
    pub variables: Vec<VariableArgument>,
    pub json: bool,
    pub generate_config_out: Option<String>,
    pub policies: Vec<PathBuf>,
}

pub fn command() -> Command {
    flags::command("query")
        .about("Search and list remote infrastructure")
        .long_about(format!(
            "Lists the objects that exist and match the \"list\" blocks in the query files (*.tfquery.hcl) of the working directory. \
             Changes nothing.\n\nWith -generate-config-out, writes blocks that import the results; \"{COMMAND} validate -query\" \
             checks query files. With -policies, shows for each result whether policies allow it."
        ))
        .args(variable_flags())
        .args([
            text(
                "generate-config-out",
                "path",
                "Write a resource block and an import block for each result to this new file.",
            ),
            json_flag(),
            list(
                "policies",
                "path",
                "Evaluate the policies of this file (*.policy.hcl), or of those in this folder and below it, for the results of lists with include_resource = true. May be repeated.",
            ),
        ])
        .args([progress_flag(), timings_flag()])
        .args(view_flags())
}

pub fn parse(args: &[String]) -> Result<Query, ArgsError> {
    let (given, mut diagnostics) = gather(command(), args);
    if !given.positional().is_empty() {
        diagnostics.error(TOO_MANY, "To specify a working directory for the query, use the global -chdir flag.");
    }
    let json = given.on("json");
    if diagnostics.has_errors() {
        return Err(ArgsError::all(diagnostics, json));
    }
    let generate_config_out = given.text("generate-config-out").filter(|path| !path.is_empty());
    let policies = given.texts("policies").into_iter().map(PathBuf::from).collect();
    Ok(Query { variables: variable_arguments(&given), json, generate_config_out, policies })
}
