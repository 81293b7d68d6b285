//! Plan: the changes to apply, and the normal plan before a destroy.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::moment::Moment;
use base::name::PROGRAM;
use model::addr::{AbsResourceInstance, ModuleInstance};
use model::plan::{Action, FunctionResults, Mode, Plan, PlanScope, Refresh, ResourceChange};
use model::state::State;

use super::evaluation::Evaluation;
use super::planned::{self, is_applyable};
use super::prepare::{RunRequest, prepare};
use super::{undecodable, unmatched};
use crate::build::destroy_order::Extent;
use crate::build::{apply as apply_graph, config, derive};
use crate::engine_errors;
use crate::execute::execute;
use crate::facts::Facts;
use crate::graph::cycles;
use crate::input::PlanInput;
use crate::moves;
use crate::opentofu;
use crate::policy;
use crate::ports::Ports;
use crate::run::{Inputs, Run, Verb};

pub async fn plan(input: PlanInput, ports: &Ports) -> (Option<Plan>, Diagnostics) {
    let (planned, diagnostics) = planned_run(&input, ports).await;
    (planned.map(|(plan, _)| plan), diagnostics)
}

/// As [`plan`], with the values of the root module as the plan has them.
pub async fn plan_and_evaluate(input: PlanInput, ports: &Ports) -> (Option<(Plan, Evaluation)>, Diagnostics) {
    let (planned, diagnostics) = planned_run(&input, ports).await;
    let planned = planned.and_then(|(plan, run)| Some((plan, Evaluation::of(run, &ModuleInstance::root())?)));
    (planned, diagnostics)
}

async fn planned_run(input: &PlanInput, ports: &Ports) -> (Option<(Plan, Arc<Run>)>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let warnings = with(target_warning(input), unmatched::warnings(input));
    let now = ports.host.now();
    let mut calls = FunctionResults::new();
    let verb = match input.scope.mode {
        Mode::Normal => Verb::Plan { refresh_only: false, pre_destroy: false },
        Mode::RefreshOnly => Verb::Plan { refresh_only: true, pre_destroy: false },
        Mode::Destroy => Verb::PlanDestroy,
    };
    let (mut state, mut refreshed) = (input.state.clone(), None);
    if input.scope.mode == Mode::Destroy && input.scope.refresh == Refresh::All && !is_empty(&input.state) {
        let ahead = match plan_ahead_of_destroy(input, now, ports).await {
            Ok(ahead) => ahead,
            Err(found) => return (None, with(warnings, found)),
        };
        (state, calls, refreshed) = (ahead.state, ahead.calls, Some(ahead.previous));
    }
    let request = RunRequest { calls, ..request(input, verb, state, now) };
    let (run, found) = match prepare(request, ports).await {
        Ok(run) => execute(run).await,
        Err(found) => return (None, with(warnings, found)),
    };
    // They may be why the rest failed.
    let unmatched = std::mem::take(&mut *run.results.unmatched_imports());
    let invalid = if unmatched.is_empty() { moves::valid::validate(&run) } else { unmatched };
    if invalid.has_errors() {
        return (None, with(warnings, invalid));
    }
    let errored = found.has_errors();
    diagnostics.extend(if errored { moves::without_blocked(found) } else { found });
    let mut plan = planned::of_run(&run, input, now, errored);
    diagnostics.extend(decoding_warnings(&run, &plan.previous_state, &plan.prior_state));
    if let Some(previous) = refreshed {
        plan.previous_state = previous;
    }
    plan.drift.sort_by(|a, b| (&a.addr, &a.deposed).cmp(&(&b.addr, &b.deposed)));
    // Observed: errors in the order do not mark the plan as errored, although it cannot be applied.
    if !errored {
        diagnostics.extend(check_apply_graph(&input.facts, &run, &plan));
    }
    diagnostics.extend(forget_warnings(input.facts.config().dialect(), &plan.changes, input.scope.mode));
    if !diagnostics.iter().any(engine_errors::is_halted) {
        diagnostics.extend(policy::at_plan::evaluate(&run, &mut plan));
    }
    plan.applyable = !plan.errored && is_applyable(&plan);
    plan.complete = !plan.errored && input.scope.is_whole() && !run.results.changes().has_deferrals;
    (Some((plan, run)), with(warnings, diagnostics))
}

fn decoding_warnings(run: &Run, previous: &State, refreshed: &State) -> Diagnostics {
    undecodable::warnings(&run.blocks.schemas, previous, refreshed, !run.prior.moved.is_empty())
}

/// What the plan ahead of a destroy leaves behind.
struct AheadOfDestroy {
    /// The state as refreshed.
    state: State,
    /// The state as read, brought to current schemas.
    previous: State,
    calls: FunctionResults,
}

/// Plans as if nothing was to be destroyed, to find out what exists: objects are read, data sources too. Of its diagnostics
/// only errors count, which keep everything from being destroyed.
async fn plan_ahead_of_destroy(input: &PlanInput, now: Moment, ports: &Ports) -> Result<AheadOfDestroy, Diagnostics> {
    let verb = Verb::Plan { refresh_only: false, pre_destroy: true };
    let mut request = request(input, verb, input.state.clone(), now);
    request.inputs.scope.generate_config = false;
    let (run, found) = execute(prepare(request, ports).await?).await;
    // They may be why the rest failed.
    let invalid = moves::valid::validate(&run);
    if invalid.has_errors() {
        return Err(invalid);
    }
    if found.has_errors() {
        let mut found = moves::without_blocked(found);
        let states = run.results.states();
        found.extend(decoding_warnings(&run, &states.previous, &states.current));
        found.extend(forget_warnings(run.dialect(), &run.results.changes().resources, input.scope.mode));
        return Err(found);
    }
    let states = std::mem::take(&mut *run.results.states());
    let calls = std::mem::take(&mut *run.results.calls());
    Ok(AheadOfDestroy { state: states.current, previous: states.previous, calls })
}

fn is_empty(state: &State) -> bool {
    state.resources.is_empty() && state.outputs.is_empty()
}

/// Both, in this order.
fn with(mut first: Diagnostics, then: Diagnostics) -> Diagnostics {
    first.extend(then);
    first
}

/// The request of a plan. `state`: what it starts from.
pub fn request(input: &PlanInput, verb: Verb, state: State, now: Moment) -> RunRequest {
    RunRequest {
        inputs: Inputs {
            variables: input.variables.clone(),
            scope: match verb {
                Verb::PlanDestroy => PlanScope { refresh: Refresh::Never, ..input.scope.clone() },
                _ => input.scope.clone(),
            },
            plan_time: Some(now),
            ..Inputs::default()
        },
        ..RunRequest::new(verb, &input.facts, state, input.scope.parallelism)
    }
}

/// Objects that are left alone from now on.
fn forget_warnings(dialect: Dialect, changes: &[ResourceChange], mode: Mode) -> Diagnostics {
    if !opentofu::warns_of_each_forgotten_object(dialect) {
        return forget_warning(changes).into_iter().collect();
    }
    let is_told = |change: &&ResourceChange| change.action == Action::Forget && mode != Mode::Destroy;
    let warning = |change: &ResourceChange| {
        let detail = format!(
            "After this plan is applied, the resource {} will not be managed anymore by {PROGRAM}.\n\nIn case you want to manage \
             the resource again, you will have to import it.",
            change.addr
        );
        Diagnostic::warning("Resource will be removed from the state", detail)
    };
    changes.iter().filter(is_told).map(warning).collect()
}

fn forget_warning(changes: &[ResourceChange]) -> Option<Diagnostic> {
    let addrs: BTreeSet<&AbsResourceInstance> =
        changes.iter().filter(|c| c.action.forgets()).map(|c| &c.addr).collect();
    let forgotten: Vec<String> = addrs.into_iter().map(|addr| format!("\n - {addr}")).collect();
    if forgotten.is_empty() {
        return None;
    }
    let detail = format!(
        "If you apply this plan, {PROGRAM} will discard its tracking information for the following objects, but it will not \
         delete them:{}\n\nAfter applying this plan, {PROGRAM} will no longer manage these objects. You will need to import \
         them into {PROGRAM} to manage them again.",
        forgotten.concat()
    );
    Some(Diagnostic::warning(format!("Some objects will no longer be managed by {PROGRAM}"), detail))
}

fn target_warning(input: &PlanInput) -> Diagnostics {
    if !input.scope.requested_actions.is_empty() {
        return Diagnostics::new();
    }
    let both = ("either the -target option or the -exclude option", "The -target and -exclude options are", "are");
    let (with, these, it) = match (input.scope.targets.is_empty(), input.scope.excludes.is_empty()) {
        (true, true) => return Diagnostics::new(),
        (false, _) if !opentofu::names_both_target_options(input.facts.config().dialect()) => {
            ("the -target option", "The -target option is", "is")
        }
        _ => both,
    };
    Diagnostic::warning(
        "Resource targeting is in effect",
        format!("You are creating a plan with {with}, which means that the result of this plan may not represent all of \
         the changes requested by the current configuration.\n\n{these} not for routine use, and {it} provided \
         only for exceptional situations such as recovering from errors or mistakes, or when {PROGRAM} specifically suggests \
         to use it as part of an error message."),
    )
    .into()
}

/// The graph that apply would use has an order, or its cycles are the plan's error.
fn check_apply_graph(facts: &Facts, run: &Run, plan: &Plan) -> Diagnostics {
    if !plan.changes.iter().any(|c| matches!(c.action, Action::Delete) || c.action.is_replace()) {
        return Diagnostics::new();
    }
    let changes: Vec<Arc<ResourceChange>> = plan.changes.iter().cloned().map(Arc::new).collect();
    let mut builder = config::graph(facts, &run.blocks.schemas);
    // Apply knows nothing of objects without a block but what the plan says.
    let without_orphans = (!run.schedule.orphans.is_empty()).then(|| {
        let order = builder.graph.topological();
        derive::Ancestors::of(&builder, &[], &order).of_blocks(&builder)
    });
    let blocks = apply_graph::OrderFacts {
        create_before_destroy: &run.blocks.order.create_before_destroy,
        dependencies: without_orphans.as_ref().unwrap_or(&run.blocks.order.dependencies),
    };
    let planned = apply_graph::PlannedWork { changes: &changes, invocations: &plan.invocations };
    let extent = if plan.scope.mode == Mode::Destroy { Extent::Everything } else { Extent::Changes };
    let built = apply_graph::build(&mut builder, planned, &plan.prior_state, blocks, extent);
    let names = cycles::NodeNames {
        tree: &run.blocks.tree,
        providers: &builder.providers,
        orphans: &[],
        tasks: &built.tasks,
        requests: &[],
    };
    cycles::report(&built.graph, &builder.needs, &names)
}
