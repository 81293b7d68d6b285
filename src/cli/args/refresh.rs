//! `refresh`

use base::name::COMMAND;
use clap::Command;
use model::plan;
use ops::interface::options::{PlanOptions, StateOptions, VariableArgument};

use super::common::*;
use super::flags::{self, Given, list};
use super::{ArgsError, gather, lint};

#[derive(Debug)]
pub struct Refresh {
    pub plan: PlanOptions,
    pub state: StateOptions,
    pub variables: Vec<VariableArgument>,
    pub input: bool,
    pub json: bool,
}

pub fn command() -> Command {
    let command = flags::command("refresh")
        .about("Update the state to match remote systems")
        .long_about(format!(
            "Updates the state to what exists. No object is changed. \"{COMMAND} apply -refresh-only\" does the same, but shows \
             the changes first and asks for approval."
        ))
        .args([
            parallelism_flag(),
            list(
                "target",
                "address",
                "Update only this module, resource or instance, and what it depends on. May be repeated.",
            ),
            list("target-file", "path", "A file with addresses as for -target, one in a line. May be repeated."),
            list(
                "exclude",
                "address",
                "Update all but this module, resource or instance, and what depends on it. May be repeated.",
            ),
            list("exclude-file", "path", "A file with addresses as for -exclude. May be repeated."),
            input_flag(),
            json_flag(),
            json_into_flag(),
        ])
        .args(variable_flags())
        .args(state_flags())
        .args([concise_flag(), show_sensitive_flag()])
        .args(view_flags());
    lint::with_flag(command)
}

pub fn parse(args: &[String]) -> Result<Refresh, ArgsError> {
    let (given, mut diagnostics) = gather(command().args(hidden_operation_flags()), &lint::in_front(args));
    if !given.positional().is_empty() {
        diagnostics.error(TOO_MANY, AT_MOST_ONE);
    }
    let mut plan = sound_plan_options(&given, &mut diagnostics);
    plan.scope.refresh = plan::Refresh::All;
    let json = given.on("json");
    if diagnostics.has_errors() {
        return Err(ArgsError::all(diagnostics, json));
    }
    Ok(Refresh {
        plan,
        state: state_options(&given),
        variables: variable_arguments(&given),
        input: given.on("input") && !json,
        json,
    })
}

/// The operation flags that make no sense here but are read together with the others.
fn hidden_operation_flags() -> impl Iterator<Item = clap::Arg> {
    let known: Vec<_> = command().get_arguments().map(|flag| flag.get_id().clone()).collect();
    operation_flags().into_iter().filter(move |flag| !known.contains(flag.get_id())).map(|flag| flag.hide(true))
}
