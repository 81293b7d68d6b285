//! Cycles: their references, with locations.
//!
//! The summary lists all members. The detail shows one of the shortest cycles.

use std::collections::VecDeque;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::blocks::provider_configs::ProviderConfigs;
use crate::blocks::references::{Need, Needs};
use crate::blocks::tree::Tree;
use crate::graph::{Dag, Node, Orphans, Request, Task};
use crate::ids::NodeId;

/// What the names of nodes come from.
pub struct NodeNames<'a> {
    pub tree: &'a Tree,
    pub providers: &'a ProviderConfigs,
    pub orphans: &'a [Orphans],
    pub tasks: &'a [Task],
    pub requests: &'a [Request],
}

impl NodeNames<'_> {
    /// The name of a node; none for a barrier.
    pub fn of(&self, node: Node) -> Option<String> {
        let detail = |node: Node| match node {
            Node::Provider(id) => self.providers.get(id).addr.to_string(),
            Node::Generate(_) => "import".into(),
            Node::Request(id) => format!("{} (invoke)", self.requests[id.index()].addr()),
            Node::Orphans(id) => format!("{} (orphan)", self.orphans[id.index()].resource),
            Node::Instance(id) => self.tasks[id.index()].change.addr.to_string(),
            Node::Destroy(id) => match &self.tasks[id.index()].change.deposed {
                Some(key) => format!("{} (destroy deposed {key})", self.tasks[id.index()].change.addr),
                None => format!("{} (destroy)", self.tasks[id.index()].change.addr),
            },
            Node::Variable { .. }
            | Node::Local { .. }
            | Node::Output { .. }
            | Node::Call { .. }
            | Node::Close { .. }
            | Node::Resource(_)
            | Node::Check { .. }
            | Node::Action(_)
            | Node::CloseEphemeral(_)
            | Node::Gate => String::new(),
        };
        (node != Node::Gate).then(|| node.name(self.tree, &detail))
    }
}

/// An error for each set of nodes that wait for each other. `needs` by node, as far as it goes.
pub fn report(graph: &Dag<Node>, needs: &[Arc<Needs>], names: &NodeNames) -> Diagnostics {
    let cycle = |nodes: Vec<NodeId>| {
        let all: Vec<String> = nodes.iter().filter_map(|id| names.of(*graph.node(*id))).collect();
        Diagnostic { detail: detail(graph, needs, names, &nodes), ..crate::engine_errors::cycle(&all) }
    };
    graph.cycles().into_iter().map(cycle).collect()
}

fn detail(graph: &Dag<Node>, needs: &[Arc<Needs>], names: &NodeNames, members: &[NodeId]) -> String {
    let way = shortest(graph, members);
    let mut text = String::from("Each of these waits for the next, and the last one for the first:");
    for (i, from) in way.iter().enumerate() {
        let to = way[(i + 1) % way.len()];
        let (from_node, to_node) = (*graph.node(*from), *graph.node(to));
        let (Some(from_name), Some(to_name)) = (names.of(from_node), names.of(to_node)) else { continue };
        let place = needs.get(from.index()).and_then(|needs| place(needs, to_node));
        text += &match (place, from_node, to_node) {
            (Some(at), ..) => {
                let line = at.start().line;
                format!("\n  - {from_name} refers to {to_name} at {}:{line}: {}", at.filename(), at.text())
            }
            (None, Node::Close { .. }, _) => format!("\n  - {from_name} is everything in the module: {to_name} too"),
            (None, _, Node::Call { .. }) => format!("\n  - {from_name} is in that module: {to_name}"),
            (None, _, Node::Provider(_)) => format!("\n  - {from_name} uses {to_name}"),
            _ => format!("\n  - {from_name} waits for {to_name}"),
        };
    }
    text
}

/// Where a block says that it needs what a node stands for.
fn place(needs: &Needs, to: Node) -> Option<&Range> {
    let found = needs.places.iter().find(|(need, _)| match (need, to) {
        (Need::Variable(m, i), Node::Variable { module, index })
        | (Need::Local(m, i), Node::Local { module, index })
        | (Need::Output(m, i), Node::Output { module, index }) => (*m, *i) == (module, index),
        (Need::Action(needed), Node::Action(id)) => *needed == id,
        (Need::Resource(needed, _), Node::Resource(id)) => *needed == id,
        (Need::Module(m), Node::Close { module }) => *m == module,
        _ => false,
    });
    found.map(|(_, range)| range)
}

/// Number of starting points: enough to find a short cycle in a graph of any size.
const STARTS: usize = 64;

/// One of the shortest ways around, as far as a few starting points show.
fn shortest(graph: &Dag<Node>, members: &[NodeId]) -> Vec<NodeId> {
    let inside: FxHashSet<NodeId> = members.iter().copied().collect();
    let ways = members.iter().take(STARTS).filter_map(|start| around(graph, &inside, *start));
    ways.min_by_key(Vec::len).unwrap_or_default()
}

/// The shortest way from a node back to it.
fn around(graph: &Dag<Node>, inside: &FxHashSet<NodeId>, start: NodeId) -> Option<Vec<NodeId>> {
    let mut came_from: FxHashMap<NodeId, NodeId> = FxHashMap::default();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for next in graph.dependencies(node).iter().copied().filter(|next| inside.contains(next)) {
            if next == start {
                let mut way = vec![node];
                while let Some(before) = way.last().and_then(|last| came_from.get(last)) {
                    way.push(*before);
                }
                way.reverse();
                return Some(way);
            }
            came_from.entry(next).or_insert_with(|| {
                queue.push_back(next);
                node
            });
        }
    }
    None
}
