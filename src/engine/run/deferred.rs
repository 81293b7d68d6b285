//! The deferred changes of a plan, as its apply needs them: references see the planned objects.

use model::addr::{AbsResourceInstance, ConfigResource, InstanceKey, Module, ModuleInstance};
use model::plan::DeferredChange;
use rustc_hash::{FxHashMap, FxHashSet};
use terrane_protocol::schema::ResourceMode;
use terrane_value::Value;

use crate::run::results::is_placeholder;

/// The blocks with deferred changes. Their conditions, counts and keys may be known in apply, but nothing is done yet.
#[derive(Default)]
pub struct DeferredBlocks {
    resources: FxHashSet<ConfigResource>,
    /// Those whose instances were not known: references to them stay unknown.
    undecided: FxHashSet<ConfigResource>,
    /// Called modules whose instances were not known.
    modules: FxHashSet<Module>,
    /// The planned objects of the instances that were known.
    objects: FxHashMap<AbsResourceInstance, Value>,
}

impl DeferredBlocks {
    pub fn of(changes: &[DeferredChange]) -> DeferredBlocks {
        let mut found = DeferredBlocks::default();
        for DeferredChange { change, .. } in changes {
            let addr = &change.addr;
            found.resources.insert(addr.config());
            if *addr.key() == InstanceKey::Wildcard || is_placeholder(&addr.module) {
                found.undecided.insert(addr.config());
                found.modules.extend(undecided(&addr.module));
            } else if change.deposed.is_none() && !change.change.after.is_null() {
                found.objects.insert(addr.clone(), change.change.after.clone());
            }
        }
        found
    }

    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    pub fn has_resource(&self, addr: &ConfigResource) -> bool {
        self.resources.contains(addr)
    }

    /// Whether managed objects of a type are deferred.
    pub fn has_kind(&self, kind: &str) -> bool {
        self.resources.iter().any(|addr| addr.resource.mode == ResourceMode::Managed && &*addr.resource.kind == kind)
    }

    /// Whether the instances of a block were not known. `addr` is asked for only if there is anything to compare it with.
    pub fn is_undecided(&self, addr: impl FnOnce() -> ConfigResource) -> bool {
        !self.undecided.is_empty() && self.undecided.contains(&addr())
    }

    pub fn has_module(&self, path: &Module) -> bool {
        self.modules.contains(path)
    }

    /// The planned object of an instance; none if nothing of it is deferred, or its destruction.
    pub fn object(&self, addr: &AbsResourceInstance) -> Option<&Value> {
        self.objects.get(addr)
    }
}

/// The modules on the way to an instance that have placeholders.
fn undecided(instance: &ModuleInstance) -> impl Iterator<Item = Module> {
    let steps = instance.0.iter().enumerate().filter(|(_, step)| step.key == InstanceKey::Wildcard);
    steps.map(|(last, _)| Module(instance.0[..=last].iter().map(|step| step.name.clone()).collect()))
}
