//! `plan`

use base::env;
use model::plan::{Action, Plan};
use ops::hcp;
use ops::run::operation::OperationRequest;
use ops::run::plan::PlanRequest;

use crate::Invocation;
use crate::args::plan;
use crate::view::operation::{Audience, Written, listener, view};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let mut args = match plan::parse(args) {
        Ok(args) => args,
        Err(error) => return invocation.usage_error(error),
    };
    if let Err(error) = super::read_target_files(&mut args.plan, args.json) {
        return invocation.usage_error(error);
    }
    let view = view(&invocation.console, audience(invocation, args.json));
    let setup = match super::setup(invocation, args.input) {
        Ok(setup) => setup,
        Err(code) => return code,
    };
    let request = PlanRequest {
        operation: OperationRequest { plan: args.plan, state: args.state, variables: args.variables },
        out: args.out.clone().map(Into::into),
        generate: args.generate_config_out.clone().map(Into::into),
    };
    let listener = listener(&view);
    let work = async {
        match hcp::plan(&setup, &request, &listener).await {
            Some(outcome) => Err(outcome),
            None => Ok(ops::run::plan::run(&setup, &request, listener.clone()).await),
        }
    };
    let written = Written { plan: args.out.as_deref(), generated: args.generate_config_out.as_deref() };
    let (planned, diagnostics) = match super::run_operation(invocation, &setup, &view, work) {
        Ok(Ok(done)) => done,
        Ok(Err(outcome)) => {
            let (has_changes, planned) = (outcome.has_changes, outcome.planned);
            if planned {
                view.remote_next_steps(written);
            }
            let code = super::remote_end(&*view, outcome);
            return if code == 0 && args.detailed_exit_code && has_changes { 2 } else { code };
        }
        Err(code) => return code,
    };
    let failed = diagnostics.has_errors();
    view.finish(diagnostics);
    if failed {
        return 1;
    }
    if let Some(planned) = &planned {
        view.next_steps(&planned.plan, written);
        if args.detailed_exit_code && has_diff(&planned.plan) {
            return 2;
        }
    }
    0
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
