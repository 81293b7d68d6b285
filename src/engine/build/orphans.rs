//! Orphans, the objects of the state without a block: the nodes that destroy them, and their provider configurations.

use std::collections::BTreeMap;

use model::addr::{AbsProviderConfig, AbsResourceInstance, ConfigResource};
use model::config::PreventDestroy;
use model::state::State;
use terrane_protocol::schema::ResourceMode;

use super::actions;
use super::builder::Builder;
use crate::blocks::provider_configs::{not_present, resolve_stored};
use crate::blocks::references::{Gatherer, Need};
use crate::graph::{Node, Orphans};
use crate::ids::{NodeId, OrphansId, ProviderId, ResourceId};

/// Which resources of the state get a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// Those without a block.
    Orphaned,
    /// All of them: everything is destroyed.
    Everything,
}

/// Adds a node for every resource of the state that goes.
pub fn add(builder: &mut Builder<'_>, state: &State, gone: Gone) -> Vec<Orphans> {
    let all = gone == Gone::Everything;
    let mut groups: BTreeMap<(ConfigResource, AbsProviderConfig), Vec<AbsResourceInstance>> = BTreeMap::new();
    for (addr, provider, instance) in state.instances() {
        let resource = addr.config();
        if all || builder.tree.find_resource(&resource).is_none() {
            let stored = provider.with_key(instance.provider_key());
            groups.entry((resource, stored)).or_default().push(addr);
        }
    }
    let mut orphans = Vec::new();
    let mut blocks = BTreeMap::new();
    let mut preventions = Vec::new();
    for ((resource, stored), instances) in groups {
        let provider = match needs_provider(&resource).then(|| provider_of(builder, &resource, &stored)) {
            Some(None) => {
                let users = instances.iter().flat_map(|addr| users(state, addr, gone));
                builder.diagnostics.extend(users.map(|user| not_present(&user, &stored)));
                continue;
            }
            Some(found) => found,
            None => None,
        };
        let node = builder.add(Node::Orphans(OrphansId::new(orphans.len())));
        if let Some(provider) = provider {
            builder.graph.connect(node, builder.provider_nodes[provider.index()]);
        }
        match builder.tree.find_resource(&resource) {
            Some(block) => {
                blocks.insert(block, node);
                preventions.extend(wait_for_prevention(builder, node, block).into_iter().map(|needed| (node, needed)));
                actions::wait_for_destroy_actions(builder, node, block);
            }
            None if !all => connect_module(builder, node, &resource),
            None => {}
        }
        orphans.push(Orphans { resource, provider, instances });
    }
    // What the expression refers to is not destroyed if the object that it protects is not.
    for (node, needed) in preventions {
        if let Some(needed) = blocks.get(&needed).filter(|needed| **needed != node) {
            builder.graph.connect(*needed, node);
        }
    }
    orphans
}

/// What errors call the objects of an instance, as the reference does.
fn users(state: &State, addr: &AbsResourceInstance, gone: Gone) -> Vec<String> {
    let Some(instance) = state.instance(addr) else { return Vec::new() };
    let step = match gone {
        Gone::Everything => "destroy",
        Gone::Orphaned => "orphan",
    };
    let current = instance.current.iter().map(|_| format!("{addr} ({step})"));
    current.chain(instance.deposed.keys().map(|key| format!("{addr} (deposed {key})"))).collect()
}

/// Data sources are dropped from the state without a request.
fn needs_provider(resource: &ConfigResource) -> bool {
    resource.resource.mode != ResourceMode::Data
}

/// The provider configuration of the block; without a block, the one that the state names.
fn provider_of(builder: &mut Builder<'_>, resource: &ConfigResource, stored: &AbsProviderConfig) -> Option<ProviderId> {
    let block = builder.tree.find_resource(resource);
    match block.and_then(|block| builder.provider_of.get(&block).copied()) {
        Some(provider) => Some(provider),
        None => resolve_stored(builder.tree, stored).map(|addr| builder.provider(addr)),
    }
}

/// Objects without a block belong to their module as blocks do, as long as there is one: what depends on the module waits
/// for them.
fn connect_module(builder: &mut Builder<'_>, node: NodeId, resource: &ConfigResource) {
    let Some(module) = builder.tree.find(&resource.module) else { return };
    if let Some(call) = builder.expansion_of(module) {
        builder.graph.connect(node, call);
        builder.graph.connect(builder.close(module), node);
    }
}

/// A `prevent_destroy` that is an expression has to be known before anything of its block is destroyed. Returns the
/// blocks of the resources that it refers to.
fn wait_for_prevention(builder: &mut Builder<'_>, node: NodeId, block: ResourceId) -> Vec<ResourceId> {
    let lifecycle = &builder.tree.resource(block).lifecycle;
    let PreventDestroy::If(expr) = &lifecycle.prevent_destroy else { return Vec::new() };
    let mut blocks = Vec::new();
    let mut gatherer = Gatherer::new(builder.tree, builder.schemas, block.module);
    gatherer.expression(expr);
    for need in gatherer.needs.on {
        let to = builder.node_of(&need);
        builder.graph.connect(node, to);
        if let Need::Resource(id, _) = need {
            blocks.push(id);
        }
    }
    blocks
}
