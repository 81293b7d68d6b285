//! Evaluates expressions with the state, or with a plan.

use base::diag::Diagnostics;
use model::addr::ModuleInstance;

use super::evaluation::Evaluation;
use super::plan;
use super::prepare::{RunRequest, prepare};
use crate::execute::execute;
use crate::input::{EvaluateInput, PlanInput};
use crate::ports::Ports;
use crate::run::{Inputs, Verb};

pub async fn evaluate(input: EvaluateInput, ports: &Ports) -> (Option<Evaluation>, Diagnostics) {
    let request = RunRequest {
        // Without a plan there is no time of planning.
        inputs: Inputs { variables: input.variables, ..Inputs::default() },
        ..RunRequest::new(Verb::Evaluate, &input.facts, input.state, input.parallelism)
    };
    let (run, found) = match prepare(request, ports).await {
        Ok(run) => execute(run).await,
        Err(found) => return (None, found),
    };
    (Evaluation::of(run, &input.module), found)
}

pub async fn evaluate_plan(
    input: PlanInput,
    module: &ModuleInstance,
    ports: &Ports,
) -> (Option<Evaluation>, Diagnostics) {
    let verb = Verb::Plan { refresh_only: false, pre_destroy: false };
    let request = plan::request(&input, verb, input.state.clone(), ports.host.now());
    match prepare(request, ports).await {
        Ok(run) => {
            let (run, found) = execute(run).await;
            (Evaluation::of(run, module), found)
        }
        Err(found) => (None, found),
    }
}
