//! `terraform_remote_state` where states are encrypted: read by this process, which has the keys, instead of the provider's.

use std::sync::Arc;

use async_trait::async_trait;
use base::env::Environment;
use builtin::table::{self, Make, Services};
use encryption::Encryption;
use terrane_protocol::provider::{
    ApplyRequest, ApplyResponse, ClientCapabilities, ConfigureRequest, FunctionError, Identity, IdentitySchema,
    ImportResponse, InvokeActionRequest, ListRequest, ListSink, MoveRequest, MoveResponse, OpenEphemeralResponse,
    PlanActionRequest, PlanActionResponse, PlanRequest, PlanResponse, Provider, ProviderDiagnostic,
    ProviderDiagnostics, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, RenewEphemeralResponse,
    UpgradeRequest, ValidateListRequest, has_errors,
};
use terrane_protocol::schema::ProviderSchemas;
use terrane_value::Value;

use super::other_states::{self, Backends};
use crate::setup::services;

const REMOTE_STATE: &str = "terraform_remote_state";

/// The provider `terraform`, of which one data source is read here.
pub struct EncryptedRemoteStates {
    inner: Arc<dyn Provider>,
    /// The same provider, in this process.
    here: Arc<dyn Provider>,
    encryption: Arc<Encryption>,
}

impl EncryptedRemoteStates {
    /// `inner` as it is, if there is nothing to decrypt.
    pub fn over(
        inner: Arc<dyn Provider>,
        encryption: &Arc<Encryption>,
        environment: &Environment,
    ) -> Arc<dyn Provider> {
        let backends = Backends { environment: environment.clone(), services: services::of_environment(environment) };
        let services =
            Services { remote_states: Arc::new(backends), has_data_stores: false, dialect: environment.dialect() };
        let row = table::find("provider", "terraform").map(|row| row.make);
        match row {
            Some(Make::Provider(make)) if encryption.is_configured() => {
                Arc::new(EncryptedRemoteStates { inner, here: make(&services), encryption: encryption.clone() })
            }
            _ => inner,
        }
    }
}

/// An address as `remote_state_data_source` blocks are labelled.
fn label(address: &str) -> String {
    address.replacen(&format!("data.{REMOTE_STATE}."), "", 1).trim_start_matches("module.").to_owned()
}

#[async_trait]
impl Provider for EncryptedRemoteStates {
    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        if &*request.kind != REMOTE_STATE {
            return self.inner.read_data_source(request).await;
        }
        let address = request.address.clone();
        let cipher = self.encryption.remote(&label(&address)).cloned();
        let mut response = other_states::decrypting(cipher, self.here.read_data_source(request)).await;
        if has_errors(&response.diagnostics) {
            let summary = format!("{address}: Unable to read remote state");
            response.diagnostics.push(ProviderDiagnostic::error(summary, ""));
        }
        response
    }

    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics> {
        self.inner.schemas().await
    }
    async fn validate_provider_config(&self, config: Value) -> (Value, ProviderDiagnostics) {
        self.inner.validate_provider_config(config).await
    }
    async fn validate_resource_config(
        &self,
        kind: &str,
        config: Value,
        client: ClientCapabilities,
    ) -> ProviderDiagnostics {
        self.inner.validate_resource_config(kind, config, client).await
    }
    async fn validate_data_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        self.inner.validate_data_config(kind, config).await
    }
    async fn configure(&self, request: ConfigureRequest) -> ProviderDiagnostics {
        self.inner.configure(request).await
    }
    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> (Value, ProviderDiagnostics) {
        self.inner.upgrade_resource_state(request).await
    }
    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        self.inner.read_resource(request).await
    }
    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        self.inner.plan_resource_change(request).await
    }
    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse {
        self.inner.apply_resource_change(request).await
    }
    async fn import_resource_state(&self, kind: &str, id: &str, client: ClientCapabilities) -> ImportResponse {
        self.inner.import_resource_state(kind, id, client).await
    }
    async fn identity_schema(&self, kind: &str) -> Result<Option<IdentitySchema>, ProviderDiagnostics> {
        self.inner.identity_schema(kind).await
    }
    async fn import_by_identity(&self, kind: &str, identity: Value, client: ClientCapabilities) -> ImportResponse {
        self.inner.import_by_identity(kind, identity, client).await
    }
    async fn upgrade_resource_identity(&self, kind: &str, stored: Identity) -> (Option<Identity>, ProviderDiagnostics) {
        self.inner.upgrade_resource_identity(kind, stored).await
    }
    async fn generate_resource_config(&self, kind: &str, state: Value) -> (Value, ProviderDiagnostics) {
        self.inner.generate_resource_config(kind, state).await
    }
    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        self.inner.move_resource_state(request).await
    }
    async fn validate_ephemeral_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        self.inner.validate_ephemeral_config(kind, config).await
    }
    async fn open_ephemeral(&self, kind: &str, config: Value, client: ClientCapabilities) -> OpenEphemeralResponse {
        self.inner.open_ephemeral(kind, config, client).await
    }
    async fn renew_ephemeral(&self, kind: &str, private: Vec<u8>) -> RenewEphemeralResponse {
        self.inner.renew_ephemeral(kind, private).await
    }
    async fn close_ephemeral(&self, kind: &str, private: Vec<u8>) -> ProviderDiagnostics {
        self.inner.close_ephemeral(kind, private).await
    }
    async fn call_function(&self, name: &str, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        self.inner.call_function(name, arguments).await
    }
    async fn validate_list_config(&self, request: ValidateListRequest) -> ProviderDiagnostics {
        self.inner.validate_list_config(request).await
    }
    async fn list_resources(&self, request: ListRequest, results: &dyn ListSink) -> ProviderDiagnostics {
        self.inner.list_resources(request, results).await
    }
    async fn validate_action_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        self.inner.validate_action_config(kind, config).await
    }
    async fn plan_action(&self, request: PlanActionRequest) -> PlanActionResponse {
        self.inner.plan_action(request).await
    }
    async fn invoke_action(&self, request: InvokeActionRequest) -> ProviderDiagnostics {
        self.inner.invoke_action(request).await
    }
    async fn stop(&self) -> Result<(), String> {
        self.inner.stop().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_leave_out_the_first_module() {
        let cases = [
            ("data.terraform_remote_state.foo", "foo"),
            ("data.terraform_remote_state.foo[0]", "foo[0]"),
            ("module.m[1].data.terraform_remote_state.foo", "m[1].foo"),
            ("module.a.module.b.data.terraform_remote_state.foo[\"k\"]", "a.module.b.foo[\"k\"]"),
        ];
        for (address, expected) in cases {
            assert_eq!(label(address), expected);
        }
    }
}
