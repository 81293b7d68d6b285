//! Everything before the walk: the passes that create a run from a configuration and a state.

use std::sync::Arc;

use base::diag::Diagnostics;
use model::addr::AbsResource;
use model::config::call_check;
use model::plan::{ActionInvocation, FunctionResults, ResourceChange};
use model::state::State;
use rustc_hash::FxHashMap;

use crate::blocks::functions::ProviderFunctions;
use crate::blocks::imports::{Imports, Requested};
use crate::blocks::schemas::Schemas;
use crate::blocks::tree::Tree;
use crate::blocks::{Blocks, provider_configs};
use crate::build::apply::PlannedWork;
use crate::build::orphans::Gone;
use crate::build::verb_graph::{Purpose, VerbGraph};
use crate::build::{actions, config, imports, orphans};
use crate::event::{Event, Phase};
use crate::facts::Facts;
use crate::graph::cycles;
use crate::graph::schedule::Schedule;
use crate::ids::{NodeId, ResourceId};
use crate::moves;
use crate::ports::Ports;
use crate::run::results::Results;
use crate::run::{Inputs, Prior, Run, Verb};

/// The inputs of a run; the rest follows from configuration and state.
pub struct RunRequest {
    pub verb: Verb,
    pub facts: Arc<Facts>,
    pub state: State,
    pub inputs: Inputs,
    pub parallelism: usize,
    /// What the import command asks for.
    pub import: Option<Requested>,
    /// What apply carries out.
    pub changes: Vec<Arc<ResourceChange>>,
    pub invocations: Vec<Arc<ActionInvocation>>,
    /// What functions gave before.
    pub calls: FunctionResults,
}

impl RunRequest {
    pub fn new(verb: Verb, facts: &Arc<Facts>, state: State, parallelism: usize) -> RunRequest {
        RunRequest {
            verb,
            facts: facts.clone(),
            state,
            inputs: Inputs::default(),
            parallelism,
            import: None,
            changes: Vec::new(),
            invocations: Vec::new(),
            calls: FunctionResults::new(),
        }
    }
}

/// The passes in their order. Errors that make a walk pointless are the error.
pub async fn prepare(mut request: RunRequest, ports: &Ports) -> Result<Arc<Run>, Diagnostics> {
    let facts = request.facts.clone();
    let (config, tree) = (facts.config(), &facts.tree);
    ports.observer.event(Event::Phase(Phase::Schemas));
    let (schemas, mut diagnostics) = Schemas::load(config, Some(&request.state), ports).await;
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    if let Some(missing) = provider_configs::missing_passed(tree) {
        return Err(missing.into());
    }
    let moved = follow_moves(&mut request, tree, &schemas, ports, &mut diagnostics).await?;
    if matches!(request.verb, Verb::Plan { .. }) {
        diagnostics.extend(facts.removed.check(config));
    }
    ports.observer.event(Event::Phase(Phase::Graph));
    let (graph, imports) = build(&mut request, &facts, &schemas);
    call_check::check(config, &mut diagnostics);
    diagnostics.extend(graph.diagnostics);
    let (providers, built) = (&graph.providers.configs, &graph.built);
    let names =
        cycles::NodeNames { tree, providers, orphans: &built.orphans, tasks: &built.tasks, requests: &built.requests };
    diagnostics.extend(cycles::report(&built.graph, &built.needs, &names));
    if diagnostics.has_errors() {
        return Err(moves::without_blocked(diagnostics));
    }
    let stored = stored_by_block(tree, &request.state);
    let mut results = Results::new(tree, graph.providers.configs.len(), request.state.clone(), request.calls);
    results.coverage = ports.coverage.clone().filter(|_| is_covered(request.verb));
    let mut schedule = Schedule::new(graph.built, request.parallelism);
    if let Some(turns) = &ports.turns {
        schedule.turns = turns.clone();
    }
    let run = Run {
        verb: request.verb,
        ports: ports.clone(),
        replaced: request.inputs.scope.force_replace.iter().cloned().collect(),
        inputs: request.inputs,
        blocks: Blocks {
            config: config.clone(),
            functions: ProviderFunctions::of(&schemas, ports),
            schemas,
            providers: graph.providers,
            order: graph.order,
            removed: facts.removed.clone(),
            imports,
            tree: tree.clone(),
        },
        prior: Prior { state: Arc::new(request.state), stored, moved },
        schedule,
        results,
    };
    run.results.report(NodeId::FIRST, diagnostics);
    Ok(Arc::new(run))
}

/// Whether what is evaluated counts as tested: not what is only checked, destroyed or looked up.
fn is_covered(verb: Verb) -> bool {
    matches!(verb, Verb::Plan { pre_destroy: false, .. } | Verb::Apply { .. })
}

/// In a plan, objects go where `moved` blocks say.
async fn follow_moves(
    request: &mut RunRequest,
    tree: &Tree,
    schemas: &Schemas,
    ports: &Ports,
    diagnostics: &mut Diagnostics,
) -> Result<moves::Moved, Diagnostics> {
    if !matches!(request.verb, Verb::Plan { .. } | Verb::PlanDestroy) {
        return Ok(moves::Moved::new());
    }
    let (moved, origins) = diagnostics.take(moves::apply(request.facts.config(), &mut request.state));
    diagnostics.extend(moves::crossing::convert(tree, schemas, &mut request.state, origins, ports).await);
    if !diagnostics.has_errors() {
        diagnostics.extend(moves::check_targets(&moved, &request.inputs.scope.targets, &request.inputs.scope.excludes));
    }
    if diagnostics.has_errors() { Err(moves::without_blocked(std::mem::take(diagnostics))) } else { Ok(moved) }
}

/// The graph: blocks, then what only the state knows, then imports, then what the verb makes of it.
fn build(request: &mut RunRequest, facts: &Facts, schemas: &Schemas) -> (VerbGraph, Imports) {
    let mut builder = config::graph(facts, schemas);
    let orphans = match request.verb {
        Verb::Plan { .. } => orphans::add(&mut builder, &request.state, Gone::Orphaned),
        Verb::PlanDestroy => orphans::add(&mut builder, &request.state, Gone::Everything),
        _ => Vec::new(),
    };
    let mut imports = match request.verb {
        Verb::Validate | Verb::Plan { refresh_only: false, .. } if request.inputs.query.is_none() => {
            imports::collect(&mut builder, request.verb, request.inputs.scope.generate_config)
        }
        _ => Imports::default(),
    };
    let scope = &request.inputs.scope;
    let requests = match request.verb {
        Verb::Plan { .. } => actions::add_requests(&mut builder, &scope.requested_actions, &scope.policies),
        _ => Vec::new(),
    };
    imports.requested = request.import.take();
    let purpose = Purpose {
        verb: request.verb,
        state: &request.state,
        planned: PlannedWork { changes: &request.changes, invocations: &request.invocations },
        deferred: &request.inputs.deferred,
        targets: &scope.targets,
        excludes: &scope.excludes,
        is_query: request.inputs.query.is_some(),
        policies: &scope.policies,
        imports: &imports,
    };
    (VerbGraph::of(builder, orphans, requests, &purpose), imports)
}

fn stored_by_block(tree: &Tree, state: &State) -> FxHashMap<ResourceId, Vec<AbsResource>> {
    let mut stored: FxHashMap<ResourceId, Vec<AbsResource>> = FxHashMap::default();
    for addr in state.resources.keys() {
        if let Some(block) = tree.find_resource(&addr.config()) {
            stored.entry(block).or_default().push(addr.clone());
        }
    }
    stored
}
