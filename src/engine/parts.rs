//! What a walk is made of: the graph with its orphans, tasks and providers, cut to what the verb needs.

use super::build::config::Builder;
use super::build::{apply as apply_graph, derive, scoped, target};
use super::graph::{Dag, Node, NodeId};
use super::imports::Imports;
use super::run::{Orphans, Task, Verb};
use super::tree::{ModuleId, Tree};
use crate::base::diag::Diagnostics;
use crate::model::addr::{AbsResourceInstance, ResourceMode};
use crate::model::plan::{Action, ResourceChange};
use crate::model::state::State;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) fn resource_nodes(graph: &Dag<Node>) -> FxHashMap<(ModuleId, u32), NodeId> {
    let block = |(id, node): (NodeId, &Node)| match node {
        Node::Resource { module, index } => Some(((*module, *index), id)),
        _ => None,
    };
    graph.nodes().filter_map(block).collect()
}

pub(super) fn awaited(tasks: &[Task]) -> FxHashSet<AbsResourceInstance> {
    let creates = |action| !matches!(action, Action::Delete | Action::Forget);
    tasks.iter().filter(|t| creates(t.change.action)).map(|t| t.change.addr.clone()).collect()
}

pub(super) fn destroyed(tasks: &[Task]) -> FxHashSet<AbsResourceInstance> {
    let changes = tasks.iter().map(|task| &task.change);
    changes.filter(|c| c.action == Action::Delete && c.deposed.is_none()).map(|c| c.addr.clone()).collect()
}

/// A built graph, free of the builder's borrows.
pub(super) struct Parts {
    pub graph: Dag<Node>,
    pub needs: Vec<super::references::Needs>,
    pub providers: super::provider_configs::ProviderConfigs,
    pub provider_of: FxHashMap<(ModuleId, u32), u32>,
    pub chosen_of: FxHashMap<(ModuleId, u32), super::provider_configs::Chosen>,
    pub dependencies: FxHashMap<(ModuleId, u32), Arc<[crate::model::addr::ConfigResource]>>,
    pub create_before_destroy: FxHashMap<(ModuleId, u32), bool>,
    pub read_barriers: FxHashMap<(ModuleId, u32), Arc<[crate::model::addr::ConfigResource]>>,
    pub orphans: Vec<Orphans>,
    pub tasks: Vec<Task>,
    pub filtered: BTreeSet<NodeId>,
    pub active: Vec<bool>,
    pub diagnostics: Diagnostics,
}

impl Parts {
    pub fn of(
        mut builder: Builder<'_>,
        mut orphans: Vec<Orphans>,
        imports: &Imports,
        state: &State,
        verb: Verb,
        changes: &[Arc<ResourceChange>],
        targets: &[crate::model::addr::Target],
    ) -> Parts {
        let tree = builder.tree;
        let order = builder.graph.topological();
        let ancestors = derive::Ancestors::of(&builder, &orphans, &order);
        let dependencies = ancestors.of_blocks(&builder);
        let read_barriers = derive::read_barriers(&builder, &ancestors);
        let (mut active, mut filtered) = (vec![true; builder.graph.len()], BTreeSet::new());
        if !targets.is_empty() {
            if verb == Verb::PlanDestroy {
                let destroyed = target::destroyed(state, targets);
                orphans.iter_mut().for_each(|o| o.instances.retain(|addr| destroyed.contains(addr)));
            }
            let trimmed = verb == Verb::PlanDestroy;
            (active, filtered) = target::select(&builder.graph, builder.tree, &orphans, imports, targets, trimmed);
        }
        let create_before_destroy = derive::create_before_destroy(&builder, &order, &active);
        // Only apply changes what a check would have to wait for.
        if matches!(verb, Verb::Apply { .. }) {
            scoped::delay_checks(&mut builder);
        }
        active.resize(builder.graph.len(), true);
        let mut tasks = Vec::new();
        let is_apply = matches!(verb, Verb::Apply { .. } | Verb::ApplyDestroy);
        let mut graph = None;
        if is_apply {
            let destroy = verb == Verb::ApplyDestroy;
            let blocks =
                apply_graph::Blocks { create_before_destroy: &create_before_destroy, dependencies: &dependencies };
            let built = apply_graph::build(&mut builder, changes, state, blocks, destroy);
            active.resize(built.graph.len(), true);
            tasks = built.tasks;
            activate_needs_of_tasks(&built.graph, &mut active);
            deactivate_unused_providers(&built.graph, tree, &mut active);
            graph = Some(built.graph);
        }
        if verb == Verb::Evaluate {
            builder.provider_nodes.iter().for_each(|node| active[*node as usize] = false);
        }
        let mut graph = match graph {
            Some(graph) => graph,
            None => builder.graph,
        };
        if verb == Verb::PlanDestroy {
            graph = cut_resources(graph, tree);
        }
        if matches!(verb, Verb::PlanDestroy | Verb::ApplyDestroy) {
            let roots = graph.nodes().filter(|(id, node)| active[*id as usize] && is_work(node)).map(|(id, _)| id);
            let needed = graph.reachable(roots.collect::<Vec<_>>());
            active.iter_mut().zip(needed).for_each(|(active, needed)| *active &= needed);
        }
        scoped::close_ephemerals(&mut graph, tree);
        active.resize(graph.len(), true);
        Parts {
            graph,
            needs: builder.needs,
            providers: builder.providers,
            provider_of: builder.provider_of,
            chosen_of: builder.chosen_of,
            dependencies,
            create_before_destroy,
            read_barriers,
            orphans,
            tasks,
            filtered,
            active,
            diagnostics: builder.diagnostics,
        }
    }
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

/// Provider configurations that no task uses are not made.
fn deactivate_unused_providers(graph: &Dag<Node>, tree: &Tree, active: &mut [bool]) {
    let mut used = vec![false; graph.len()];
    for (id, node) in graph.nodes() {
        let is_ephemeral = matches!(node, Node::Resource { module, index }
            if tree.resource(*module, *index).addr.mode == ResourceMode::Ephemeral);
        if is_ephemeral || matches!(node, Node::Instance(_) | Node::Destroy(_)) {
            graph.dependencies(id).iter().for_each(|d| used[*d as usize] = true);
        }
    }
    for (id, node) in graph.nodes() {
        if matches!(node, Node::Provider(_)) && !used[id as usize] {
            active[id as usize] = false;
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
        let is_resource = matches!(node, Node::Resource { module, index }
            if tree.resource(*module, *index).addr.mode != ResourceMode::Ephemeral);
        for to in graph.dependencies(id) {
            if !is_resource || matches!(graph.node(*to), Node::Call { .. }) {
                cut.connect(id, *to);
            }
        }
    }
    cut
}
