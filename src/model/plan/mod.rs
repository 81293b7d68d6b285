//! The plan and its changes, and the plan file.
//!
//! Owns the content of plans and their format. Never knows how a plan is created or applied.

mod action;
mod change;
mod deferred;
mod destruction_order;
pub mod document;
pub mod file;
mod invocation;
mod query;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use action::{Action, ActionReason};
pub use change::{Change, IdentityChange, Importing, OutputChange, ResourceChange};
pub use deferred::{DeferredChange, DeferredInvocation, DeferredReason};
pub use invocation::{ActionInvocation, InvocationTrigger, LifecycleTrigger};
use lang::functions::signature::Fingerprint;
pub use query::{GeneratedImport, ListResults, ListedObject};
use terrane_value::Value;

use crate::addr::{AbsActionInstance, AbsResourceInstance, Target};
use crate::state::{CheckResult, State};

/// Which stored objects a plan reads, to see what has changed outside of this program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refresh {
    All,
    /// Those with a planned change.
    Changed,
    /// None: they are taken as they are.
    #[default]
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    #[default]
    Normal,
    Destroy,
    RefreshOnly,
}

/// Fingerprints of results by those of the calls.
pub type FunctionResults = BTreeMap<Fingerprint, Fingerprint>;

/// A plan: everything that apply needs beside the configuration.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub mode: Mode,
    /// Sorted by address, then deposed key. No-op changes are included.
    pub changes: Vec<ResourceChange>,
    /// The actions to invoke, those of one object in their order.
    pub invocations: Vec<Arc<ActionInvocation>>,
    /// What a later plan decides. Sorted by address. Apply leaves these objects as they are.
    pub deferred: Vec<DeferredChange>,
    pub deferred_invocations: Vec<DeferredInvocation>,
    /// What the refresh found changed outside; includes moves alone. Sorted by address.
    pub drift: Vec<ResourceChange>,
    /// Root outputs, unchanged ones included; sorted by name.
    pub outputs: Vec<OutputChange>,
    /// An output of a module other than the root was evaluated. Not kept in files.
    pub has_module_outputs: bool,
    /// Values of root variables as given (not defaults), with what the caller needs to give them again.
    pub variables: BTreeMap<Arc<str>, Value>,
    /// Ephemeral variables that had a value when the plan was made: applying it needs their values again.
    pub ephemeral_variables: Vec<Arc<str>>,
    pub targets: Vec<Target>,
    /// What OpenTofu's `-exclude` left out, with all that depends on it.
    pub excludes: Vec<Target>,
    pub force_replace: Vec<AbsResourceInstance>,
    /// Actions that were asked for: then nothing else happens.
    pub requested_actions: Vec<AbsActionInstance>,
    /// The state before refresh, as read.
    pub previous_state: State,
    /// The state after refresh: what the changes start from.
    pub prior_state: State,
    pub checks: Vec<CheckResult>,
    /// `plantimestamp()`, RFC 3339.
    pub timestamp: String,
    /// References of resource attributes that contributed to the plan: resource address text and path text of each.
    pub relevant_attributes: Vec<(AbsResourceInstance, terrane_value::Path)>,
    /// What functions gave that look outside: what they give in apply must be the same.
    pub function_results: FunctionResults,
    /// False if planning failed or nothing is to be done.
    pub applyable: bool,
    /// False with targets, deferrals or errors: another plan is needed to converge.
    pub complete: bool,
    pub errored: bool,
    /// OpenTofu made it, and what it says as JSON is what OpenTofu says.
    pub is_of_opentofu: bool,
}

impl Plan {
    /// True if the plan leaves something to a later one, for another reason than its targets.
    pub fn has_deferrals(&self) -> bool {
        !self.deferred.is_empty()
            || !self.deferred_invocations.is_empty()
            || !self.complete && !self.errored && self.targets.is_empty() && self.excludes.is_empty()
    }

    /// True if planning got as far as an object or an output.
    pub fn has_begun(&self) -> bool {
        !self.changes.is_empty() || !self.outputs.is_empty() || self.has_module_outputs
    }

    /// True if something is to be done to an object (not counting outputs).
    pub fn has_resource_changes(&self) -> bool {
        self.changes.iter().any(|change| change.action != Action::NoOp)
    }
}
