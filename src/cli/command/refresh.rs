//! `refresh`

use ops::run::{self, RunOutcome};

use crate::Invocation;
use crate::args::plan_view::PlanView;
use crate::args::refresh::parse;
use crate::view::operation::listener;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    refresh(invocation, args).unwrap_or_else(|code| code)
}

fn refresh(invocation: &Invocation, args: &[String]) -> Result<u8, u8> {
    let args = super::operation_args(invocation, parse(args), |args| args)?;
    let (setup, view) = super::operation_setup(invocation, &args, &PlanView::default())?;
    let listener = listener(&view);
    let work = run::refresh(&setup, &args.request, &listener);
    let (applied, diagnostics) = match super::run_operation(invocation, &setup, &view, work)? {
        RunOutcome::Here(applied, diagnostics) => (applied, diagnostics),
        RunOutcome::Remote(outcome) => return Ok(super::remote_end(&*view, outcome)),
    };
    let failed = diagnostics.has_errors();
    view.finish(diagnostics);
    if let (false, Some(state)) = (failed, &applied.state) {
        view.outputs(state);
    }
    Ok(u8::from(failed))
}
