//! `plan`

use base::name::COMMAND;
use clap::Command;

use super::common::*;
use super::flags::{self, Given, switch, text};
use super::plan_view::{PlanView, plan_view, plan_view_flags, refuse_with_json};
use super::{ArgsError, gather, lint};

#[derive(Debug)]
pub struct Plan {
    pub operation: OperationArgs,
    pub out: Option<String>,
    pub detailed_exit_code: bool,
    pub generate_config_out: Option<String>,
    pub view: PlanView,
}

pub fn command() -> Command {
    let command = flags::command("plan")
        .about("Show changes required by the current configuration")
        .long_about(format!(
            "Shows what has to change so that the infrastructure matches the configuration. Changes nothing.\n\n\
             With -out the plan is also written to a file, and \"{COMMAND} apply FILE\" performs exactly that plan."
        ))
        .args(customizing(operation_flags().into_iter().chain(variable_flags())))
        .args([
            parallelism_flag(),
            switch(
                "detailed-exitcode",
                false,
                "Exit with 0 if there are no changes, with 2 if there are changes, with 1 after an error.",
            ),
            text(
                "generate-config-out",
                "path",
                "Write the configuration of imported resources that have none to this new file.",
            ),
            input_flag(),
            json_flag(),
            json_into_flag(),
            text("out", "path", "Write the plan to this file."),
        ])
        .args(state_flags())
        .args([concise_flag(), progress_flag(), show_sensitive_flag(), timings_flag()])
        .args(plan_view_flags())
        .args(view_flags())
        // A plan writes no state.
        .mut_arg("state-out", |flag| flag.hide(true))
        .mut_arg("backup", |flag| flag.hide(true));
    lint::with_flag(command)
}

pub fn parse(args: &[String]) -> Result<Plan, ArgsError> {
    let (given, mut diagnostics) = gather(command(), &lint::in_front(args));
    if !given.positional().is_empty() {
        diagnostics.error(TOO_MANY, "To specify a working directory for the plan, use the global -chdir flag.");
    }
    let operation = operation_args(&given, &mut diagnostics);
    let view = plan_view(&given, &mut diagnostics);
    if operation.json {
        refuse_with_json(&view, &mut diagnostics);
    }
    if diagnostics.has_errors() {
        return Err(ArgsError::all(diagnostics, operation.json));
    }
    Ok(Plan {
        operation,
        out: given.text("out").filter(|path| !path.is_empty()),
        detailed_exit_code: given.on("detailed-exitcode"),
        generate_config_out: given.text("generate-config-out").filter(|path| !path.is_empty()),
        view,
    })
}
