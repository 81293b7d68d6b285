//! `-target`: the part of the graph that a run keeps.

use std::collections::BTreeSet;

use crate::engine::graph::{Dag, Node, NodeId};
use crate::engine::imports::Imports;
use crate::engine::run::Orphans;
use crate::engine::tree::{ROOT, Tree};
use crate::model::addr::{ConfigResource, Target};
use crate::model::state::State;

/// What cannot stay when the targets are destroyed: every block with an object that depends on one of them.
pub fn dependents(state: &State, targets: &[Target]) -> BTreeSet<ConfigResource> {
    let mut found = BTreeSet::new();
    for (addr, resource) in &state.resources {
        let mut objects = resource.instances.values().flat_map(|i| i.current.iter().chain(i.deposed.values()));
        let touched = |on: &ConfigResource| targets.iter().any(|target| target.touches(on));
        if objects.any(|object| object.dependencies.iter().any(touched)) {
            found.insert(addr.config());
        }
    }
    found
}

/// The nodes to keep: targeted ones with all they depend on, and root outputs that depend on nothing else. The second
/// set holds the targeted nodes themselves: only their instances are filtered.
pub fn select(
    graph: &Dag<Node>,
    tree: &Tree,
    orphans: &[Orphans],
    imports: &Imports,
    targets: &[Target],
    dependents: &BTreeSet<ConfigResource>,
) -> (Vec<bool>, BTreeSet<NodeId>) {
    let is_target = |node: &Node| {
        let resource = match node {
            Node::Resource { module, index } => tree.config_addr(*module, *index),
            Node::Generate(index) => imports.generated[*index as usize].resource.clone(),
            Node::Orphans(index) => orphans[*index as usize].resource.clone(),
            _ => return false,
        };
        targets.iter().any(|target| target.touches(&resource))
    };
    let direct: BTreeSet<NodeId> = graph.nodes().filter(|(_, n)| is_target(n)).map(|(id, _)| id).collect();
    let is_dependent = |node: &Node| match node {
        Node::Orphans(index) => dependents.contains(&orphans[*index as usize].resource),
        _ => false,
    };
    let above = graph.nodes().filter(|(id, n)| is_dependent(n) && !direct.contains(id)).map(|(id, _)| id);
    let mut keep = graph.reachable(direct.iter().copied().chain(above));
    for (id, node) in graph.nodes() {
        let Node::Output { module: ROOT, .. } = node else { continue };
        let behind = graph.reachable([id]);
        let mut resources =
            graph.nodes().filter(|(n, node)| behind[*n as usize] && matches!(node, Node::Resource { .. })).peekable();
        if resources.peek().is_some() && resources.all(|(n, _)| keep[n as usize]) {
            behind.iter().enumerate().filter(|(_, b)| **b).for_each(|(n, _)| keep[n] = true);
        }
    }
    (keep, direct)
}
