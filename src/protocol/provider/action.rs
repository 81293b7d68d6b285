//! Actions: operations of a provider that are neither a change of an object nor a read.

use std::sync::Arc;

use terrane_value::Value;

use super::{ClientCapabilities, DeferralReason, Output, ProviderDiagnostics};

#[derive(Clone, Debug)]
pub struct PlanActionRequest {
    pub kind: Arc<str>,
    /// Of the type that the schema of the action implies. May be unknown in parts.
    pub config: Value,
    pub client: ClientCapabilities,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlanActionResponse {
    /// The provider deferred the action. The reference accepts only the reason `ProviderConfigUnknown`.
    pub deferred: Option<DeferralReason>,
    pub diagnostics: ProviderDiagnostics,
}

impl PlanActionResponse {
    /// An answer that is not deferred.
    pub fn new(diagnostics: ProviderDiagnostics) -> PlanActionResponse {
        PlanActionResponse { deferred: None, diagnostics }
    }
}

#[derive(Clone)]
pub struct InvokeActionRequest {
    pub kind: Arc<str>,
    /// Of the type that the schema of the action implies.
    pub config: Value,
    pub client: ClientCapabilities,
    /// Receives messages for people while the action runs.
    pub progress: Output,
}
