//! What follows from the graph of the configuration: stored dependencies, forced order of replacement, what a data
//! source must see finished before it is read.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::config::Builder;
use crate::engine::graph::{Node, NodeId};
use crate::engine::references::Need;
use crate::engine::tree::ModuleId;
use crate::model::addr::{ConfigResource, ResourceMode};

type BlockId = (ModuleId, u32);

/// Per resource block: all resources that it depends on, directly or not; sorted by their text. Equal lists are shared.
pub fn dependencies(builder: &Builder<'_>, order: &[NodeId]) -> FxHashMap<BlockId, Arc<[ConfigResource]>> {
    let ranks = Ranks::new(builder);
    let empty: Arc<[u32]> = Arc::from([]);
    let mut sets: Vec<Arc<[u32]>> = vec![empty; builder.graph.len()];
    let mut shared: FxHashMap<Arc<[u32]>, Arc<[ConfigResource]>> = FxHashMap::default();
    let mut found = FxHashMap::default();
    for node in order {
        let set = union(builder, &ranks, &sets, *node);
        if let Node::Resource { module, index } = builder.graph.node(*node) {
            let list = shared.entry(set.clone()).or_insert_with(|| ranks.resolve(&set)).clone();
            found.insert((*module, *index), list);
        }
        sets[*node as usize] = set;
    }
    found
}

/// Resources numbered in the order of their text.
struct Ranks {
    rank: FxHashMap<NodeId, u32>,
    addrs: Vec<ConfigResource>,
}

impl Ranks {
    fn new(builder: &Builder<'_>) -> Ranks {
        let mut all: Vec<(String, ConfigResource, NodeId)> = Vec::new();
        for (id, node) in builder.graph.nodes() {
            if let Node::Resource { module, index } = node {
                let addr = builder.tree.config_addr(*module, *index);
                all.push((addr.to_string(), addr, id));
            }
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let rank = all.iter().enumerate().map(|(i, (_, _, node))| (*node, i as u32)).collect();
        Ranks { rank, addrs: all.into_iter().map(|(_, addr, _)| addr).collect() }
    }

    fn resolve(&self, set: &[u32]) -> Arc<[ConfigResource]> {
        set.iter().map(|rank| self.addrs[*rank as usize].clone()).collect()
    }
}

fn union(builder: &Builder<'_>, ranks: &Ranks, sets: &[Arc<[u32]>], node: NodeId) -> Arc<[u32]> {
    let mut parts: Vec<&Arc<[u32]>> = Vec::new();
    let mut own: Vec<u32> = Vec::new();
    for to in builder.graph.dependencies(node) {
        own.extend(ranks.rank.get(to));
        let set = &sets[*to as usize];
        if !set.is_empty() && !parts.iter().any(|p| Arc::ptr_eq(p, set)) {
            parts.push(set);
        }
    }
    if own.is_empty() && parts.len() <= 1 {
        return parts.first().map_or_else(|| Arc::from([]), |p| (*p).clone());
    }
    own.extend(parts.iter().flat_map(|p| p.iter()));
    own.sort_unstable();
    own.dedup();
    if let Some(rank) = ranks.rank.get(&node) {
        own.retain(|r| r != rank);
    }
    own.into()
}

/// Which resource blocks are replaced by creating first: by their own setting, or because something that depends on them
/// is.
pub fn create_before_destroy(builder: &Builder<'_>, order: &[NodeId]) -> FxHashMap<BlockId, bool> {
    let mut forced = vec![false; builder.graph.len()];
    let mut found = FxHashMap::default();
    for node in order.iter().rev() {
        let mut passes = forced[*node as usize];
        if let Node::Resource { module, index } = builder.graph.node(*node) {
            let resource = builder.tree.resource(*module, *index);
            passes |= resource.addr.mode == ResourceMode::Managed
                && resource.lifecycle.create_before_destroy.unwrap_or(false);
            found.insert((*module, *index), passes);
        }
        if passes {
            for to in builder.graph.dependencies(*node) {
                forced[*to as usize] = true;
            }
        }
    }
    found
}

/// For every data source, the managed resources whose pending changes put its reading off: those that it refers to, and
/// those that a `depends_on` of its own or of a module around it leads to.
pub fn read_barriers(builder: &Builder<'_>) -> FxHashMap<BlockId, Arc<[ConfigResource]>> {
    let mut of_modules: BTreeMap<ModuleId, Vec<NodeId>> = BTreeMap::new();
    let mut found = FxHashMap::default();
    for module in builder.tree.ids() {
        let mut explicit = Vec::new();
        if let Some((parent, call)) = builder.tree.parent(module) {
            explicit.extend(of_modules.get(&parent).into_iter().flatten().copied());
            let call = builder.tree.call(parent, call);
            explicit.extend(explicit_nodes(builder, parent, &call.depends_on, &call.range.file));
        }
        of_modules.insert(module, explicit);
        for index in 0..builder.tree.module(module).resources.len() as u32 {
            let resource = builder.tree.resource(module, index);
            if resource.addr.mode != ResourceMode::Data {
                continue;
            }
            let mut nodes = of_modules[&module].clone();
            nodes.extend(explicit_nodes(builder, module, &resource.depends_on, &resource.range.file));
            let needs = &builder.needs[builder.resource(module, index) as usize];
            nodes.extend(needs.on.iter().filter(|n| matches!(n, Need::Resource(..))).map(|n| builder.node_of(n)));
            found.insert((module, index), managed_behind(builder, nodes));
        }
    }
    found
}

fn explicit_nodes(
    builder: &Builder<'_>,
    module: ModuleId,
    traversals: &[crate::lang::syntax::ast::Traversal],
    file: &Arc<crate::base::source::SourceFile>,
) -> Vec<NodeId> {
    if traversals.is_empty() {
        return Vec::new();
    }
    let mut gatherer = crate::engine::references::Gatherer::new(builder.tree, builder.schemas, module);
    gatherer.depends_on(traversals, file);
    gatherer.needs.on.iter().map(|need| builder.node_of(need)).collect()
}

/// Resources count themselves; anything else counts for the resources that it depends on.
fn managed_behind(builder: &Builder<'_>, nodes: Vec<NodeId>) -> Arc<[ConfigResource]> {
    let mut blocks: FxHashSet<NodeId> = FxHashSet::default();
    let (resources, others): (Vec<NodeId>, Vec<NodeId>) =
        nodes.into_iter().partition(|n| matches!(builder.graph.node(*n), Node::Resource { .. }));
    blocks.extend(resources);
    if !others.is_empty() {
        let reachable = builder.graph.reachable(others);
        blocks.extend((0..builder.graph.len() as NodeId).filter(|n| reachable[*n as usize]));
    }
    let mut found: Vec<ConfigResource> = blocks
        .into_iter()
        .filter_map(|n| match builder.graph.node(n) {
            Node::Resource { module, index } => Some(builder.tree.config_addr(*module, *index)),
            _ => None,
        })
        .filter(|addr| addr.resource.mode == ResourceMode::Managed)
        .collect();
    found.sort();
    found.into()
}
