//! `plan`

use base::env;
use model::plan::{Action, Plan};
use ops::interface::requests::PlanRequest;
use ops::run::{self, RunOutcome};

use crate::Invocation;
use crate::args::plan::parse;
use crate::view::operation::{Audience, Written, listener};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    plan(invocation, args).unwrap_or_else(|code| code)
}

fn plan(invocation: &Invocation, args: &[String]) -> Result<u8, u8> {
    let mut args = super::operation_args(invocation, parse(args), |args| &mut args.operation)?;
    super::add_denied(invocation, &mut args.operation)?;
    let (setup, view) = super::operation_setup(invocation, &args.operation, &args.view)?;
    let request = PlanRequest {
        operation: args.operation.request,
        out: args.out.clone().map(Into::into),
        generate: args.generate_config_out.clone().map(Into::into),
    };
    let written = Written { plan: args.out.as_deref(), generated: args.generate_config_out.as_deref() };
    let listener = listener(&view);
    let work = run::plan(&setup, &request, &listener);
    let (code, has_changes) = match super::run_operation(invocation, &setup, &view, work)? {
        RunOutcome::Here(planned, diagnostics) => {
            let failed = diagnostics.has_errors();
            view.finish(diagnostics);
            if let (false, Some(planned)) = (failed, &planned) {
                view.next_steps(&planned.plan, written);
            }
            (u8::from(failed), planned.is_some_and(|planned| has_diff(&planned.plan)))
        }
        RunOutcome::Remote(outcome) => {
            if outcome.planned {
                view.remote_next_steps(written);
            }
            let has_changes = outcome.has_changes;
            (super::remote_end(&*view, outcome), has_changes)
        }
    };
    Ok(if code == 0 && args.detailed_exit_code && has_changes { 2 } else { code })
}

/// Whether applying would change anything, outputs and found changes included.
fn has_diff(plan: &Plan) -> bool {
    plan.applyable || plan.outputs.iter().any(|output| output.action != Action::NoOp)
}

/// Whether advice on what to run next is unwanted.
pub fn in_automation(invocation: &Invocation) -> bool {
    invocation.environment.non_empty(env::TF_IN_AUTOMATION).is_some()
}

/// Who reads what the command shows.
pub fn audience(invocation: &Invocation, json: bool) -> Audience {
    let in_automation = in_automation(invocation);
    if json { Audience::Programs } else { Audience::People { in_automation } }
}
