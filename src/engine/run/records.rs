//! What steps of a run put down besides values: states, changes and checks.
//!
//! Each is behind a separate lock in [`super::results::Results`]. Never knows steps.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::addr::{AbsResource, ConfigResource};
use crate::model::plan::{Action, ActionInvocation, OutputChange, ResourceChange};
use crate::model::state::State;

use super::results::CheckRecord;

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
    by_resource: FxHashMap<AbsResource, Vec<usize>>,
    /// Resources with planned changes: by block, and by block and module instance.
    pub pending: FxHashSet<ConfigResource>,
    pub pending_in: FxHashSet<AbsResource>,
}

impl PlannedChanges {
    pub fn add(&mut self, change: ResourceChange) {
        let resource = change.addr.containing_resource();
        if change.action != Action::NoOp {
            self.pending.insert(resource.config());
            self.pending_in.insert(resource.clone());
        }
        self.by_resource.entry(resource).or_default().push(self.resources.len());
        self.resources.push(change);
    }

    /// The planned changes of a resource in one module instance.
    pub fn of(&self, resource: &AbsResource) -> impl Iterator<Item = &ResourceChange> {
        self.by_resource.get(resource).into_iter().flatten().map(|index| &self.resources[*index])
    }
}

/// How conditions held.
#[derive(Default)]
pub struct Checks {
    pub records: Vec<CheckRecord>,
    /// Addresses of check blocks whose data could not be read.
    pub failed: FxHashSet<String>,
}
