//! What a plan left to a later one, as its apply has to know: references to it stay unknown.

use model::addr::{ConfigResource, InstanceKey, Module, ModuleInstance};
use model::plan::DeferredChange;
use rustc_hash::FxHashSet;

/// The blocks with deferred changes. Their conditions, counts and keys may be known in apply, but nothing is done yet.
#[derive(Default)]
pub struct DeferredBlocks {
    resources: FxHashSet<ConfigResource>,
    /// Called modules whose instances were not known.
    modules: FxHashSet<Module>,
}

impl DeferredBlocks {
    pub fn of(changes: &[DeferredChange]) -> DeferredBlocks {
        let mut found = DeferredBlocks::default();
        for deferred in changes {
            let addr = &deferred.change.addr;
            found.resources.insert(addr.config());
            found.modules.extend(undecided(&addr.module));
        }
        found
    }

    /// `addr` is asked for only if there is anything to compare it with.
    pub fn has_resource(&self, addr: impl FnOnce() -> ConfigResource) -> bool {
        !self.resources.is_empty() && self.resources.contains(&addr())
    }

    pub fn has_module(&self, path: &Module) -> bool {
        self.modules.contains(path)
    }
}

/// The modules on the way to an instance that have placeholders.
fn undecided(instance: &ModuleInstance) -> impl Iterator<Item = Module> {
    let steps = instance.0.iter().enumerate().filter(|(_, step)| step.key == InstanceKey::Wildcard);
    steps.map(|(last, _)| Module(instance.0[..=last].iter().map(|step| step.name.clone()).collect()))
}
