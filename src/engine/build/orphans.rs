//! Objects of the state that no block claims: who deletes them, and through which provider configuration.

use std::collections::BTreeMap;

use crate::engine::graph::Node;
use crate::engine::provider_configs::{not_present, resolve_stored};
use crate::engine::run::Orphans;
use crate::model::addr::{AbsProviderConfig, AbsResourceInstance, ConfigResource};
use crate::model::state::State;

use super::config::Builder;

/// Adds a node for every resource of the state that has no block; with `all`, for every resource.
pub fn add(builder: &mut Builder<'_>, state: &State, all: bool) -> Vec<Orphans> {
    let mut groups: BTreeMap<(ConfigResource, AbsProviderConfig), Vec<AbsResourceInstance>> = BTreeMap::new();
    for (addr, provider, _) in state.instances() {
        let resource = addr.config();
        if all || builder.tree.find_resource(&resource).is_none() {
            groups.entry((resource, provider.clone())).or_default().push(addr);
        }
    }
    let mut orphans = Vec::new();
    for ((resource, stored), instances) in groups {
        let known = builder.tree.find_resource(&resource).and_then(|block| builder.provider_of.get(&block).copied());
        let provider = match known {
            Some(provider) => Some(provider),
            None => resolve_stored(builder.tree, &stored).map(|addr| builder.provider(addr)),
        };
        let Some(provider) = provider else {
            let user = instances.first().map_or_else(|| resource.to_string(), ToString::to_string);
            builder.diagnostics.push(not_present(&user, &stored));
            continue;
        };
        let node = builder.add(Node::Orphans(orphans.len() as u32));
        builder.graph.connect(node, builder.provider_nodes[provider as usize]);
        orphans.push(Orphans { resource, provider, instances });
    }
    orphans
}
