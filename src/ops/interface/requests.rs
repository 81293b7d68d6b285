//! The requests of the operations on infrastructure: plan, apply, destroy and refresh.

use std::path::PathBuf;
use std::sync::Arc;

use super::ask::Ask;
use super::options::{PlanOptions, StateOptions, VariableArgument};

/// What an operation on the working directory's configuration is asked for.
#[derive(Clone, Debug, Default)]
pub struct OperationRequest {
    pub plan: PlanOptions,
    pub state: StateOptions,
    pub variables: Vec<VariableArgument>,
}

#[derive(Clone, Debug, Default)]
pub struct PlanRequest {
    pub operation: OperationRequest,
    /// Where to keep the plan.
    pub out: Option<PathBuf>,
    /// Where to write the configuration of imports that have none: a new file.
    pub generate: Option<PathBuf>,
}

#[derive(Clone)]
pub struct ApplyRequest {
    pub operation: OperationRequest,
    /// None: carry the plan out without asking.
    pub approver: Option<Arc<dyn Ask>>,
    /// A plan that was kept, in place of a new one.
    pub plan_file: Option<PathBuf>,
    /// As OpenTofu: objects that a destroy leaves behind on purpose are no error.
    pub suppress_forget_errors: bool,
}

/// The operation, where messages and locks depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    Plan,
    Apply,
    Refresh,
}

impl OperationKind {
    /// What a lock on the state is for, as the lock's information names it.
    pub fn lock_purpose(self) -> &'static str {
        match self {
            OperationKind::Plan => "OperationTypePlan",
            OperationKind::Apply => "OperationTypeApply",
            OperationKind::Refresh => "OperationTypeRefresh",
        }
    }
}
