//! `import`

use clap::Command;
use ops::interface::options::StateOptions;
use ops::run::import::ImportRequest;

use super::ArgsError;
use super::common::*;
use super::flags::{self, Given, list, text};

#[derive(Debug)]
pub struct Import {
    pub request: ImportRequest,
    pub input: bool,
    pub json: bool,
}

pub fn command() -> Command {
    flags::command("import")
        .about("Associate existing infrastructure with a resource")
        .override_usage("[options] ADDR ID")
        .long_about(
            "Adds an existing object to the state, as the resource instance at ADDR. The configuration must have a block for the \
             resource. ID is what the provider knows the object by; see the provider's documentation. Changes no infrastructure.",
        )
        .args([
            text("config", "path", "The folder of the configuration. Default: the working directory."),
            parallelism_flag(),
            input_flag(),
            ignore_remote_version_flag(),
        ])
        .args(json_flags())
        .args(variable_flags())
        .args(state_flags())
        .args([progress_flag(), timings_flag()])
        .args(view_flags())
}

pub fn parse(args: &[String]) -> Result<Import, ArgsError> {
    // The reference takes targets, and does nothing with them.
    let command = command().arg(list("target", "address", "").hide(true));
    let given = flags::parse(command, args).map_err(ArgsError::flag_with_page)?;
    let [address, id] = <[String; 2]>::try_from(given.positional())
        .map_err(|_| ArgsError::TextThenErrorPage("The import command expects two arguments.".into()))?;
    let request = ImportRequest {
        address,
        id,
        config: given.text("config").filter(|path| !path.is_empty()).map(Into::into),
        state: StateOptions { ignore_remote_version: given.on("ignore-remote-version"), ..state_options(&given) },
        variables: variable_arguments(&given),
        parallelism: parallelism(&given),
    };
    let json = given.on("json");
    Ok(Import { request, input: given.on("input") && !json, json })
}
