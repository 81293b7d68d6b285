//! The interfaces of providers and provisioners: async traits and plain messages. Knows no wire format and no process.
//!
//! Values that cross this border carry no marks; types are those that the schemas imply.

mod action;
mod capabilities;
mod identity;
mod list;
mod message;
mod provisioner;
mod remote_state;
mod state_store;

use std::sync::Arc;

pub use action::{InvokeActionRequest, PlanActionRequest, PlanActionResponse};
use async_trait::async_trait;
pub use capabilities::{ClientCapabilities, DeferralReason};
pub use identity::{
    INVALID_IDENTITY, Identity, IdentityAttribute, IdentityError, IdentitySchema, IdentityUse, NO_IDENTITY,
    identity_text,
};
pub use list::{ListRequest, ListResult, ListSink, ValidateListRequest, no_identity_schema};
pub use message::{
    ApplyRequest, ApplyResponse, ConfigureRequest, FunctionError, ImportResponse, ImportedObject, MoveRequest,
    MoveResponse, OpenEphemeralResponse, PlanRequest, PlanResponse, ProviderDiagnostic, ProviderDiagnostics, RawState,
    ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, RenewEphemeralResponse, Severity, UpgradeRequest,
    has_errors, no_provider_meta,
};
pub use provisioner::{Output, ProvisionRequest, Provisioner};
pub use remote_state::RemoteStates;
pub use state_store::StateStores;
use terrane_value::Value;

use crate::schema::ProviderSchemas;

/// The summary where a plugin cannot say what it takes.
pub const NO_SCHEMAS: &str = "Failed to load plugin schemas";

/// The summary where a provider does not implement an optional call.
pub const UNSUPPORTED_CALL: &str = "Unsupported provider operation";

/// A provider: the verbs of the plugin protocol (both versions), in the protocol's order of use.
///
/// Every method returns, also if the plugin fails: a failed call is an error diagnostic in the response (its
/// text names the provider), beside values that the caller must not use.
#[async_trait]
pub trait Provider: Send + Sync {
    /// All schemas; asked once per process and cached by the implementation.
    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics>;

    async fn validate_provider_config(&self, config: Value) -> (Value, ProviderDiagnostics);
    async fn validate_resource_config(
        &self,
        kind: &str,
        config: Value,
        client: ClientCapabilities,
    ) -> ProviderDiagnostics;
    async fn validate_data_config(&self, kind: &str, config: Value) -> ProviderDiagnostics;

    async fn configure(&self, request: ConfigureRequest) -> ProviderDiagnostics;

    /// The stored object brought to the current schema.
    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> (Value, ProviderDiagnostics);
    async fn read_resource(&self, request: ReadRequest) -> ReadResponse;
    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse;
    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse;
    async fn import_resource_state(&self, kind: &str, id: &str, client: ClientCapabilities) -> ImportResponse;
    /// The attributes that identify an object of a type; none: the type has no identity.
    async fn identity_schema(&self, _kind: &str) -> Result<Option<IdentitySchema>, ProviderDiagnostics> {
        Ok(None)
    }
    /// The stored identity brought to the current schema. None with errors.
    async fn upgrade_resource_identity(
        &self,
        kind: &str,
        _stored: Identity,
    ) -> (Option<Identity>, ProviderDiagnostics) {
        (None, unsupported(format!("identities of objects of the type {kind:?}")))
    }
    /// As `import_resource_state`, for a type with an identity. `identity` is of the type that its schema gives.
    async fn import_by_identity(&self, kind: &str, _identity: Value, _client: ClientCapabilities) -> ImportResponse {
        let detail = format!("Objects of the type {kind:?} have no identity by which they could be imported.");
        ImportResponse::failed(vec![ProviderDiagnostic::error(NO_IDENTITY, detail)])
    }
    /// A configuration that leads to the state of an object, both of the type that the schema of the type implies. Null with
    /// errors. Only for providers with [`crate::schema::Capabilities::generate_resource_config`].
    async fn generate_resource_config(&self, kind: &str, state: Value) -> (Value, ProviderDiagnostics) {
        let failures = unsupported(format!("generating configuration for the type {kind:?}"));
        (Value::null(state.ty().clone()), failures)
    }
    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse;
    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse;

    async fn validate_ephemeral_config(&self, kind: &str, config: Value) -> ProviderDiagnostics;
    async fn open_ephemeral(&self, kind: &str, config: Value, client: ClientCapabilities) -> OpenEphemeralResponse;
    async fn renew_ephemeral(&self, kind: &str, private: Vec<u8>) -> RenewEphemeralResponse;
    async fn close_ephemeral(&self, kind: &str, private: Vec<u8>) -> ProviderDiagnostics;

    async fn call_function(&self, name: &str, arguments: Vec<Value>) -> Result<Value, FunctionError>;

    async fn validate_list_config(&self, request: ValidateListRequest) -> ProviderDiagnostics {
        unsupported(format!("listing objects of the type {:?}", request.kind))
    }
    /// Gives the objects that exist to the sink, one after the other. The diagnostics are about the list as a whole.
    async fn list_resources(&self, request: ListRequest, _results: &dyn ListSink) -> ProviderDiagnostics {
        unsupported(format!("listing objects of the type {:?}", request.kind))
    }

    async fn validate_action_config(&self, kind: &str, _config: Value) -> ProviderDiagnostics {
        unsupported(format!("actions of the type {kind:?}"))
    }
    async fn plan_action(&self, request: PlanActionRequest) -> PlanActionResponse {
        PlanActionResponse::new(unsupported(format!("actions of the type {:?}", request.kind)))
    }
    /// Ends when the action has ended.
    async fn invoke_action(&self, request: InvokeActionRequest) -> ProviderDiagnostics {
        unsupported(format!("actions of the type {:?}", request.kind))
    }

    /// The calls of its state stores. None: it speaks a protocol without them.
    fn state_stores(&self) -> Option<&dyn StateStores> {
        None
    }

    /// Asks for what is in flight to end soon; nothing to do where nothing takes long.
    async fn stop(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The answer of a provider that does not implement an optional call. `what` follows "does not support".
fn unsupported(what: String) -> ProviderDiagnostics {
    vec![ProviderDiagnostic::error(UNSUPPORTED_CALL, format!("This provider does not support {what}."))]
}
