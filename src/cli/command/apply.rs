//! `apply` and `destroy`

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use model::plan::Mode;
use ops::interface::ask::Ask;
use ops::interface::requests::ApplyRequest;
use ops::run::{self, RunOutcome};

use crate::Invocation;
use crate::approval_prompt::ApprovalPrompt;
use crate::args::ArgsError;
use crate::args::apply::{Apply, parse, parse_destroy};
use crate::prompt::Prompt;
use crate::view::operation::listener;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    apply(invocation, parse(args), false).unwrap_or_else(|code| code)
}

pub fn run_destroy(invocation: &Invocation, args: &[String]) -> u8 {
    apply(invocation, parse_destroy(args), true).unwrap_or_else(|code| code)
}

fn apply(invocation: &Invocation, args: Result<Apply, ArgsError>, destroy: bool) -> Result<u8, u8> {
    let mut args = super::operation_args(invocation, args, |args| &mut args.operation)?;
    super::add_denied(invocation, &mut args.operation)?;
    if let (true, Some(path)) = (destroy, &args.plan_file)
        && let Err(diagnostics) = destroy_file(path)
    {
        return Err(super::finish(&invocation.console, diagnostics));
    }
    let (setup, view) = super::operation_setup(invocation, &args.operation, &args.view)?;
    let approval = || ApprovalPrompt {
        prompt: Prompt { console: invocation.console.clone(), stop: setup.stop.clone() },
        in_automation: super::plan::in_automation(invocation),
        has_keys: super::may_ask(invocation, args.operation.input),
    };
    let approver: Option<Arc<dyn Ask>> = (!args.auto_approve).then(|| Arc::new(approval()) as Arc<dyn Ask>);
    let request = ApplyRequest {
        operation: args.operation.request,
        approver,
        plan_file: args.plan_file.map(Into::into),
        suppress_forget_errors: args.suppress_forget_errors,
    };
    let listener = listener(&view);
    let work = run::apply(&setup, &request, &listener);
    let (applied, diagnostics) = match super::run_operation(invocation, &setup, &view, work)? {
        RunOutcome::Here(applied, diagnostics) => (applied, diagnostics),
        RunOutcome::Remote(outcome) => return Ok(super::remote_end(&*view, outcome)),
    };
    let failed = diagnostics.has_errors();
    view.finish(diagnostics);
    // The command decides, not the mode: after `apply -destroy` the reference says "Apply complete!" and shows outputs.
    let mode = if destroy { Mode::Destroy } else { Mode::Normal };
    if let Some(unfinished) = &applied.unfinished {
        view.unfinished(mode, applied.tally, unfinished);
    }
    if applied.cancelled {
        view.cancelled(applied.mode);
        return Ok(1);
    }
    if failed {
        return Ok(1);
    }
    view.complete(mode, applied.tally);
    if let (false, Some(state)) = (destroy, &applied.state) {
        view.outputs(state);
    }
    Ok(0)
}

/// `destroy` takes no plan file; what is wrong with the one given is said first.
fn destroy_file(path: &str) -> Result<(), Diagnostics> {
    // What is said of a file that is no plan is advice for `apply`.
    let without_advice =
        |problems: Diagnostics| problems.into_iter().map(|one| one.with_tip("")).collect::<Diagnostics>();
    ops::run::plan_file::check(path.as_ref()).map_err(without_advice)?;
    Err(Diagnostic::error(
        "Destroy can't be called with a plan file",
        format!("If this plan was created using plan -destroy, apply it using:\n  {COMMAND} apply {path:?}"),
    )
    .into())
}
