//! The plan and its changes, and the plan file.
//!
//! Owns the content of plans and their format. Never knows how a plan is created or applied.

mod action;
mod change;
mod deferred;
mod deny;
mod destruction_order;
pub mod document;
pub mod file;
mod invocation;
mod policy_report;
mod query;
mod query_policies;
mod request;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use action::{Action, ActionReason};
pub use change::{Change, IdentityChange, Importing, OutputChange, ResourceChange};
pub use deferred::{DeferredChange, DeferredInvocation, DeferredReason};
pub use deny::{DeniedChange, DenyRule, InvalidDenyRule};
pub use invocation::{ActionInvocation, InvocationTrigger, LifecycleTrigger};
use lang::functions::signature::Fingerprint;
pub use policy_report::{
    PolicyFinding, PolicyInfo, PolicyOutcome, PolicyReport, PolicyVerdict, UndecidedPolicy, policy_id,
};
pub use query::{GeneratedImport, ListResults, ListedObject};
pub use query_policies::{ListPolicies, ObjectPolicies};
pub use request::{DEFAULT_PARALLELISM, Mode, PlanScope, Refresh};
use terrane_value::Value;

use crate::addr::AbsResourceInstance;
use crate::state::{CheckResult, State};

/// Fingerprints of results by those of the calls.
pub type FunctionResults = BTreeMap<Fingerprint, Fingerprint>;

/// A plan: everything that apply needs beside the configuration.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// What it was asked for. A plan that is read from a file has the defaults of what its format does not keep: of what only
    /// matters while a plan is made.
    pub scope: PlanScope,
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
    /// False with targets, exclusions, deferrals or errors: another plan is needed to converge.
    pub complete: bool,
    pub errored: bool,
    /// What denied the plan: policies and rules of `-deny`, as people read them. Such a plan is errored.
    pub denied_by: Vec<String>,
    /// Mandatory policies whose results are not known before apply.
    pub undecided_policies: Vec<UndecidedPolicy>,
    /// OpenTofu made it, and what it says as JSON is what OpenTofu says.
    pub is_of_opentofu: bool,
}

impl Plan {
    /// True if the plan leaves something to a later one, for another reason than its targets and exclusions.
    pub fn has_deferrals(&self) -> bool {
        !self.deferred.is_empty()
            || !self.deferred_invocations.is_empty()
            || !self.complete && !self.errored && self.scope.is_whole()
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
