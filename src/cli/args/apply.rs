//! `apply` and `destroy`

use clap::Command;

use super::ArgsError;
use super::common::*;
use super::flags::{self, Given, switch};
use crate::base::diag::Diagnostic;
use crate::model::plan::Mode;
use crate::ops::options::{PlanOptions, StateOptions, VariableArgument};

#[derive(Debug)]
pub struct Apply {
    pub plan: PlanOptions,
    pub state: StateOptions,
    pub variables: Vec<VariableArgument>,
    pub input: bool,
    pub json: bool,
    pub auto_approve: bool,
    pub plan_file: Option<String>,
}

pub fn command() -> Command {
    with_flags(flags::command("apply"))
        .about("Create or update infrastructure")
        .override_usage("[options] [PLAN]")
        .long_about(
            "Makes reality match the configuration: plans, shows the plan, asks, and carries it out.\n\n\
             Given a file that \"terrane plan -out\" wrote, carries out that plan without asking.",
        )
}

pub fn destroy_command() -> Command {
    with_flags(flags::command("destroy"))
        .about("Destroy previously-created infrastructure")
        .long_about("Destroys everything that is managed. The same as \"terrane apply -destroy\".")
}

fn with_flags(command: Command) -> Command {
    command
        .args([switch("auto-approve", false, "Carry the plan out without asking."), input_flag(), json_flag()])
        .args(operation_flags())
        .args(variable_flags())
        .args(state_flags())
        .args(view_flags())
}

pub fn parse(args: &[String]) -> Result<Apply, ArgsError> {
    let given = flags::parse(command(), args).map_err(ArgsError::flag)?;
    let plan_file = at_most_one(&given)?;
    let plan = plan_options(&given).map_err(|diagnostics| ArgsError::Diagnostics { diagnostics, hint: true })?;
    let json = given.on("json");
    let auto_approve = given.on("auto-approve");
    if json && !auto_approve && plan_file.is_none() {
        return Err(ArgsError::Diagnostics {
            diagnostics: Diagnostic::error(
                "Plan file or auto-approve required",
                "Terrane cannot ask for interactive approval when -json is set. You can either apply a saved plan file, or enable the -auto-approve option.",
            )
            .into(),
            hint: false,
        });
    }
    Ok(Apply {
        plan,
        state: state_options(&given),
        variables: variable_arguments(&given),
        input: given.on("input") && !json,
        json,
        auto_approve,
        plan_file,
    })
}

/// `destroy` is `apply` in destroy mode, without a plan file.
pub fn parse_destroy(args: &[String]) -> Result<Apply, ArgsError> {
    let mut apply = parse(args)?;
    let mode = match apply.plan.mode {
        Mode::Normal => None,
        Mode::Destroy => Some((
            "Invalid mode option",
            "The -destroy option is not valid for \"terrane destroy\", because this command always runs in destroy mode.",
        )),
        Mode::RefreshOnly => {
            Some(("Invalid mode option", "The -refresh-only option is not valid for \"terrane destroy\"."))
        }
    };
    if let Some((summary, detail)) = mode {
        return Err(ArgsError::usage(summary, detail));
    }
    apply.plan.mode = Mode::Destroy;
    Ok(apply)
}
