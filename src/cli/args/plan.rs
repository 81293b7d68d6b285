//! `plan`

use crate::base::name::COMMAND;
use crate::cli::args::common::TOO_MANY;
use clap::Command;

use super::common::*;
use super::flags::{self, Given, switch, text};
use super::{ArgsError, gather};
use crate::ops::options::{PlanOptions, StateOptions, VariableArgument};

#[derive(Debug)]
pub struct Plan {
    pub plan: PlanOptions,
    pub state: StateOptions,
    pub variables: Vec<VariableArgument>,
    pub input: bool,
    pub json: bool,
    pub out: Option<String>,
    pub detailed_exit_code: bool,
    pub generate_config_out: Option<String>,
}

pub fn command() -> Command {
    flags::command("plan")
        .about("Show changes required by the current configuration")
        .long_about(
            format!("Works out what would have to be done to make reality match the configuration, and shows it. Changes nothing.\n\n\
             With -out the plan is kept in a file that \"{COMMAND} apply\" carries out exactly."),
        )
        .args(operation_flags())
        .args(variable_flags())
        .args([
            switch("detailed-exitcode", false, "Exit with 0 if nothing would change, 2 if something would, 1 after an error."),
            text("generate-config-out", "path", "Write configuration for imported resources that have none to a new file."),
            input_flag(),
            json_flag(),
            text("out", "path", "Keep the plan in this file."),
        ])
        .args(state_flags())
        .args(view_flags())
}

pub fn parse(args: &[String]) -> Result<Plan, ArgsError> {
    let (given, mut diagnostics) = gather(command(), args);
    if !given.positional().is_empty() {
        diagnostics.error(TOO_MANY, "To specify a working directory for the plan, use the global -chdir flag.");
    }
    let plan = sound_plan_options(&given, &mut diagnostics);
    let json = given.on("json");
    if diagnostics.has_errors() {
        return Err(ArgsError::all(diagnostics, json));
    }
    Ok(Plan {
        plan,
        state: state_options(&given),
        variables: variable_arguments(&given),
        input: given.on("input") && !json,
        json,
        out: given.text("out").filter(|path| !path.is_empty()),
        detailed_exit_code: given.on("detailed-exitcode"),
        generate_config_out: given.text("generate-config-out").filter(|path| !path.is_empty()),
    })
}
