//! Order without references: data sources inside `check` blocks are read when everything is done, ephemeral
//! resources are closed after their last use.

use terrane_protocol::schema::ResourceMode;

use super::builder::Builder;
use crate::blocks::tree::Tree;
use crate::graph::{Dag, Node};
use crate::ids::{NodeId, ResourceId};

/// In apply, data sources of `check` blocks wait for all managed resources.
pub fn delay_checks(builder: &mut Builder<'_>) {
    let scoped: Vec<NodeId> = builder
        .tree
        .ids()
        .flat_map(|module| builder.tree.module(module).checks.values().map(move |check| (module, check)))
        .filter_map(|(module, check)| {
            let block = builder.tree.resource_in(module, check.data.as_ref()?)?;
            Some(builder.resource(block))
        })
        .collect();
    if scoped.is_empty() {
        return;
    }
    let waiting = behind(&builder.graph, &scoped);
    let gate = builder.add(Node::Gate);
    for node in (0..gate.index()).map(NodeId::new) {
        let Node::Resource(id) = *builder.graph.node(node) else { continue };
        let managed = builder.tree.resource(id).addr.mode == ResourceMode::Managed;
        // What waits for a check's module cannot be waited for by the check.
        if managed && !waiting[node.index()] {
            builder.graph.connect(gate, node);
        }
    }
    scoped.into_iter().for_each(|node| builder.graph.connect(node, gate));
}

/// Adds the closing of ephemeral resources to a graph that is otherwise complete.
pub fn close_ephemerals(graph: &mut Dag<Node>, tree: &Tree) {
    let opened: Vec<(NodeId, ResourceId)> = graph
        .nodes()
        .filter_map(|(id, node)| match *node {
            Node::Resource(block) if tree.resource(block).addr.mode == ResourceMode::Ephemeral => Some((id, block)),
            _ => None,
        })
        .collect();
    if opened.is_empty() {
        return;
    }
    let count = graph.len();
    let users: Vec<Vec<bool>> = opened.iter().map(|(id, _)| behind(graph, &[*id])).collect();
    for ((_, block), users) in opened.into_iter().zip(users) {
        let close = graph.add(Node::CloseEphemeral(block));
        (0..count).filter(|node| users[*node]).for_each(|node| graph.connect(close, NodeId::new(node)));
    }
}

/// The nodes that wait for given ones, those included.
fn behind(graph: &Dag<Node>, of: &[NodeId]) -> Vec<bool> {
    let dependents = graph.dependents();
    let mut seen = vec![false; graph.len()];
    let mut open = of.to_vec();
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut seen[node.index()], true) {
            open.extend(&dependents[node.index()]);
        }
    }
    seen
}
