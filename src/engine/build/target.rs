//! `-target`: the part of the graph that a run keeps.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::graph::{Dag, Node, NodeId};
use crate::engine::imports::Imports;
use crate::engine::run::Orphans;
use crate::engine::tree::{ROOT, Tree};
use crate::model::addr::{AbsResourceInstance, ConfigResource, Target};
use crate::model::state::State;

/// The instances that go in a destroy with targets: the targeted ones and, again and again, those that depend on one of
/// them. Instances of one module do not depend on each other.
pub fn destroyed(state: &State, targets: &[Target]) -> BTreeSet<AbsResourceInstance> {
    let mut left: Vec<(AbsResourceInstance, BTreeSet<&ConfigResource>)> = Vec::new();
    let mut found: BTreeMap<ConfigResource, BTreeSet<AbsResourceInstance>> = BTreeMap::new();
    for (addr, _, instance) in state.instances() {
        if targets.iter().any(|target| target.contains(&addr)) {
            found.entry(addr.config()).or_default().insert(addr);
            continue;
        }
        let objects = instance.current.iter().chain(instance.deposed.values());
        left.push((addr, objects.flat_map(|object| object.dependencies.iter()).collect()));
    }
    loop {
        let goes = |(addr, dependencies): &(AbsResourceInstance, BTreeSet<&ConfigResource>)| {
            let module = addr.config().module;
            let used = |on: &&&ConfigResource| {
                let apart = on.module != module;
                found.get(**on).is_some_and(|gone| apart || gone.iter().any(|of| of.module == addr.module))
            };
            dependencies.iter().any(|on| used(&on))
        };
        let (more, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(goes);
        if more.is_empty() {
            return found.into_values().flatten().collect();
        }
        for (addr, _) in more {
            found.entry(addr.config()).or_default().insert(addr);
        }
        left = rest;
    }
}

/// The nodes to keep: targeted ones with all they depend on, and root outputs that depend on nothing else. The second
/// set holds the targeted nodes themselves: only their instances are filtered. `trimmed`: orphans have only instances that
/// are wanted.
pub fn select(
    graph: &Dag<Node>,
    tree: &Tree,
    orphans: &[Orphans],
    imports: &Imports,
    targets: &[Target],
    trimmed: bool,
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
    let mut direct: BTreeSet<NodeId> = graph.nodes().filter(|(_, n)| is_target(n)).map(|(id, _)| id).collect();
    let is_wanted = |node: &Node| match node {
        Node::Orphans(index) => trimmed && !orphans[*index as usize].instances.is_empty(),
        _ => false,
    };
    let wanted: BTreeSet<NodeId> = graph.nodes().filter(|(_, n)| is_wanted(n)).map(|(id, _)| id).collect();
    let mut keep = graph.reachable(direct.iter().copied().chain(wanted.iter().copied()));
    direct.retain(|id| !wanted.contains(id));
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
