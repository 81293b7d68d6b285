//! Which instances a resource block has in apply, destroy and evaluation, and the values of those that nothing will change.
//! In a plan, `block` expands them.

use std::sync::Arc;

use base::diag::Diagnostics;
use model::addr::{AbsResource, InstanceKey};
use terrane_protocol::schema::Schema;
use terrane_value::Value;

use crate::ids::ResourceId;
use crate::run::module_scope::ModuleScope;
use crate::run::object::decode;
use crate::run::results::{Expansion, ModuleSlots, ResourceSlots};
use crate::run::{Prior, Run, Verb};
use crate::step::expansion::{Unknown, expand};

/// In apply: expands the block; instances without a task take their values from the state, or from the plan if they are deferred.
pub fn run(run: &Run, block: ResourceId) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let config = run.blocks.tree.resource(block);
    for instance in run.results.module_instances(block.module) {
        let scope = ModuleScope::new(run, instance);
        let found = expand(config.repetition(), &scope, Unknown::of_run(run));
        let Some(expansion) = diagnostics.take(found) else { continue };
        fill(run, instance, block, expansion.within(&instance.addr));
    }
    diagnostics
}

/// In a destroy, and when expressions are evaluated with the state: uses the instances of the state, not those of the
/// configuration. A resource that is not in the state has no value then.
pub fn from_state(run: &Run, block: ResourceId) -> Diagnostics {
    let config = run.blocks.tree.resource(block);
    for instance in run.results.module_instances(block.module) {
        let resource = config.addr.absolute(instance.addr.clone());
        let stored = run.prior.state.resources.get(&resource);
        if run.verb == Verb::Evaluate && stored.is_none() {
            continue;
        }
        let keys: Vec<&InstanceKey> = stored.into_iter().flat_map(|r| r.instances.keys()).collect();
        let expansion = if config.count.is_some() {
            let indices = keys.iter().filter_map(|k| match k {
                InstanceKey::Int(i) => usize::try_from(*i).ok(),
                _ => None,
            });
            let mut indices: Vec<usize> = indices.collect();
            indices.sort_unstable();
            Expansion::Stored(indices.into())
        } else if config.for_each.is_some() {
            let entries = keys.iter().filter_map(|k| match k {
                InstanceKey::Str(s) => Some((s.clone(), Value::dynamic())),
                _ => None,
            });
            Expansion::ForEach(entries.collect())
        } else if config.lifecycle.enabled.is_some() {
            Expansion::Enabled(!keys.is_empty())
        } else {
            Expansion::Single
        };
        fill(run, instance, block, expansion);
    }
    Diagnostics::new()
}

fn fill(run: &Run, instance: &Arc<ModuleSlots>, block: ResourceId, expansion: Expansion) {
    let config = run.blocks.tree.resource(block);
    let resource = config.addr.absolute(instance.addr.clone());
    let slots = ResourceSlots::new(expansion);
    if let Some(schema) = run.blocks.schemas.resource(&config.provider, &config.addr) {
        for (i, slot) in slots.instances.iter().enumerate() {
            let addr = resource.instance(slots.expansion.key(i));
            if !run.schedule.awaited.contains(&addr) {
                let planned = run.inputs.deferred.object(&addr).cloned();
                slot.publish(planned.or_else(|| stored_value(&run.prior, &resource, addr.key(), &schema)));
            }
        }
    }
    let _ = slots.complete.set(());
    let _ = instance.resources[block.index()].set(slots);
}

/// The value of an instance as the state has it.
pub fn stored_value(prior: &Prior, resource: &AbsResource, key: &InstanceKey, schema: &Schema) -> Option<Value> {
    let object = prior.state.resources.get(resource)?.instances.get(key)?.current.as_ref()?;
    decode(object, schema).ok().map(|stored| stored.value)
}
