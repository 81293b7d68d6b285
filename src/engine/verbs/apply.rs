//! Apply: executes a plan.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::name::{COMMAND, PROGRAM};
use model::addr::ModuleInstance;
use model::model_errors::MISSING_VALUE;
use model::plan::{Action, Mode, Plan, PlanScope, Refresh};
use model::state::State;

use super::check_results;
use super::evaluation::Evaluation;
use super::planned::parse_time;
use super::prepare::{RunRequest, prepare};
use crate::engine_errors;
use crate::execute::execute;
use crate::input::{ApplyInput, ApplyOutcome, GivenVariable, GivenVariables, Origin};
use crate::opentofu;
use crate::policy;
use crate::ports::Ports;
use crate::run::deferred::DeferredBlocks;
use crate::run::results::Results;
use crate::run::{Inputs, Run, Verb};

pub async fn apply(input: ApplyInput, ports: &Ports) -> (ApplyOutcome, Diagnostics) {
    let (outcome, _, diagnostics) = applied_run(input, ports).await;
    (outcome, diagnostics)
}

/// As [`apply`], with the values of the root module after it; none if nothing was begun.
pub async fn apply_and_evaluate(input: ApplyInput, ports: &Ports) -> (ApplyOutcome, Option<Evaluation>, Diagnostics) {
    let (outcome, run, diagnostics) = applied_run(input, ports).await;
    (outcome, run.and_then(|run| Evaluation::of(run, &ModuleInstance::root())), diagnostics)
}

async fn applied_run(input: ApplyInput, ports: &Ports) -> (ApplyOutcome, Option<Arc<Run>>, Diagnostics) {
    // Without a copy, if nothing else needs the plan.
    let mut plan = Arc::unwrap_or_clone(input.plan);
    let mut variables = input.variables.clone();
    let given = plan.variables.iter();
    variables.extend(
        given.map(|(name, value)| (name.clone(), GivenVariable { value: value.clone(), origin: Origin::Other })),
    );
    let mut refused = missing_variables(&plan, &variables);
    refused.extend(not_applyable(&plan));
    if refused.has_errors() {
        return (ApplyOutcome::default(), None, refused);
    }
    let mut changes = Vec::with_capacity(plan.changes.len());
    changes.extend(std::mem::take(&mut plan.changes).into_iter().map(Arc::new));
    let plan = &plan;
    let verb = match plan.scope.mode {
        Mode::Normal => Verb::Apply { refresh_only: false },
        Mode::RefreshOnly => Verb::Apply { refresh_only: true },
        Mode::Destroy => Verb::ApplyDestroy,
    };
    let request = RunRequest {
        inputs: Inputs {
            variables,
            scope: PlanScope {
                refresh: Refresh::Never,
                force_replace: Vec::new(),
                // What the plan deferred is still unknown where it depends on something that is not applied either.
                deferral_allowed: plan.has_deferrals(),
                ..plan.scope.clone()
            },
            plan_time: parse_time(&plan.timestamp),
            deferred: DeferredBlocks::of(&plan.deferred),
            undecided_policies: plan
                .undecided_policies
                .iter()
                .map(|open| (open.target.clone(), open.policy.clone()))
                .collect(),
            planned_outputs: plan.outputs.iter().map(|o| (o.name.clone(), o.change.after.clone())).collect(),
            ..Inputs::default()
        },
        changes,
        invocations: plan.invocations.clone(),
        calls: plan.function_results.clone(),
        ..RunRequest::new(verb, &input.facts, plan.prior_state.clone(), input.parallelism)
    };
    // Where there is no order to apply in, not even what was refreshed is stored.
    let run = match prepare(request, ports).await {
        Ok(run) => run,
        Err(found) => return (ApplyOutcome::default(), None, found),
    };
    if let Err(errors) = begin(plan, ports).await {
        return (ApplyOutcome::default(), None, errors);
    }
    let (run, mut diagnostics) = execute(run).await;
    diagnostics.extend(policy::at_apply::at_end(&run, diagnostics.has_errors()));
    diagnostics.extend(remove_outputs(&run.results, plan, ports).await);
    let mut state = std::mem::take(&mut run.results.states().current);
    let checks = std::mem::take(&mut run.results.checks().records);
    state.checks = match plan.scope.mode {
        Mode::RefreshOnly => (!plan.checks.is_empty()).then(|| plan.checks.clone()),
        _ => check_results::results(&run, checks, Some(&plan.checks)),
    };
    ports.sink.checks(state.checks.as_deref());
    if ports.stop.is_stopping() && !diagnostics.iter().any(engine_errors::is_halted) {
        diagnostics.push(engine_errors::halted());
    }
    let mut all = incomplete(plan, run.dialect());
    all.extend(diagnostics);
    (ApplyOutcome { state: Some(state) }, Some(run), all)
}

/// The error of a refresh-only plan that finds nothing but outputs to remove, which only other plans do.
fn not_applyable(plan: &Plan) -> Option<Diagnostic> {
    let removes = plan.outputs.iter().any(|output| output.action == Action::Delete);
    let is_refused = plan.scope.mode == Mode::RefreshOnly && !plan.applyable && removes;
    let detail = "The given plan is not applyable: all that it would do is to remove outputs, which a refresh-only plan does not do. \
                  Create a plan without -refresh-only to remove them.";
    is_refused.then(|| Diagnostic::error(engine_errors::NOT_APPLYABLE, detail))
}

/// Reports what apply starts from. Outputs that the plan already knows may be those of objects that do not exist yet: they are
/// each reported when the walk comes to it. A plan that only refreshes has no such objects.
async fn begin(plan: &Plan, ports: &Ports) -> Result<(), Diagnostics> {
    match plan.scope.mode {
        Mode::RefreshOnly => ports.sink.begin(&plan.prior_state).await,
        _ => {
            let outputs = plan.previous_state.outputs.clone();
            ports.sink.begin(&State { outputs, ..plan.prior_state.clone() }).await
        }
    }
}

/// What the plan does not keep must be given again.
pub fn missing_variables(plan: &Plan, given: &GivenVariables) -> Diagnostics {
    let missing = plan.ephemeral_variables.iter().filter(|name| !given.contains_key(*name));
    let error = |name: &Arc<str>| {
        let detail = format!(
            "The ephemeral input variable {name:?} was set during the plan phase, and so must also be set during the apply \
             phase."
        );
        Diagnostic::error(MISSING_VALUE, detail)
    };
    missing.map(error).collect()
}

fn incomplete(plan: &Plan, dialect: Dialect) -> Diagnostics {
    let both = (
        "the -target or the -exclude option",
        "the -target and -exclude options are not suitable for routine use, and are",
    );
    let gap = opentofu::gap_of_incomplete_apply(dialect);
    let target = ("the -target option", "the -target option is not suitable for routine use, and is");
    let (with, these) = match (plan.scope.targets.is_empty(), plan.scope.excludes.is_empty()) {
        (true, true) => return Diagnostics::new(),
        (false, _) if !opentofu::names_both_target_options(dialect) => target,
        _ => both,
    };
    Diagnostic::warning(
        "Applied changes may be incomplete",
        format!("The plan was created with {with} in effect, so some changes requested in the configuration may have been \
         ignored and the output values may not be fully updated. Run the following command to verify that no other changes \
         are pending:\n    {COMMAND} plan\n{gap}\nNote that {these} provided only \
         for exceptional situations such as recovering from errors or mistakes, or when {PROGRAM} specifically suggests to use \
         it as part of an error message."),
    )
    .into()
}

/// Outputs that the plan says go.
async fn remove_outputs(results: &Results, plan: &Plan, ports: &Ports) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let gone: Vec<_> = plan.outputs.iter().filter(|o| o.action == Action::Delete).collect();
    for output in gone {
        results.states().current.outputs.remove(&output.name);
        if let Err(errors) = ports.sink.output(&output.name, None).await {
            diagnostics.extend(errors);
        }
    }
    diagnostics
}
