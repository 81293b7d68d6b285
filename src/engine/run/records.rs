//! What steps of a run put down besides values: states, changes and checks.
//!
//! Each is behind a separate lock in [`super::results::Results`]. Never knows steps.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::dialect::Dialect;
use model::addr::{AbsResource, AbsResourceInstance, ConfigResource, InstanceKey};
use model::plan::{
    Action, ActionInvocation, DeferredChange, DeferredInvocation, DeferredReason, OutputChange, ResourceChange,
};
use model::state::{CheckStatus, State};
use rustc_hash::{FxHashMap, FxHashSet};

/// The states that a run builds.
#[derive(Default)]
pub struct States {
    /// The state as it becomes: refreshed in plan, the working state in apply.
    pub current: State,
    /// The state as read, brought to current schemas.
    pub previous: State,
}

/// What a plan is made of.
#[derive(Default)]
pub struct PlannedChanges {
    pub resources: Vec<ResourceChange>,
    /// Those of one object are added at once, in their order.
    pub invocations: Vec<Arc<ActionInvocation>>,
    pub drift: Vec<ResourceChange>,
    pub outputs: Vec<OutputChange>,
    /// An output of a module other than the root was evaluated.
    pub has_module_outputs: bool,
    pub deferred: Vec<DeferredChange>,
    pub deferred_invocations: Vec<DeferredInvocation>,
    /// Something is left to a later plan, be it in `deferred` or not.
    pub has_deferrals: bool,
    /// Resources with deferred instances.
    deferred_resources: FxHashSet<ConfigResource>,
    /// Instances whose planned change was deferred later.
    withdrawn: FxHashSet<AbsResourceInstance>,
    by_resource: FxHashMap<AbsResource, OfResource>,
    /// Resources with planned changes: by block, and by block and module instance.
    pub pending: FxHashSet<ConfigResource>,
    pub pending_in: FxHashSet<AbsResource>,
}

/// The planned changes of a resource in one module instance, as positions among all.
#[derive(Default)]
struct OfResource {
    all: Vec<usize>,
    /// Those of current objects by instance, as far as they were asked for.
    current: FxHashMap<InstanceKey, usize>,
    /// So many of `all` are in `current`.
    keyed: usize,
    /// What becomes of the current objects.
    of_current: BTreeSet<Action>,
}

impl PlannedChanges {
    pub fn add(&mut self, change: ResourceChange) {
        let resource = change.addr.containing_resource();
        if change.action != Action::NoOp {
            self.pending.insert(resource.config());
            self.pending_in.insert(resource.clone());
        }
        let of_resource = self.by_resource.entry(resource).or_default();
        of_resource.all.push(self.resources.len());
        if change.deposed.is_none() {
            of_resource.of_current.insert(change.action);
        }
        self.resources.push(change);
    }

    /// Leaves a change to a later plan, and with it all that depends on its resource.
    pub fn defer(&mut self, change: ResourceChange, reason: DeferredReason) {
        self.has_deferrals = true;
        self.deferred_resources.insert(change.addr.config());
        self.deferred.push(DeferredChange { reason, change });
    }

    /// Leaves a change that was added already to a later plan.
    pub fn withdraw(&mut self, change: ResourceChange, reason: DeferredReason) {
        self.withdrawn.insert(change.addr.clone());
        self.defer(change, reason);
    }

    pub fn defer_invocation(&mut self, invocation: ActionInvocation, reason: DeferredReason) {
        self.has_deferrals = true;
        self.deferred_invocations.push(DeferredInvocation { reason, invocation: Arc::new(invocation) });
    }

    /// The changes to apply.
    pub fn take_resources(&mut self) -> Vec<ResourceChange> {
        let mut changes = std::mem::take(&mut self.resources);
        changes.retain(|change| change.deposed.is_some() || !self.withdrawn.contains(&change.addr));
        changes.shrink_to_fit();
        changes
    }

    /// True if one of the resources has a deferred instance.
    pub fn defers_any(&self, resources: &[ConfigResource]) -> bool {
        !self.deferred_resources.is_empty() && resources.iter().any(|of| self.deferred_resources.contains(of))
    }

    /// The planned changes of a resource in one module instance.
    pub fn of(&self, resource: &AbsResource) -> impl Iterator<Item = &ResourceChange> {
        self.by_resource.get(resource).into_iter().flat_map(|of| &of.all).map(|index| &self.resources[*index])
    }

    /// Whether a change of a current object of a resource in one module instance triggers replacements; none without such objects.
    pub fn changes_any_current(&self, resource: &AbsResource, dialect: Dialect) -> Option<bool> {
        let of_current =
            self.by_resource.get(resource).map(|of| &of.of_current).filter(|actions| !actions.is_empty())?;
        Some(of_current.iter().any(|action| action.triggers(dialect)))
    }

    /// The planned change of the current object of an instance.
    pub fn of_current(&mut self, resource: &AbsResource, key: &InstanceKey) -> Option<&ResourceChange> {
        let of_resource = self.by_resource.get_mut(resource)?;
        for index in &of_resource.all[of_resource.keyed..] {
            let change = &self.resources[*index];
            if change.deposed.is_none() {
                of_resource.current.entry(change.addr.key().clone()).or_insert(*index);
            }
        }
        of_resource.keyed = of_resource.all.len();
        of_resource.current.get(key).map(|index| &self.resources[*index])
    }
}

/// The result of one condition of one object.
#[derive(Clone, Debug)]
pub struct CheckRecord {
    pub kind: &'static str,
    pub config_addr: String,
    pub addr: String,
    pub status: CheckStatus,
    pub message: Option<String>,
}

/// How conditions held.
#[derive(Default)]
pub struct Checks {
    pub records: Vec<CheckRecord>,
    /// Addresses of check blocks whose data could not be read.
    pub failed: FxHashSet<String>,
}
