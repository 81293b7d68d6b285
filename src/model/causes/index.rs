//! The changes of a plan by the resource that they belong to.
//!
//! Owns the look-ups. Never knows references.

use std::collections::{BTreeMap, BTreeSet};

use terrane_value::{Path, Value};

use super::ChangeSummary;
use crate::addr::{AbsResource, AbsResourceInstance, ConfigResource, InstanceKey, ModuleInstance};
use crate::config::{self, Config};
use crate::plan::{Action, DeferredReason, Plan, ResourceChange};
use crate::state::Object;

pub struct Index<'p> {
    pub plan: &'p Plan,
    pub config: &'p Config,
    by_resource: BTreeMap<AbsResource, Vec<IndexedChange<'p>>>,
    /// By the block, for what the state knows of dependencies.
    by_block: BTreeMap<ConfigResource, Vec<IndexedChange<'p>>>,
    modules: BTreeSet<ModuleInstance>,
}

/// A change of a current or deposed object, and why it is deferred if it is.
#[derive(Clone, Copy)]
pub struct IndexedChange<'p> {
    pub change: &'p ResourceChange,
    pub deferred: Option<DeferredReason>,
}

impl IndexedChange<'_> {
    pub fn summary(&self) -> ChangeSummary {
        ChangeSummary { action: self.change.action, reason: self.change.reason, deferred: self.deferred }
    }

    /// Something is done, now or by a later plan.
    pub fn is_pending(&self) -> bool {
        self.deferred.is_some() || self.change.action != Action::NoOp
    }

    /// Whether the part of the object at a path is another one afterwards.
    pub fn changes_at(&self, path: &Path) -> bool {
        let change = &self.change.change;
        self.is_pending() && !is_same(value_at(&change.before, path), value_at(&change.after, path))
    }

    /// Whether the part of the object at a path is known only after apply.
    pub fn is_unknown_at(&self, path: &Path) -> bool {
        let value = value_at(&self.change.change.after, path);
        self.is_pending() && value.is_some_and(|value| !value.is_wholly_known())
    }
}

impl<'p> Index<'p> {
    pub fn of(plan: &'p Plan, config: &'p Config) -> Index<'p> {
        let mut index =
            Index { plan, config, by_resource: BTreeMap::new(), by_block: BTreeMap::new(), modules: BTreeSet::new() };
        for change in &plan.changes {
            index.add(IndexedChange { change, deferred: None });
        }
        for deferred in &plan.deferred {
            index.add(IndexedChange { change: &deferred.change, deferred: Some(deferred.reason) });
        }
        index
    }

    fn add(&mut self, found: IndexedChange<'p>) {
        let resource = found.change.addr.containing_resource();
        let mut module = Some(resource.module.clone());
        while let Some(next) = module {
            module = next.parent();
            self.modules.insert(next);
        }
        self.by_block.entry(resource.config()).or_default().push(found);
        self.by_resource.entry(resource).or_default().push(found);
    }

    /// All changes, deposed objects included, sorted by address.
    pub fn all(&self) -> impl Iterator<Item = IndexedChange<'p>> + '_ {
        self.by_resource.values().flatten().copied()
    }

    /// The objects at an address: the current one and the deposed ones.
    pub fn at(&self, addr: &AbsResourceInstance) -> Vec<IndexedChange<'p>> {
        let all = self.by_resource.get(&addr.containing_resource()).into_iter().flatten();
        all.filter(|found| found.change.addr == *addr).copied().collect()
    }

    /// The current objects of a resource: with a key, those of that instance, and those whose keys are not known yet.
    pub fn current(&self, resource: &AbsResource, key: Option<&InstanceKey>) -> Vec<IndexedChange<'p>> {
        let is_meant = |found: &IndexedChange<'_>| {
            let own = found.change.addr.key();
            found.change.deposed.is_none() && key.is_none_or(|key| key == own || *own == InstanceKey::Wildcard)
        };
        let all = self.by_resource.get(resource).into_iter().flatten();
        all.filter(|found| is_meant(found)).copied().collect()
    }

    /// The objects of a block, in the module instances that an object in `seen_from` depends on.
    pub fn of_block(&self, block: &ConfigResource, seen_from: &ModuleInstance) -> Vec<IndexedChange<'p>> {
        let all = self.by_block.get(block).into_iter().flatten();
        // Instances of one module do not depend on each other.
        let is_meant = |found: &&IndexedChange<'p>| {
            let module = &found.change.addr.module;
            module.module() != seen_from.module() || module == seen_from
        };
        all.filter(is_meant).copied().collect()
    }

    /// The objects in a module instance and in those below it.
    pub fn within(&self, module: &ModuleInstance) -> Vec<IndexedChange<'p>> {
        self.all().filter(|found| found.change.addr.module.starts_with(module)).collect()
    }

    /// The instances of a module call that the plan knows; with a key, that one alone. Without any, the one that the key names.
    pub fn children(&self, module: &ModuleInstance, call: &str, key: Option<&InstanceKey>) -> Vec<ModuleInstance> {
        let is_meant = |child: &&ModuleInstance| {
            let last = child.last().filter(|step| &*step.name == call);
            let key = |own: &InstanceKey| key.is_none_or(|key| key == own || *own == InstanceKey::Wildcard);
            child.0.len() == module.0.len() + 1 && child.starts_with(module) && last.is_some_and(|step| key(&step.key))
        };
        let found: Vec<ModuleInstance> = self.modules.iter().filter(is_meant).cloned().collect();
        match found.is_empty() {
            true => vec![module.child(call, key.cloned().unwrap_or_default())],
            false => found,
        }
    }

    /// What an object depends on by the state.
    pub fn dependencies_in_state(&self, found: &IndexedChange<'_>) -> &'p [ConfigResource] {
        self.object_in_state(found).map_or(&[], |object| &*object.dependencies)
    }

    /// Whether the state has the object.
    pub fn is_in_state(&self, found: &IndexedChange<'_>) -> bool {
        self.object_in_state(found).is_some()
    }

    /// Whether the state says that a new object comes before the old one goes.
    pub fn is_created_before_destroyed(&self, found: &IndexedChange<'_>) -> bool {
        self.object_in_state(found).is_some_and(|object| object.create_before_destroy)
    }

    fn object_in_state(&self, found: &IndexedChange<'_>) -> Option<&'p Object> {
        let instance = self.plan.prior_state.instance(&found.change.addr)?;
        match &found.change.deposed {
            Some(key) => instance.deposed.get(key),
            None => instance.current.as_ref(),
        }
    }

    pub fn module(&self, instance: &ModuleInstance) -> Option<&'p config::Module> {
        self.config.module(&instance.module()).map(|module| &**module)
    }

    /// The block of an object.
    pub fn block(&self, addr: &AbsResourceInstance) -> Option<&'p config::Resource> {
        self.module(&addr.module)?.resources.get(&addr.resource.resource)
    }
}

/// The part of a value at a path. Each part of an unknown value is that unknown value.
fn value_at<'v>(value: &'v Value, path: &Path) -> Option<&'v Value> {
    let mut part = value;
    for step in path.steps() {
        if !part.is_known() {
            break;
        }
        part = part.step(step)?;
    }
    Some(part)
}

/// Whether two values are the same but for their marks. An unknown value is none that was there before.
pub fn is_same(before: Option<&Value>, after: Option<&Value>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => {
            before.same_storage(after) || after.is_wholly_known() && before.unmark_deep().0 == after.unmark_deep().0
        }
        (None, None) => true,
        (Some(value), None) | (None, Some(value)) => value.is_null(),
    }
}
