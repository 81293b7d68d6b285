//! What holds for every graph; checked in builds with debug assertions, so in every test.

use super::builder::Builder;
use crate::graph::{Dag, Node};
use crate::ids::NodeId;

/// Of each provider configuration: its node, and the nodes of what its block refers to.
pub fn needs_of_providers(builder: &Builder<'_>) -> Vec<(NodeId, Vec<NodeId>)> {
    let nodes = builder.graph.nodes().filter(|(_, node)| matches!(node, Node::Provider(_)));
    nodes.map(|(id, _)| (id, builder.needs[id.index()].on.iter().map(|need| builder.node_of(need)).collect())).collect()
}

/// A provider is configured after everything that its block refers to was evaluated.
///
/// # Panics
///
/// If a graph says otherwise.
pub fn check(graph: &Dag<Node>, active: &[bool], providers: &[(NodeId, Vec<NodeId>)]) {
    for (provider, needs) in providers.iter().filter(|(provider, _)| active[provider.index()]) {
        let before = graph.reachable([*provider]);
        for need in needs {
            let node = graph.node(*need);
            assert!(before[need.index()], "{:?} does not wait for {node:?}", graph.node(*provider));
            assert!(active[need.index()], "{:?} waits for {node:?}, which does nothing", graph.node(*provider));
        }
    }
}
