//! The verbs, put together: load schemas, build the graph, walk it, gather the results.

use crate::base::name::{COMMAND, PROGRAM};
use crate::model::mistakes::MISSING_VALUE;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tokio::sync::Semaphore;

use super::build::config::Builder;
use super::build::{apply as apply_graph, derive, orphans};
use super::checks;
use super::cycles;
use super::evaluation::Evaluation;
use super::execute::execute;
use super::functions::ProviderFunctions;
use super::gather::{gather_plan, is_applyable, parse_time};
use super::imports::{self, Imports, Requested};
use super::input::{
    ApplyInput, ApplyOutcome, EvaluateInput, GivenVariable, GivenVariables, ImportInput, Origin, PlanInput,
    ValidateInput,
};
use super::mistakes;
use super::moves;
use super::parts::{Parts, awaited, destroyed, resource_nodes};
use super::ports::Ports;
use super::removed::RemovedBlocks;
use super::results::Results;
use super::run::{Run, Verb};
use super::schemas::Schemas;
use super::tree::{ModuleId, Tree};
use crate::base::diag::{Diagnostic, Diagnostics};
use crate::model::addr::{AbsResource, AbsResourceInstance, ModuleInstance};
use crate::model::config::{Config, call_check};
use crate::model::plan::{Action, FunctionResults, Mode, Plan, ResourceChange};
use crate::model::state::State;

/// What a run needs to be told; the rest follows from configuration and state.
struct Request {
    verb: Verb,
    config: Arc<Config>,
    state: State,
    variables: GivenVariables,
    refresh: bool,
    targets: Vec<crate::model::addr::Target>,
    force_replace: BTreeSet<AbsResourceInstance>,
    parallelism: usize,
    plan_time: Option<(i64, u32)>,
    /// Write configuration for imports that have none.
    generate_config: bool,
    /// What the import command asks for.
    import: Option<Requested>,
    /// What apply carries out.
    changes: Vec<Arc<ResourceChange>>,
    /// What functions gave before.
    calls: FunctionResults,
}

pub async fn validate(input: ValidateInput, ports: &Ports) -> Diagnostics {
    let request = Request {
        verb: Verb::Validate,
        config: input.config,
        state: State::default(),
        variables: GivenVariables::new(),
        refresh: false,
        targets: Vec::new(),
        force_replace: BTreeSet::new(),
        parallelism: input.parallelism,
        plan_time: None,
        generate_config: false,
        import: None,
        changes: Vec::new(),
        calls: FunctionResults::new(),
    };
    match prepare(request, ports).await {
        Ok(run) => execute(run).await.1,
        Err(diagnostics) => diagnostics,
    }
}

pub async fn import(input: ImportInput, ports: &Ports) -> (Option<State>, Diagnostics) {
    let request = Request {
        verb: Verb::Import,
        config: input.config,
        state: input.state,
        variables: input.variables,
        refresh: false,
        targets: Vec::new(),
        force_replace: BTreeSet::new(),
        parallelism: input.parallelism,
        // The reference does not know the time of a plan here.
        plan_time: None,
        generate_config: false,
        import: Some(Requested { addr: input.addr, id: input.id }),
        changes: Vec::new(),
        calls: FunctionResults::new(),
    };
    let (run, found) = match prepare(request, ports).await {
        Ok(run) => execute(run).await,
        Err(found) => return (None, found),
    };
    if found.has_errors() {
        return (None, found);
    }
    let mut state = std::mem::take(&mut run.results.gathered().state);
    state.outputs.retain(|name, _| run.config.root.outputs.contains_key(name));
    state.checks = None;
    (Some(state), found)
}

pub async fn evaluate(input: EvaluateInput, ports: &Ports) -> (Option<Evaluation>, Diagnostics) {
    let request = Request {
        verb: Verb::Evaluate,
        config: input.config,
        state: input.state,
        variables: input.variables,
        refresh: false,
        targets: Vec::new(),
        force_replace: BTreeSet::new(),
        parallelism: input.parallelism,
        // Without a plan nobody knows when it was made.
        plan_time: None,
        generate_config: false,
        import: None,
        changes: Vec::new(),
        calls: FunctionResults::new(),
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
    let request = plan_request(&input, verb, input.state.clone(), ports.host.now());
    match prepare(request, ports).await {
        Ok(run) => {
            let (run, found) = execute(run).await;
            (Evaluation::of(run, module), found)
        }
        Err(found) => (None, found),
    }
}

pub async fn plan(input: PlanInput, ports: &Ports) -> (Option<Plan>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut warnings = target_warning(&input);
    if input.generate_config {
        warnings.warning(
            "Config generation is experimental",
            "Generating configuration during import is currently experimental, and the generated configuration format may \
             change in future versions.",
        );
    }
    let now = ports.host.now();
    let previous = input.state.clone();
    let mut calls = FunctionResults::new();
    let verb = match input.mode {
        Mode::Normal => Verb::Plan { refresh_only: false, pre_destroy: false },
        Mode::RefreshOnly => Verb::Plan { refresh_only: true, pre_destroy: false },
        Mode::Destroy => Verb::PlanDestroy,
    };
    let (mut state, mut refreshed) = (input.state.clone(), None);
    if input.mode == Mode::Destroy && input.refresh && !is_empty(&input.state) {
        let ahead = match plan_ahead_of_destroy(&input, now, ports).await {
            Ok(ahead) => ahead,
            Err(found) => return (None, with(warnings, found)),
        };
        (state, calls, refreshed) = (ahead.state, ahead.calls, Some(ahead.previous));
    }
    let request = Request { calls, ..plan_request(&input, verb, state, now) };
    let (run, found) = match prepare(request, ports).await {
        Ok(run) => execute(run).await,
        Err(found) => return (None, with(warnings, found)),
    };
    // They may be why the rest failed.
    let invalid = moves::valid::validate(&run);
    if invalid.has_errors() {
        return (None, with(warnings, invalid));
    }
    let errored = found.has_errors();
    diagnostics.extend(if errored { moves::without_blocked(found) } else { found });
    let mut plan = gather_plan(&run, &input, previous, now, errored);
    if let Some(previous) = refreshed {
        plan.previous_state = previous;
    }
    plan.drift.sort_by(|a, b| (&a.addr, &a.deposed).cmp(&(&b.addr, &b.deposed)));
    // Observed: the errors of its order are not held against the plan, though it cannot be applied with them.
    if !errored {
        diagnostics.extend(check_apply_graph(&run, &plan));
    }
    diagnostics.extend(forget_warning(&plan.changes));
    plan.applyable = !plan.errored && is_applyable(&plan);
    plan.complete = !plan.errored && input.targets.is_empty();
    (Some(plan), with(warnings, diagnostics))
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
async fn plan_ahead_of_destroy(
    input: &PlanInput,
    now: (i64, u32),
    ports: &Ports,
) -> Result<AheadOfDestroy, Diagnostics> {
    let verb = Verb::Plan { refresh_only: false, pre_destroy: true };
    let request = Request { generate_config: false, ..plan_request(input, verb, input.state.clone(), now) };
    let (run, found) = execute(prepare(request, ports).await?).await;
    // They may be why the rest failed.
    let invalid = moves::valid::validate(&run);
    if invalid.has_errors() {
        return Err(invalid);
    }
    if found.has_errors() {
        let mut found = moves::without_blocked(found);
        found.extend(forget_warning(&run.results.gathered().changes));
        return Err(found);
    }
    let gathered = std::mem::take(&mut *run.results.gathered());
    let calls = std::mem::take(&mut *run.results.calls());
    Ok(AheadOfDestroy { state: gathered.state, previous: gathered.previous, calls })
}

fn is_empty(state: &State) -> bool {
    state.resources.is_empty() && state.outputs.is_empty()
}

/// Both, in this order.
fn with(mut first: Diagnostics, then: Diagnostics) -> Diagnostics {
    first.extend(then);
    first
}

fn plan_request(input: &PlanInput, verb: Verb, state: State, now: (i64, u32)) -> Request {
    Request {
        verb,
        config: input.config.clone(),
        state,
        variables: input.variables.clone(),
        refresh: input.refresh && verb != Verb::PlanDestroy,
        targets: input.targets.clone(),
        force_replace: input.force_replace.iter().cloned().collect(),
        parallelism: input.parallelism,
        plan_time: Some(now),
        generate_config: input.generate_config,
        import: None,
        changes: Vec::new(),
        calls: FunctionResults::new(),
    }
}

/// Objects that are left alone from now on.
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
    if input.targets.is_empty() {
        return Diagnostics::new();
    }
    Diagnostic::warning(
        "Resource targeting is in effect",
        format!("You are creating a plan with the -target option, which means that the result of this plan may not represent all of \
         the changes requested by the current configuration.\n\nThe -target option is not for routine use, and is provided \
         only for exceptional situations such as recovering from errors or mistakes, or when {PROGRAM} specifically suggests \
         to use it as part of an error message."),
    )
    .into()
}

pub async fn apply(input: ApplyInput, ports: &Ports) -> (ApplyOutcome, Diagnostics) {
    let plan = &input.plan;
    let mut variables = input.variables.clone();
    let given = plan.variables.iter();
    variables.extend(
        given.map(|(name, value)| (name.clone(), GivenVariable { value: value.clone(), origin: Origin::Other })),
    );
    let mut state = plan.prior_state.clone();
    let missing = missing_variables(plan, &variables);
    if missing.has_errors() {
        return (ApplyOutcome { state }, missing);
    }
    let verb = match plan.mode {
        Mode::Normal => Verb::Apply { refresh_only: false },
        Mode::RefreshOnly => Verb::Apply { refresh_only: true },
        Mode::Destroy => Verb::ApplyDestroy,
    };
    if let Err(errors) = ports.sink.begin(&state).await {
        return (ApplyOutcome { state }, errors);
    }
    let request = Request {
        verb,
        config: input.config.clone(),
        state: state.clone(),
        variables,
        refresh: false,
        targets: plan.targets.clone(),
        force_replace: BTreeSet::new(),
        parallelism: input.parallelism,
        plan_time: parse_time(&plan.timestamp),
        generate_config: false,
        import: None,
        changes: plan.changes.iter().cloned().map(Arc::new).collect(),
        calls: plan.function_results.clone(),
    };
    let (run, mut diagnostics) = match prepare(request, ports).await {
        Ok(run) => execute(run).await,
        Err(found) => return (ApplyOutcome { state }, found),
    };
    diagnostics.extend(remove_outputs(&run, plan, ports).await);
    let gathered = std::mem::take(&mut *run.results.gathered());
    state = gathered.state;
    state.checks = match plan.mode {
        Mode::RefreshOnly => (!plan.checks.is_empty()).then(|| plan.checks.clone()),
        _ => checks::results(&run, gathered.checks, Some(&plan.checks)),
    };
    if ports.stop.is_stopping() && !diagnostics.iter().any(mistakes::is_halted) {
        diagnostics.push(mistakes::halted());
    }
    let mut all = if plan.targets.is_empty() { Diagnostics::new() } else { incomplete() };
    all.extend(diagnostics);
    (ApplyOutcome { state }, all)
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

fn incomplete() -> Diagnostics {
    Diagnostic::warning(
        "Applied changes may be incomplete",
        format!("The plan was created with the -target option in effect, so some changes requested in the configuration may have been \
         ignored and the output values may not be fully updated. Run the following command to verify that no other changes \
         are pending:\n    {COMMAND} plan\n\nNote that the -target option is not suitable for routine use, and is provided only \
         for exceptional situations such as recovering from errors or mistakes, or when {PROGRAM} specifically suggests to use \
         it as part of an error message."),
    )
    .into()
}

/// Outputs that the plan says go.
async fn remove_outputs(run: &Run, plan: &Plan, ports: &Ports) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let gone: Vec<_> = plan.outputs.iter().filter(|o| o.action == Action::Delete).collect();
    for output in gone {
        run.results.gathered().state.outputs.remove(&output.name);
        if let Err(errors) = ports.sink.output(&output.name, None).await {
            diagnostics.extend(errors);
        }
    }
    diagnostics
}

/// Everything up to the walk. Mistakes that make a walk pointless are the error.
async fn prepare(request: Request, ports: &Ports) -> Result<Arc<Run>, Diagnostics> {
    let (schemas, mut diagnostics) = Schemas::load(&request.config, Some(&request.state), ports).await;
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let tree = Tree::new(&request.config);
    if let Some(missing) = super::provider_configs::missing_passed(&tree) {
        return Err(missing.into());
    }
    let mut state = request.state;
    let moved = match request.verb {
        Verb::Plan { .. } | Verb::PlanDestroy => {
            let (moved, origins) = diagnostics.take(moves::apply(&request.config, &mut state));
            diagnostics.extend(moves::crossing::convert(&tree, &schemas, &mut state, origins, ports).await);
            if !diagnostics.has_errors() {
                diagnostics.extend(moves::check_targets(&moved, &request.targets));
            }
            if diagnostics.has_errors() {
                return Err(moves::without_blocked(diagnostics));
            }
            moved
        }
        _ => BTreeMap::new(),
    };
    let removed = RemovedBlocks::of(&request.config);
    if matches!(request.verb, Verb::Plan { .. }) {
        diagnostics.extend(removed.check(&request.config));
    }
    let mut imports = Imports::default();
    let parts = {
        let mut builder = Builder::new(&tree, &schemas);
        let orphans = match request.verb {
            Verb::Plan { .. } => orphans::add(&mut builder, &state, false),
            Verb::PlanDestroy => orphans::add(&mut builder, &state, true),
            _ => Vec::new(),
        };
        if matches!(request.verb, Verb::Validate | Verb::Plan { refresh_only: false, .. }) {
            imports = imports::collect(&mut builder, request.verb, request.generate_config);
        }
        imports.requested = request.import;
        Parts::of(builder, orphans, &imports, &state, request.verb, &request.changes, &request.targets)
    };
    call_check::check(&request.config, &mut diagnostics);
    diagnostics.extend(parts.diagnostics);
    let names =
        cycles::Names { tree: &tree, providers: &parts.providers, orphans: &parts.orphans, tasks: &parts.tasks };
    diagnostics.extend(cycles::report(&parts.graph, &parts.needs, &names));
    if diagnostics.has_errors() {
        return Err(moves::without_blocked(diagnostics));
    }
    let mut stored: FxHashMap<(ModuleId, u32), Vec<AbsResource>> = FxHashMap::default();
    for addr in state.resources.keys() {
        if let Some(block) = tree.find_resource(&addr.config()) {
            stored.entry(block).or_default().push(addr.clone());
        }
    }
    let results = Results::new(&tree, parts.providers.len(), state.clone(), request.calls);
    let run = Run {
        verb: request.verb,
        ports: ports.clone(),
        config: request.config,
        functions: ProviderFunctions::of(&schemas, ports),
        schemas,
        providers: parts.providers,
        provider_of: parts.provider_of,
        chosen_of: parts.chosen_of,
        state: Arc::new(state),
        variables: request.variables,
        refresh: request.refresh,
        targets: request.targets,
        force_replace: request.force_replace,
        resource_nodes: resource_nodes(&parts.graph),
        graph: parts.graph,
        needs: parts.needs,
        dependencies: parts.dependencies,
        create_before_destroy: parts.create_before_destroy,
        read_barriers: parts.read_barriers,
        stored,
        moved,
        removed,
        imports,
        orphans: parts.orphans,
        awaited: awaited(&parts.tasks),
        destroyed: destroyed(&parts.tasks),
        tasks: parts.tasks,
        filtered: parts.filtered,
        active: parts.active,
        results,
        turns: Arc::new(Semaphore::new(request.parallelism.max(1))),
        plan_time: request.plan_time,
        tree,
    };
    run.results.report(0, diagnostics);
    Ok(Arc::new(run))
}

/// The graph that apply would use has an order, or its cycles are the plan's error.
fn check_apply_graph(run: &Run, plan: &Plan) -> Diagnostics {
    if !plan.changes.iter().any(|c| matches!(c.action, Action::Delete) || c.action.is_replace()) {
        return Diagnostics::new();
    }
    let changes: Vec<Arc<ResourceChange>> = plan.changes.iter().cloned().map(Arc::new).collect();
    let mut builder = Builder::new(&run.tree, &run.schemas);
    // Apply knows nothing of objects without a block but what the plan says.
    let without_orphans = (!run.orphans.is_empty()).then(|| {
        let order = builder.graph.topological();
        derive::Ancestors::of(&builder, &[], &order).of_blocks(&builder)
    });
    let blocks = apply_graph::Blocks {
        create_before_destroy: &run.create_before_destroy,
        dependencies: without_orphans.as_ref().unwrap_or(&run.dependencies),
    };
    let built = apply_graph::build(&mut builder, &changes, &plan.prior_state, blocks, plan.mode == Mode::Destroy);
    let names = cycles::Names { tree: &run.tree, providers: &builder.providers, orphans: &[], tasks: &built.tasks };
    cycles::report(&built.graph, &builder.needs, &names)
}
