//! The interfaces of providers and provisioners: async traits and plain messages. Knows no wire format and no process.
//!
//! Values that cross this border carry no marks; types are those that the schemas imply.

#[cfg(feature = "cli")]
mod about_body;
mod message;
mod provisioner;
mod remote_state;
mod state_store;

use std::sync::Arc;

use async_trait::async_trait;

#[cfg(feature = "cli")]
pub use about_body::about_body;
pub use message::*;
pub use provisioner::{Output, ProvisionRequest, Provisioner};
pub use remote_state::RemoteStates;
pub use state_store::StateStores;

use crate::lang::value::Value;
use crate::model::schema::ProviderSchemas;

/// The summary where a plugin cannot say what it takes.
pub const NO_SCHEMAS: &str = "Failed to load plugin schemas";

/// A provider: the verbs of the plugin protocol (both versions), in the protocol's order of use.
///
/// Every method returns, also if the plugin fails: a failed call is an error diagnostic in the response (its
/// text names the provider), beside values that the caller must not use.
#[async_trait]
pub trait Provider: Send + Sync {
    /// All schemas; asked once per process and cached by the implementation.
    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics>;

    async fn validate_provider_config(&self, config: Value) -> (Value, ProviderDiagnostics);
    /// `deferral_allowed`: see [`PlanRequest::deferral_allowed`].
    async fn validate_resource_config(&self, kind: &str, config: Value, deferral_allowed: bool) -> ProviderDiagnostics;
    async fn validate_data_config(&self, kind: &str, config: Value) -> ProviderDiagnostics;

    async fn configure(&self, request: ConfigureRequest) -> ProviderDiagnostics;

    /// The stored object brought to the current schema.
    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> (Value, ProviderDiagnostics);
    async fn read_resource(&self, request: ReadRequest) -> ReadResponse;
    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse;
    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse;
    async fn import_resource_state(&self, kind: &str, id: &str) -> ImportResponse;
    /// The attributes that identify an object of a type; none: the type has no identity.
    async fn identity_schema(&self, _kind: &str) -> Result<Option<IdentitySchema>, ProviderDiagnostics> {
        Ok(None)
    }
    /// As `import_resource_state`, for a type with an identity. `identity` is of the type that its schema gives.
    async fn import_by_identity(&self, kind: &str, _identity: Value) -> ImportResponse {
        let detail = format!("Objects of the type {kind:?} have no identity by which they could be imported.");
        ImportResponse::failed(vec![ProviderDiagnostic::error(NO_IDENTITY, detail)])
    }
    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse;
    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse;

    async fn validate_ephemeral_config(&self, kind: &str, config: Value) -> ProviderDiagnostics;
    async fn open_ephemeral(&self, kind: &str, config: Value) -> OpenEphemeralResponse;
    async fn renew_ephemeral(&self, kind: &str, private: Vec<u8>) -> RenewEphemeralResponse;
    async fn close_ephemeral(&self, kind: &str, private: Vec<u8>) -> ProviderDiagnostics;

    async fn call_function(&self, name: &str, arguments: Vec<Value>) -> Result<Value, FunctionError>;

    /// The calls of its state stores. None: it speaks a protocol without them.
    fn state_stores(&self) -> Option<&dyn StateStores> {
        None
    }

    /// Asks for what is in flight to end soon.
    async fn stop(&self) -> Result<(), String>;
}
