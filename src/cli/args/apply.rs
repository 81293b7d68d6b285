//! `apply` and `destroy`

use base::diag::Diagnostics;
use base::name::{COMMAND, PROGRAM};
use clap::Command;
use model::plan::Mode;

use super::common::*;
use super::flags::{self, Given, switch};
use super::plan_view::{PlanView, approved_plan_view, approved_plan_view_flags, refuse_with_json};
use super::{ArgsError, gather, lint};

#[derive(Debug)]
pub struct Apply {
    pub operation: OperationArgs,
    pub auto_approve: bool,
    pub suppress_forget_errors: bool,
    pub plan_file: Option<String>,
    pub view: PlanView,
}

pub fn command() -> Command {
    let command = with_flags(flags::command("apply"))
        .about("Create or update infrastructure")
        .override_usage("[options] [PLAN]")
        .long_about(format!(
            "Creates or changes infrastructure so that it matches the configuration: makes a plan, shows it, asks for approval \
             and performs it.\n\nWith PLAN, a file that \"{COMMAND} plan -out\" wrote, it performs that plan and does not ask."
        ));
    lint::with_flag(command)
}

pub fn destroy_command() -> Command {
    // What only makes sense for other plans is not listed.
    ["destroy", "invoke", "refresh-only", "replace"]
        .into_iter()
        .fold(with_flags(flags::command("destroy")), |command, flag| command.mut_arg(flag, |flag| flag.hide(true)))
        .about("Destroy previously-created infrastructure")
        .long_about(format!("Destroys all managed objects of the configuration and of the state. The same as \"{COMMAND} apply -destroy\"."))
}

fn with_flags(command: Command) -> Command {
    command
        .args([switch("auto-approve", false, "Do not ask for approval."), input_flag(), json_flag(), json_into_flag()])
        .args([switch(
            "suppress-forget-errors",
            false,
            "For runs under the name tofu, where a destroy that leaves objects behind on purpose ends with an error: there is none.",
        )])
        .args(customizing(operation_flags().into_iter().chain(variable_flags())))
        .args([parallelism_flag()])
        .args(state_flags())
        .args([concise_flag(), progress_flag(), show_sensitive_flag(), timings_flag()])
        .args(approved_plan_view_flags())
        .args(view_flags())
}

pub fn parse(args: &[String]) -> Result<Apply, ArgsError> {
    let (apply, diagnostics) = read(command(), &lint::in_front(args));
    checked(apply, diagnostics)
}

/// `destroy` is `apply` in destroy mode, without a plan file.
pub fn parse_destroy(args: &[String]) -> Result<Apply, ArgsError> {
    let (mut apply, mut diagnostics) = read(destroy_command(), args);
    const INVALID_MODE: &str = "Invalid mode option";
    let scope = &mut apply.operation.request.plan.scope;
    match scope.mode {
        Mode::Normal => {}
        Mode::Destroy => diagnostics.error(
            INVALID_MODE,
            format!("The -destroy option is not valid for \"{COMMAND} destroy\", because this command always runs in destroy mode."),
        ),
        Mode::RefreshOnly if !scope.requested_actions.is_empty() => {
            diagnostics.error(INVALID_MODE, format!("The -invoke option is not valid for \"{COMMAND} destroy\"."));
        }
        Mode::RefreshOnly => {
            diagnostics.error(INVALID_MODE, format!("The -refresh-only option is not valid for \"{COMMAND} destroy\"."))
        }
    }
    scope.mode = Mode::Destroy;
    checked(apply, diagnostics)
}

fn checked(apply: Apply, diagnostics: Diagnostics) -> Result<Apply, ArgsError> {
    if diagnostics.has_errors() { Err(ArgsError::all(diagnostics, apply.operation.json)) } else { Ok(apply) }
}

fn read(command: Command, args: &[String]) -> (Apply, Diagnostics) {
    let (given, mut diagnostics) = gather(command, args);
    let words = given.positional();
    if words.len() > 1 {
        diagnostics.error(TOO_MANY, AT_MOST_ONE);
    }
    let plan_file = words.into_iter().next();
    let auto_approve = given.on("auto-approve");
    if given.on("json") && !auto_approve && plan_file.is_none() {
        diagnostics.error(
            "Plan file or auto-approve required",
            format!("{PROGRAM} cannot ask for interactive approval when -json is set. You can either apply a saved plan file, or enable the -auto-approve option."),
        );
    }
    let view = approved_plan_view(&given, !auto_approve && plan_file.is_none(), &mut diagnostics);
    if given.on("json") {
        refuse_with_json(&view, &mut diagnostics);
    }
    let apply = Apply {
        operation: operation_args(&given, &mut diagnostics),
        auto_approve,
        suppress_forget_errors: given.on("suppress-forget-errors"),
        plan_file,
        view,
    };
    (apply, diagnostics)
}
