//! Moves that follow from the configuration: a resource that gains or loses `count` keeps its first instance.

use std::collections::BTreeMap;

use super::tree::Tree;
use crate::model::addr::{AbsResourceInstance, InstanceKey};
use crate::model::state::State;

/// Applies the moves to the state. Returns new addresses with the old ones.
pub fn apply_implied(tree: &Tree, state: &mut State) -> BTreeMap<AbsResourceInstance, AbsResourceInstance> {
    let mut moved = BTreeMap::new();
    for (addr, resource) in &mut state.resources {
        let Some((module, index)) = tree.find_resource(&addr.config()) else { continue };
        let config = tree.resource(module, index);
        let (from, to) = match (config.count.is_some(), config.for_each.is_some()) {
            (true, _) => (InstanceKey::None, InstanceKey::Int(0)),
            (false, false) => (InstanceKey::Int(0), InstanceKey::None),
            (false, true) => continue,
        };
        if resource.instances.contains_key(&to) {
            continue;
        }
        if let Some(instance) = resource.instances.remove(&from) {
            resource.instances.insert(to.clone(), instance);
            moved.insert(addr.instance(to), addr.instance(from));
        }
    }
    moved
}
