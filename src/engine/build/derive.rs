//! Facts derived from the graph of the configuration: stored dependencies, forced order of replacement, and the dependencies of data
//! sources.

use std::sync::Arc;

use model::addr::ConfigResource;
use rustc_hash::{FxHashMap, FxHashSet};
use terrane_protocol::schema::ResourceMode;

use super::builder::Builder;
use crate::blocks::references::Need;
use crate::graph::{Node, Orphans};
use crate::ids::{ModuleId, NodeId, ROOT, ResourceId};
use crate::run::deferred::DeferredBlocks;

/// The resources that each node of a graph depends on, directly or not: their ranks, ascending. Equal lists are shared.
pub struct Ancestors {
    ranks: Ranks,
    sets: Vec<Arc<[u32]>>,
}

impl Ancestors {
    /// `order`: the nodes of the builder's graph, dependencies first.
    pub fn of(builder: &Builder<'_>, orphans: &[Orphans], order: &[NodeId]) -> Ancestors {
        let ranks = Ranks::new(builder, orphans);
        let empty: Arc<[u32]> = Arc::from([]);
        let mut sets: Vec<Arc<[u32]>> = vec![empty; builder.graph.len()];
        for node in order {
            sets[node.index()] = union(builder, &ranks, &sets, *node);
        }
        Ancestors { ranks, sets }
    }

    /// Per resource block: all resources that it depends on, sorted by their text. Equal lists are shared.
    pub fn of_blocks(&self, builder: &Builder<'_>) -> FxHashMap<ResourceId, Arc<[ConfigResource]>> {
        let mut shared: FxHashMap<&Arc<[u32]>, Arc<[ConfigResource]>> = FxHashMap::default();
        let mut found = FxHashMap::default();
        for (id, node) in builder.graph.nodes() {
            if let Node::Resource(block) = node {
                let set = &self.sets[id.index()];
                let list = shared.entry(set).or_insert_with(|| self.ranks.resolve(set)).clone();
                found.insert(*block, list);
            }
        }
        found
    }

    /// The positions of the root outputs that depend on a deferred resource.
    pub fn deferred_outputs(&self, builder: &Builder<'_>, deferred: &DeferredBlocks) -> FxHashSet<u32> {
        if deferred.is_empty() {
            return FxHashSet::default();
        }
        let is_deferred = |rank: &u32| deferred.has_resource(&self.ranks.addrs[*rank as usize]);
        let outputs = 0..builder.tree.module(ROOT).outputs.len() as u32;
        outputs.filter(|index| self.sets[builder.output(ROOT, *index).index()].iter().any(is_deferred)).collect()
    }

    /// The managed resources among some nodes: resources count themselves; any other node counts for what it depends on.
    fn managed(&self, nodes: impl IntoIterator<Item = NodeId>) -> Vec<u32> {
        let mut found = Vec::new();
        for node in nodes {
            match self.ranks.rank.get(&node) {
                Some(rank) => found.push(*rank),
                None => found.extend(self.sets[node.index()].iter()),
            }
        }
        self.only_managed(found)
    }

    /// The managed resources among some nodes and all that these depend on.
    fn managed_up_from(&self, nodes: impl IntoIterator<Item = NodeId>) -> Vec<u32> {
        let mut found = Vec::new();
        for node in nodes {
            found.extend(self.ranks.rank.get(&node));
            found.extend(self.sets[node.index()].iter());
        }
        self.only_managed(found)
    }

    fn only_managed(&self, mut ranks: Vec<u32>) -> Vec<u32> {
        ranks.retain(|rank| self.ranks.addrs[*rank as usize].resource.mode == ResourceMode::Managed);
        ranks
    }
}

/// Resources, with or without a block, numbered in the order of their text.
struct Ranks {
    rank: FxHashMap<NodeId, u32>,
    addrs: Vec<ConfigResource>,
}

impl Ranks {
    fn new(builder: &Builder<'_>, orphans: &[Orphans]) -> Ranks {
        let mut all: Vec<(String, ConfigResource, NodeId)> = Vec::new();
        for (id, node) in builder.graph.nodes() {
            let addr = match node {
                Node::Resource(block) => builder.tree.config_addr(*block),
                Node::Orphans(id) => orphans[id.index()].resource.clone(),
                _ => continue,
            };
            all.push((addr.to_string(), addr, id));
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let mut ranks = Ranks { rank: FxHashMap::default(), addrs: Vec::new() };
        for (_, addr, node) in all {
            // Orphans of several provider configurations have one address.
            if ranks.addrs.last() != Some(&addr) {
                ranks.addrs.push(addr);
            }
            ranks.rank.insert(node, ranks.addrs.len() as u32 - 1);
        }
        ranks
    }

    fn resolve(&self, set: &[u32]) -> Arc<[ConfigResource]> {
        set.iter().map(|rank| self.addrs[*rank as usize].clone()).collect()
    }
}

fn union(builder: &Builder<'_>, ranks: &Ranks, sets: &[Arc<[u32]>], node: NodeId) -> Arc<[u32]> {
    let mut parts: Vec<&Arc<[u32]>> = Vec::new();
    let mut seen: FxHashSet<*const u32> = FxHashSet::default();
    let mut own: Vec<u32> = Vec::new();
    for to in builder.graph.dependencies(node) {
        own.extend(ranks.rank.get(to));
        let set = &sets[to.index()];
        if !set.is_empty() && seen.insert(set.as_ptr()) {
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
/// is. Observed: nodes that targets leave out do not count (`active`).
pub fn create_before_destroy(builder: &Builder<'_>, order: &[NodeId], active: &[bool]) -> FxHashMap<ResourceId, bool> {
    let mut forced = vec![false; builder.graph.len()];
    let mut found = FxHashMap::default();
    for node in order.iter().rev() {
        let mut passes = forced[node.index()];
        if let Node::Resource(block) = builder.graph.node(*node) {
            let resource = builder.tree.resource(*block);
            passes |= resource.addr.mode == ResourceMode::Managed
                && resource.lifecycle.create_before_destroy.unwrap_or(false);
            found.insert(*block, passes);
        }
        if passes && active[node.index()] {
            for to in builder.graph.dependencies(*node) {
                forced[to.index()] = true;
            }
        }
    }
    found
}

/// For every data source, the managed resources whose pending changes defer its reading: those that it refers to, those in its
/// `depends_on`, and those in that of an enclosing module with all that these depend on. Equal lists are shared.
pub fn read_barriers(builder: &Builder<'_>, ancestors: &Ancestors) -> FxHashMap<ResourceId, Arc<[ConfigResource]>> {
    let mut of_modules: Vec<Arc<[u32]>> = Vec::new();
    let mut shared: FxHashMap<Vec<u32>, Arc<[ConfigResource]>> = FxHashMap::default();
    let mut found = FxHashMap::default();
    // Parents come before children.
    for module in builder.tree.ids() {
        of_modules.push(match builder.tree.parent(module) {
            Some((parent, call)) => {
                let call = builder.tree.call(parent, call);
                let around = &of_modules[parent.index()];
                let own =
                    ancestors.managed_up_from(explicit_nodes(builder, parent, &call.depends_on, &call.range.file));
                if own.is_empty() { around.clone() } else { joined(own, around).into() }
            }
            None => Arc::from([]),
        });
        for index in 0..builder.tree.module(module).resources.len() {
            let block = ResourceId::new(module, index);
            let resource = builder.tree.resource(block);
            if resource.addr.mode != ResourceMode::Data {
                continue;
            }
            let mut nodes = explicit_nodes(builder, module, &resource.depends_on, &resource.range.file);
            let needs = &builder.needs[builder.resource(block).index()];
            nodes.extend(needs.on.iter().filter(|n| matches!(n, Need::Resource(..))).map(|n| builder.node_of(n)));
            let set = joined(ancestors.managed(nodes), &of_modules[module.index()]);
            let list = shared.entry(set).or_insert_with_key(|set| ancestors.ranks.resolve(set)).clone();
            found.insert(block, list);
        }
    }
    found
}

/// Both, ascending, each once.
fn joined(mut ranks: Vec<u32>, more: &[u32]) -> Vec<u32> {
    ranks.extend(more);
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}

fn explicit_nodes(
    builder: &Builder<'_>,
    module: ModuleId,
    traversals: &[lang::syntax::ast::Traversal],
    file: &Arc<base::source::SourceFile>,
) -> Vec<NodeId> {
    if traversals.is_empty() {
        return Vec::new();
    }
    let mut gatherer = crate::blocks::references::Gatherer::new(builder.tree, builder.schemas, module);
    gatherer.depends_on(traversals, file);
    gatherer.needs.on.iter().map(|need| builder.node_of(need)).collect()
}
