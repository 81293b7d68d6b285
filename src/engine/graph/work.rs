//! The work of nodes without a block: orphaned objects, and the changes of an apply.

use std::sync::Arc;

use crate::ids::{ActionId, ProviderId, ResourceId};
use model::addr::{AbsActionInstance, AbsResourceInstance, ConfigResource};
use model::plan::{ActionInvocation, ResourceChange};

/// Objects in the state without a block, of one resource.
#[derive(Clone, Debug)]
pub struct Orphans {
    pub resource: ConfigResource,
    /// None for data sources: they are dropped from the state without a request.
    pub provider: Option<ProviderId>,
    pub instances: Vec<AbsResourceInstance>,
}

/// A planned change that apply carries out.
#[derive(Clone, Debug)]
pub struct Task {
    pub change: Arc<ResourceChange>,
    /// None for data sources that are destroyed: they are dropped from the state without a request.
    pub provider: Option<ProviderId>,
    pub block: Option<ResourceId>,
    /// The actions that the change invokes, in their order.
    pub invocations: Vec<Invocation>,
}

/// An action that apply invokes.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub planned: Arc<ActionInvocation>,
    pub provider: ProviderId,
    pub block: ActionId,
}

/// An action that was asked for, instead of everything else.
#[derive(Clone, Debug)]
pub enum Request {
    /// To be planned.
    Plan(PlannedRequest),
    /// To be invoked.
    Invoke(Invocation),
}

impl Request {
    pub fn addr(&self) -> &AbsActionInstance {
        match self {
            Request::Plan(request) => &request.target,
            Request::Invoke(invocation) => &invocation.planned.addr,
        }
    }
}

#[derive(Clone, Debug)]
pub struct PlannedRequest {
    /// An instance of the action, or all of them.
    pub target: AbsActionInstance,
    pub block: ActionId,
    pub provider: ProviderId,
    /// The resources whose changes invoke the action, if its configuration speaks of the caller.
    pub callers: Vec<ResourceId>,
}
