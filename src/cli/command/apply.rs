//! `apply` and `destroy`

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use model::plan::Mode;
use ops::hcp;
use ops::interface::ask::Ask;
use ops::run::apply::ApplyRequest;
use ops::run::operation::OperationRequest;

use crate::Invocation;
use crate::args::ArgsError;
use crate::args::apply::{Apply, parse, parse_destroy};
use crate::prompt::Prompt;
use crate::view::operation::{listener, view};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    start(invocation, parse(args), false)
}

pub fn run_destroy(invocation: &Invocation, args: &[String]) -> u8 {
    start(invocation, parse_destroy(args), true)
}

fn start(invocation: &Invocation, args: Result<Apply, ArgsError>, destroy: bool) -> u8 {
    let mut args = match args {
        Ok(args) => args,
        Err(error) => return invocation.usage_error(error),
    };
    if let Err(error) = super::read_target_files(&mut args.plan, args.json) {
        return invocation.usage_error(error);
    }
    let view = view(&invocation.console, super::plan::audience(invocation, args.json));
    if let (true, Some(path)) = (destroy, &args.plan_file)
        && let Err(diagnostics) = destroy_file(path)
    {
        return super::finish(&invocation.console, diagnostics);
    }
    let setup = match super::setup(invocation, args.input) {
        Ok(setup) => setup,
        Err(code) => return code,
    };
    let approver: Option<Arc<dyn Ask>> = (!args.auto_approve)
        .then(|| Arc::new(Prompt { console: invocation.console.clone(), stop: setup.stop.clone() }) as Arc<dyn Ask>);
    let request = ApplyRequest {
        operation: OperationRequest { plan: args.plan, state: args.state, variables: args.variables },
        approver,
        plan_file: args.plan_file.map(Into::into),
        suppress_forget_errors: args.suppress_forget_errors,
    };
    let listener = listener(&view);
    let work = async {
        match hcp::apply(&setup, &request, &listener).await {
            Some(outcome) => Err(outcome),
            None => Ok(ops::run::apply::run(&setup, &request, listener.clone()).await),
        }
    };
    let (applied, diagnostics) = match super::run_operation(invocation, &setup, &view, work) {
        Ok(Ok(done)) => done,
        Ok(Err(outcome)) => return super::remote_end(&*view, outcome),
        Err(code) => return code,
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
        return 1;
    }
    if failed {
        return 1;
    }
    view.complete(mode, applied.tally);
    if let (false, Some(state)) = (destroy, &applied.state) {
        view.outputs(state);
    }
    0
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
