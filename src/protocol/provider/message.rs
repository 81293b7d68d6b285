//! The messages of the provider interface.

use std::sync::Arc;

use bytes::Bytes;
use terrane_value::{Path, Type, Value};

use super::{ClientCapabilities, DeferralReason, Identity};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    Warning,
}

/// What a provider says of an error: the place is a path within the value that it was given.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderDiagnostic {
    pub severity: Severity,
    pub summary: String,
    pub detail: String,
    pub attribute: Option<Path>,
}

impl ProviderDiagnostic {
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> ProviderDiagnostic {
        ProviderDiagnostic {
            severity: Severity::Error,
            summary: summary.into(),
            detail: detail.into(),
            attribute: None,
        }
    }

    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> ProviderDiagnostic {
        ProviderDiagnostic { severity: Severity::Warning, ..ProviderDiagnostic::error(summary, detail) }
    }

    pub fn at(mut self, attribute: Path) -> ProviderDiagnostic {
        self.attribute = Some(attribute);
        self
    }
}

pub type ProviderDiagnostics = Vec<ProviderDiagnostic>;

/// True if any of them is an error.
pub fn has_errors(diagnostics: &[ProviderDiagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

#[derive(Clone, Debug)]
pub struct ConfigureRequest {
    /// The language version.
    pub terraform_version: String,
    pub config: Value,
    pub client: ClientCapabilities,
}

/// A stored object as the state file holds it.
#[derive(Clone, Debug)]
pub enum RawState {
    /// The text of a JSON object.
    Json(Bytes),
    /// The flat form of states before version 4.
    Flat(Vec<(String, String)>),
}

#[derive(Clone, Debug)]
pub struct UpgradeRequest {
    pub kind: Arc<str>,
    /// The schema version that the object was stored with.
    pub version: i64,
    pub raw: RawState,
}

#[derive(Clone, Debug)]
pub struct ReadRequest {
    pub kind: Arc<str>,
    pub current: Value,
    /// None if none is stored; of the current schema version.
    pub current_identity: Option<Identity>,
    pub private: Arc<[u8]>,
    /// Null of the meta schema's type (or of no attributes) where the module gives none.
    pub provider_meta: Value,
    pub client: ClientCapabilities,
}

#[derive(Clone, Debug)]
pub struct ReadResponse {
    /// Null if the object is gone.
    pub new_state: Value,
    /// The provider deferred the request.
    pub deferred: Option<DeferralReason>,
    /// None: the provider says nothing of it.
    pub identity: Option<Identity>,
    pub private: Arc<[u8]>,
    pub diagnostics: ProviderDiagnostics,
}

#[derive(Clone, Debug)]
pub struct PlanRequest {
    pub kind: Arc<str>,
    pub prior: Value,
    pub proposed: Value,
    pub config: Value,
    pub prior_private: Arc<[u8]>,
    pub provider_meta: Value,
    pub client: ClientCapabilities,
    /// None if there is no prior object, or no stored identity; of the current schema version.
    pub prior_identity: Option<Identity>,
    /// The private data of the plan that is now applied, if [`ClientCapabilities::store_planned_private`].
    pub planned_private: Arc<[u8]>,
}

#[derive(Clone, Debug)]
pub struct PlanResponse {
    pub planned: Value,
    /// None: the provider says nothing of it, or does not know all of it yet.
    pub identity: Option<Identity>,
    /// The provider deferred the request.
    pub deferred: Option<DeferralReason>,
    pub requires_replace: Vec<Path>,
    pub private: Arc<[u8]>,
    /// The plugin's type system is older than the protocol: its inconsistencies are logged, not refused.
    pub legacy_type_system: bool,
    pub diagnostics: ProviderDiagnostics,
}

#[derive(Clone, Debug)]
pub struct ApplyRequest {
    pub kind: Arc<str>,
    pub prior: Value,
    /// Null to destroy.
    pub planned: Value,
    pub config: Value,
    pub planned_private: Arc<[u8]>,
    /// None: the plan gave none; of the current schema version.
    pub planned_identity: Option<Identity>,
    pub provider_meta: Value,
}

#[derive(Clone, Debug)]
pub struct ApplyResponse {
    pub new_state: Value,
    /// None: the provider says nothing of it.
    pub identity: Option<Identity>,
    pub private: Arc<[u8]>,
    pub legacy_type_system: bool,
    pub diagnostics: ProviderDiagnostics,
}

#[derive(Clone, Debug)]
pub struct ImportedObject {
    pub kind: Arc<str>,
    pub state: Value,
    pub identity: Option<Identity>,
    pub private: Arc<[u8]>,
}

#[derive(Clone, Debug)]
pub struct ImportResponse {
    pub objects: Vec<ImportedObject>,
    /// The provider deferred the request.
    pub deferred: Option<DeferralReason>,
    pub diagnostics: ProviderDiagnostics,
}

impl ImportResponse {
    pub fn objects(objects: Vec<ImportedObject>) -> ImportResponse {
        ImportResponse { objects, deferred: None, diagnostics: Vec::new() }
    }

    pub fn failed(diagnostics: ProviderDiagnostics) -> ImportResponse {
        ImportResponse { objects: Vec::new(), deferred: None, diagnostics }
    }
}

#[derive(Clone, Debug)]
pub struct MoveRequest {
    pub source_provider: String,
    pub source_kind: Arc<str>,
    pub source_version: i64,
    pub source_state: Bytes,
    /// As it is stored: of the schema version that it names.
    pub source_identity: Option<Identity>,
    pub source_private: Arc<[u8]>,
    pub target_kind: Arc<str>,
}

#[derive(Clone, Debug)]
pub struct MoveResponse {
    pub state: Value,
    /// None: the provider says nothing of it.
    pub identity: Option<Identity>,
    pub private: Arc<[u8]>,
    pub diagnostics: ProviderDiagnostics,
}

#[derive(Clone, Debug)]
pub struct ReadDataRequest {
    pub kind: Arc<str>,
    /// Of the data source; empty where it is not known. Plugins do not get it.
    pub address: String,
    pub config: Value,
    pub provider_meta: Value,
    pub client: ClientCapabilities,
}

#[derive(Clone, Debug)]
pub struct ReadDataResponse {
    pub state: Value,
    /// The provider deferred the request.
    pub deferred: Option<DeferralReason>,
    pub diagnostics: ProviderDiagnostics,
}

impl ReadDataResponse {
    /// An answer that is not deferred.
    pub fn new(state: Value, diagnostics: ProviderDiagnostics) -> ReadDataResponse {
        ReadDataResponse { state, deferred: None, diagnostics }
    }
}

#[derive(Clone, Debug)]
pub struct OpenEphemeralResponse {
    pub result: Value,
    /// The provider deferred the request: there is no result.
    pub deferred: Option<DeferralReason>,
    pub private: Vec<u8>,
    /// Seconds since the epoch and nanoseconds, if the object must be renewed.
    pub renew_at: Option<(i64, i32)>,
    pub diagnostics: ProviderDiagnostics,
}

#[derive(Clone, Debug)]
pub struct RenewEphemeralResponse {
    pub private: Vec<u8>,
    pub renew_at: Option<(i64, i32)>,
    pub diagnostics: ProviderDiagnostics,
}

/// Why a provider-defined function failed; `argument` is the index of the one at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionError {
    pub text: String,
    pub argument: Option<usize>,
}

/// The value that stands for "no provider_meta".
pub fn no_provider_meta() -> Value {
    Value::null(Type::Dynamic)
}
