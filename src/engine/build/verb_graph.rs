//! The parts of a walk: the graph with its orphans, tasks and providers, reduced to the needs of the verb.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::diag::Diagnostics;
use model::addr::{AbsResourceInstance, Target};
use model::config::policy_file::PolicySet;
use model::plan::ActionInvocation;
use model::state::State;
use terrane_protocol::schema::ResourceMode;

use super::builder::Builder;
use super::destroy_order::Extent;
use super::target::OrphanInstances;
use super::{actions, apply as apply_graph, derive, judged, late, target};
use crate::blocks::imports::Imports;
use crate::blocks::tree::Tree;
use crate::blocks::{BlockOrder, ProviderUse};
use crate::graph::schedule::Built;
use crate::graph::{Dag, Node, Orphans, Request};
use crate::ids::NodeId;
use crate::opentofu;
use crate::run::Verb;
use crate::run::deferred::DeferredBlocks;

/// What a graph is built for.
pub struct Purpose<'a> {
    pub verb: Verb,
    pub state: &'a State,
    pub imports: &'a Imports,
    pub planned: apply_graph::PlannedWork<'a>,
    pub deferred: &'a DeferredBlocks,
    pub targets: &'a [Target],
    pub excludes: &'a [Target],
    /// Nothing but lists is done, and what they refer to.
    pub is_query: bool,
    pub policies: &'a PolicySet,
}

/// A built graph, free of the builder's borrows.
pub struct VerbGraph {
    pub built: Built,
    pub providers: ProviderUse,
    pub order: BlockOrder,
    pub diagnostics: Diagnostics,
}

impl VerbGraph {
    pub fn of(
        mut builder: Builder<'_>,
        mut orphans: Vec<Orphans>,
        mut requests: Vec<Request>,
        purpose: &Purpose<'_>,
    ) -> VerbGraph {
        let Purpose { verb, state, planned, .. } = *purpose;
        let tree = builder.tree;
        let order = builder.graph.topological();
        let ancestors = derive::Ancestors::of(&builder, &orphans, &order);
        let dependencies = ancestors.of_blocks(&builder);
        let read_barriers = derive::read_barriers(&builder, &ancestors);
        let deferred_outputs = ancestors.deferred_outputs(&builder, purpose.deferred);
        let (mut active, filtered) = selected(&builder, &mut orphans, purpose);
        let is_limited = !purpose.targets.is_empty() || !purpose.excludes.is_empty();
        if is_limited && matches!(verb, Verb::Plan { .. } | Verb::Apply { .. }) {
            judged::activate_values(&builder, purpose.policies, &order, &mut active);
        }
        let create_before_destroy = derive::create_before_destroy(&builder, &order, &active);
        // Only apply changes what a check would have to wait for.
        if matches!(verb, Verb::Apply { .. }) {
            late::delay_checks(&mut builder);
        }
        active.resize(builder.graph.len(), true);
        let mut tasks = Vec::new();
        let is_apply = matches!(verb, Verb::Apply { .. } | Verb::ApplyDestroy);
        let mut graph = None;
        if is_apply {
            let extent = if verb == Verb::ApplyDestroy { Extent::Everything } else { Extent::Changes };
            let blocks =
                apply_graph::OrderFacts { create_before_destroy: &create_before_destroy, dependencies: &dependencies };
            requests = requested(&mut builder, planned.invocations);
            let mut built = apply_graph::build(&mut builder, planned, state, blocks, extent);
            actions::add_invocations(&mut built.graph, &builder, &requests, purpose.policies);
            active.resize(built.graph.len(), true);
            tasks = built.tasks;
            activate_needs_of_tasks(&built.graph, &mut active);
            deactivate_unused_providers(&built.graph, tree, &mut active);
            graph = Some(built.graph);
        }
        if verb == Verb::Evaluate {
            builder.provider_nodes.iter().for_each(|node| active[node.index()] = false);
        }
        #[cfg(debug_assertions)]
        let needs_of_providers = super::invariants::needs_of_providers(&builder);
        let mut graph = match graph {
            Some(graph) => graph,
            None => builder.graph,
        };
        if verb == Verb::PlanDestroy {
            graph = cut_resources(graph, tree);
        }
        if matches!(verb, Verb::PlanDestroy | Verb::ApplyDestroy) {
            let roots = graph.nodes().filter(|(id, node)| active[id.index()] && is_work(node)).map(|(id, _)| id);
            let needed = graph.reachable(roots.collect::<Vec<_>>());
            active.iter_mut().zip(needed).for_each(|(active, needed)| *active &= needed);
        }
        if !requests.is_empty() {
            keep_requests(&graph, &mut active);
        }
        late::close_ephemerals(&mut graph, tree);
        active.resize(graph.len(), true);
        #[cfg(debug_assertions)]
        super::invariants::check(&graph, &active, &needs_of_providers);
        VerbGraph {
            built: Built { graph, needs: builder.needs, orphans, tasks, requests, active, filtered },
            providers: ProviderUse {
                configs: builder.providers,
                of: builder.provider_of,
                chosen: builder.chosen_of,
                of_actions: builder.provider_of_action,
            },
            order: BlockOrder { dependencies, create_before_destroy, read_barriers, deferred_outputs },
            diagnostics: builder.diagnostics,
        }
    }
}

/// Which nodes the run is about, and those of them that are limited to targeted instances. Takes the other instances out of the orphans.
fn selected(builder: &Builder<'_>, orphans: &mut [Orphans], purpose: &Purpose<'_>) -> (Vec<bool>, BTreeSet<NodeId>) {
    let Purpose { verb, state, imports, targets, excludes, is_query, .. } = *purpose;
    let (graph, tree) = (&builder.graph, builder.tree);
    let is_destroy = verb == Verb::PlanDestroy;
    let (mut active, mut filtered) = (vec![true; graph.len()], BTreeSet::new());
    if !targets.is_empty() {
        let mut instances = OrphanInstances::All;
        if is_destroy {
            let destroyed = target::destroyed(state, targets);
            orphans.iter_mut().for_each(|o| o.instances.retain(|addr| destroyed.contains(addr)));
            instances = OrphanInstances::Targeted;
        }
        (active, filtered) = target::select(builder, orphans, imports, targets, instances);
    }
    if !excludes.is_empty() {
        if is_destroy {
            let spared = target::spared(state, excludes);
            orphans.iter_mut().for_each(|o| o.instances.retain(|addr| !spared.contains(addr)));
        }
        let affected;
        (active, affected) = target::exclude(builder, imports, excludes);
        if !is_destroy && !opentofu::destroys_dependents_of_excluded(tree.dialect()) {
            let is_free = |addr: &AbsResourceInstance| !target::depends_on_any(state, addr, &affected);
            orphans.iter_mut().for_each(|o| o.instances.retain(is_free));
        }
    }
    if is_query {
        active = needed_by_lists(graph, tree);
    }
    (active, filtered)
}

/// The lists with all that they refer to.
fn needed_by_lists(graph: &Dag<Node>, tree: &Tree) -> Vec<bool> {
    let is_list =
        |node: &Node| matches!(*node, Node::Resource(block) if tree.resource(block).addr.mode == ResourceMode::List);
    graph.reachable(graph.nodes().filter(|(_, node)| is_list(node)).map(|(id, _)| id).collect::<Vec<_>>())
}

/// The invocations of a plan that were asked for.
fn requested(builder: &mut Builder<'_>, invocations: &[Arc<ActionInvocation>]) -> Vec<Request> {
    let asked = invocations.iter().filter(|invocation| invocation.is_request());
    asked.filter_map(|invocation| actions::invocation(builder, invocation)).map(Request::Invoke).collect()
}

fn is_work(node: &Node) -> bool {
    matches!(node, Node::Orphans(_) | Node::Instance(_) | Node::Destroy(_))
}

/// A change of a plan with targets can need what no target of the configuration does: the provider configuration of an orphan.
fn activate_needs_of_tasks(graph: &Dag<Node>, active: &mut [bool]) {
    let tasks = graph.nodes().filter(|(_, node)| matches!(node, Node::Instance(_) | Node::Destroy(_)));
    let needed = graph.reachable(tasks.map(|(id, _)| id).collect::<Vec<_>>());
    active.iter_mut().zip(needed).for_each(|(active, needed)| *active |= needed);
}

/// Where actions were asked for, nothing else happens, but for the root outputs of what the actions need.
fn keep_requests(graph: &Dag<Node>, active: &mut [bool]) {
    let asked = graph.nodes().filter(|(_, node)| matches!(node, Node::Request(_))).map(|(id, _)| id);
    let mut needed = graph.reachable(asked.collect::<Vec<_>>());
    let outputs = graph.reachable(target::settled_outputs(graph, &needed));
    needed.iter_mut().zip(outputs).for_each(|(needed, output)| *needed |= output);
    active.iter_mut().zip(needed).for_each(|(active, needed)| *active = needed);
}

/// Provider configurations that no task uses are not made.
fn deactivate_unused_providers(graph: &Dag<Node>, tree: &Tree, active: &mut [bool]) {
    let mut used = vec![false; graph.len()];
    for (id, node) in graph.nodes() {
        let is_ephemeral = matches!(node, Node::Resource(block)
            if tree.resource(*block).addr.mode == ResourceMode::Ephemeral);
        if is_ephemeral || matches!(node, Node::Instance(_) | Node::Destroy(_) | Node::Request(_)) {
            graph.dependencies(id).iter().for_each(|d| used[d.index()] = true);
        }
    }
    for (id, node) in graph.nodes() {
        if matches!(node, Node::Provider(_)) && !used[id.index()] {
            active[id.index()] = false;
        }
    }
}

/// In a destroy, resources are what the state says: they wait for their module only.
fn cut_resources(graph: Dag<Node>, tree: &Tree) -> Dag<Node> {
    let mut cut = Dag::default();
    for (_, node) in graph.nodes() {
        cut.add(*node);
    }
    for (id, node) in graph.nodes() {
        let is_resource = matches!(node, Node::Resource(block)
            if tree.resource(*block).addr.mode != ResourceMode::Ephemeral);
        for to in graph.dependencies(id) {
            if !is_resource || matches!(graph.node(*to), Node::Call { .. }) {
                cut.connect(id, *to);
            }
        }
    }
    cut
}
