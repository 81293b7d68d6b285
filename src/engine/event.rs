//! The events of a run. They inform, and never control it.

use std::sync::Arc;
use std::time::Duration;

use base::diag::Diagnostics;
use model::addr::{AbsResourceInstance, Provider};
use model::plan::{Action, ActionInvocation, ListPolicies, ListResults, PolicyReport};
use model::state::DeposedKey;
use terrane_value::Value;

#[derive(Clone, Debug)]
pub enum Event {
    /// A part of the run begins, and the one before it is over. No stream for programs has it.
    Phase(Phase),
    /// A stored object is about to be compared with reality. `label`: names the object in reports.
    RefreshStarted {
        addr: AbsResourceInstance,
        deposed: Option<DeposedKey>,
        label: Option<ObjectLabel>,
    },
    RefreshFinished {
        addr: AbsResourceInstance,
        deposed: Option<DeposedKey>,
        label: Option<ObjectLabel>,
    },
    /// The provider did not say what became of the object. No stream for programs has it.
    RefreshFailed {
        addr: AbsResourceInstance,
        deposed: Option<DeposedKey>,
    },
    /// A data source is about to be read.
    ReadStarted {
        addr: AbsResourceInstance,
    },
    ReadFinished {
        addr: AbsResourceInstance,
        label: Option<ObjectLabel>,
        elapsed: Duration,
        failed: bool,
    },
    /// A provider is about to change an object.
    ApplyStarted {
        addr: AbsResourceInstance,
        deposed: Option<DeposedKey>,
        action: Action,
        label: Option<ObjectLabel>,
    },
    ApplyFinished {
        addr: AbsResourceInstance,
        deposed: Option<DeposedKey>,
        action: Action,
        label: Option<ObjectLabel>,
        elapsed: Duration,
        failed: bool,
    },
    /// Nothing changed in the plan for this object.
    Unchanged {
        addr: AbsResourceInstance,
    },
    ProvisionStarted {
        addr: AbsResourceInstance,
        kind: Arc<str>,
    },
    ProvisionOutput {
        addr: AbsResourceInstance,
        kind: Arc<str>,
        text: String,
        /// What `text` stands for if it is suppressed: shown with -show-sensitive only.
        sensitive: Option<String>,
    },
    ProvisionFinished {
        addr: AbsResourceInstance,
        kind: Arc<str>,
        failed: bool,
    },
    ActionStarted(Arc<ActionInvocation>),
    /// What the provider says of an action while it runs.
    ActionProgress {
        invocation: Arc<ActionInvocation>,
        message: String,
    },
    ActionFinished {
        invocation: Arc<ActionInvocation>,
        /// Why it failed.
        error: Option<String>,
    },
    EphemeralStarted {
        addr: AbsResourceInstance,
        verb: EphemeralVerb,
    },
    EphemeralFinished {
        addr: AbsResourceInstance,
        verb: EphemeralVerb,
        elapsed: Duration,
        failed: bool,
    },
    /// An ephemeral resource is not opened, because its configuration is not known yet.
    EphemeralDeferred {
        addr: AbsResourceInstance,
    },
    /// An object is about to be read for the first time, to be managed from then on. `by`: what names it, such as `id=i-1`.
    ImportPlanned {
        addr: AbsResourceInstance,
        by: String,
    },
    /// The import command is about to ask for an object.
    ImportRequested {
        addr: AbsResourceInstance,
        id: Arc<str>,
    },
    /// The provider knows the object: the types of all that belongs to it.
    ImportPrepared {
        addr: AbsResourceInstance,
        kinds: Vec<Arc<str>>,
    },
    /// In apply: what the plan imported becomes part of the state.
    ImportStarted {
        addr: AbsResourceInstance,
        by: String,
    },
    ImportFinished {
        addr: AbsResourceInstance,
        by: String,
    },
    /// A provider is about to be asked for the objects that exist. `config`: the settings; none: there are none. `sensitive`: the
    /// paths of those that are.
    ListStarted {
        addr: AbsResourceInstance,
        config: Option<Value>,
        sensitive: Vec<String>,
    },
    /// A list is complete.
    ListFinished(Arc<ListResults>),
    /// Policies were evaluated for an object, a provider configuration or a module instance.
    PolicyResult(Arc<PolicyReport>),
    /// Policies were evaluated for the objects that a query found: those of each instance of a `list` block, in the order of the blocks.
    QueryPolicies(Arc<Vec<ListPolicies>>),
    /// A provider has not answered a request for some time; the reference reports none of these requests.
    RequestPending {
        /// The address of a resource or of a provider configuration.
        subject: String,
        provider: Provider,
        /// The name in the plugin protocol.
        request: &'static str,
        elapsed: Duration,
        /// The run was interrupted and waits for the answer.
        stopping: bool,
    },
    /// Found on the way and shown at once rather than at the end.
    Diagnostics(Diagnostics),
}

/// The parts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The schemas of the providers are read.
    Schemas,
    /// The order of the steps is found.
    Graph,
    Validate,
    /// `objects`: how many stored objects are compared with reality; none if that is not known before.
    Plan {
        objects: Option<usize>,
    },
    Apply,
    Import,
    Query,
}

/// The attribute that names an object in reports: its `id`, or what stands for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectLabel {
    /// The name of the attribute, such as `id` or `tags.Name`.
    pub key: String,
    /// May be empty.
    pub value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EphemeralVerb {
    Open,
    Renew,
    Close,
}
