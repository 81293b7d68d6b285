//! The calls of a provider's client that import: by an id, and by what identifies an object.

use std::collections::BTreeMap;
use std::sync::Arc;

use prost::Message;
use tonic::Code;

use super::provider_client::{ProviderClient, capabilities, one};
use super::wire::protocol::{Call, Protocol};
use super::wire::v6::message as wire;
use super::wire::value::shared;
use super::wire::{diagnostic, value};
use crate::lang::value::{Type, Value, json};
use crate::model::provider::{
    Identity, IdentitySchema, ImportResponse, ImportedObject, ProviderDiagnostic, ProviderDiagnostics, has_errors,
};

impl<P: Protocol> ProviderClient<P> {
    pub(super) async fn identity_schemas(&self) -> Result<&BTreeMap<String, IdentitySchema>, ProviderDiagnostics> {
        self.identities.get_or_try_init(|| self.ask_identity_schemas()).await
    }

    /// What a provider says that identifies an object. What cannot be read is none: nothing depends on it.
    pub(super) async fn identity_of(&self, kind: &str, data: Option<wire::ResourceIdentityData>) -> Option<Identity> {
        let data = data?.identity_data?;
        let schema = self.identity_schemas().await.ok()?.get(kind)?;
        let ty = schema.implied_type();
        let value = value::from_wire(Some(data), &ty).ok()?;
        if value.is_null() || !value.is_wholly_known() || value.entries().values().all(Value::is_null) {
            return None;
        }
        let json = json::to_json(&value, &ty).ok()?.into();
        Some(Identity { schema_version: schema.version, json })
    }

    /// As `call`. None: the plugin does not have this method.
    async fn call_if_supported<A: Message + 'static, R: Message + Default>(
        &self,
        call: Call,
        request: A,
    ) -> Result<Option<R>, ProviderDiagnostic> {
        match self.answer(call, request).await {
            Ok(response) => R::decode(response).map(Some).map_err(|error| self.garbage(call, error)),
            Err(status) if status.code() == Code::Unimplemented => Ok(None),
            Err(status) => Err(self.failure(call, status).await),
        }
    }

    async fn ask_identity_schemas(&self) -> Result<BTreeMap<String, IdentitySchema>, ProviderDiagnostics> {
        let call = Call::GetResourceIdentitySchemas;
        let request = wire::get_resource_identity_schemas::Request {};
        // Providers of a time before identities have none.
        let Some(response) = self.call_if_supported(call, request).await.map_err(one)? else {
            return Ok(BTreeMap::new());
        };
        let response: wire::get_resource_identity_schemas::Response = response;
        let diagnostics = diagnostic::from_wire(response.diagnostics);
        if has_errors(&diagnostics) {
            return Err(diagnostics);
        }
        let mut schemas = BTreeMap::new();
        for (kind, of) in response.identity_schemas {
            let mut attributes = BTreeMap::new();
            for attribute in of.identity_attributes {
                let ty = Type::from_json_bytes(&attribute.r#type).map_err(|error| vec![self.garbage(call, error)])?;
                attributes.insert(Arc::from(attribute.name), (ty, attribute.required_for_import));
            }
            schemas.insert(kind, IdentitySchema { version: of.version, attributes });
        }
        Ok(schemas)
    }

    pub(super) async fn try_import(
        &self,
        kind: &str,
        id: &str,
        identity: Option<Value>,
    ) -> Result<ImportResponse, ProviderDiagnostics> {
        let call = Call::ImportResourceState;
        let request = wire::import_resource_state::Request {
            type_name: kind.to_owned(),
            id: id.to_owned(),
            client_capabilities: capabilities(false),
            identity: identity
                .map(|identity| wire::ResourceIdentityData { identity_data: value::to_wire(&identity, identity.ty()) }),
        };
        let response: wire::import_resource_state::Response = self.call(call, request).await.map_err(one)?;
        let mut diagnostics = diagnostic::from_wire(response.diagnostics);
        let (mut objects, deferred) = (Vec::new(), response.deferred.is_some());
        for imported in response.imported_resources {
            let schema = self.managed(&imported.type_name).await?;
            let state = self.read_value(call, imported.state, schema.implied_type(), &[], &mut diagnostics);
            if let Some(state) = state {
                let private = shared(&imported.private);
                let identity = self.identity_of(&imported.type_name, imported.identity).await;
                objects.push(ImportedObject { kind: imported.type_name.into(), state, identity, private });
            }
        }
        Ok(ImportResponse { objects, deferred, diagnostics })
    }
}
