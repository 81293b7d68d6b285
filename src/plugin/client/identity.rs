//! The calls of a provider's client that concern the identities of objects.

use std::collections::BTreeMap;

use prost::Message;
use terrane_protocol::provider::{
    INVALID_IDENTITY, Identity, IdentitySchema, ProviderDiagnostic, ProviderDiagnostics, has_errors,
};
use terrane_protocol::wire::protocol::{Call, Protocol};
use terrane_protocol::wire::v6::message as wire;
use terrane_protocol::wire::{diagnostic, identity};
use terrane_value::text::text_bytes;
use tonic::Code;

use super::provider::{ProviderClient, one};

impl<P: Protocol> ProviderClient<P> {
    pub(super) async fn identity_schemas(&self) -> Result<&BTreeMap<String, IdentitySchema>, ProviderDiagnostics> {
        self.identities.get_or_try_init(|| self.ask_identity_schemas()).await
    }

    /// What a provider says that identifies an object. What cannot be read is none: nothing depends on it.
    pub(super) async fn identity_of(&self, kind: &str, data: Option<wire::ResourceIdentityData>) -> Option<Identity> {
        data.as_ref()?;
        let schema = self.identity_schemas().await.ok()?.get(kind)?;
        identity::from_wire(data, schema).ok()?
    }

    /// What identifies the object of a request; none if the type has no identity any more.
    pub(super) async fn identity_for(
        &self,
        kind: &str,
        stored: &Option<Identity>,
    ) -> Result<Option<wire::ResourceIdentityData>, ProviderDiagnostics> {
        let Some(stored) = stored else { return Ok(None) };
        let Some(schema) = self.identity_schemas().await?.get(kind) else { return Ok(None) };
        identity::to_wire(stored, schema).map(Some).map_err(|error| {
            let detail = format!("The stored identity of an object of the type {kind:?} cannot be used: {error}.");
            one(ProviderDiagnostic::error(INVALID_IDENTITY, detail))
        })
    }

    pub(super) async fn try_upgrade_identity(
        &self,
        kind: &str,
        stored: Identity,
    ) -> Result<(Option<Identity>, ProviderDiagnostics), ProviderDiagnostics> {
        let call = Call::UpgradeResourceIdentity;
        let request = wire::upgrade_resource_identity::Request {
            type_name: kind.to_owned(),
            version: stored.schema_version,
            raw_identity: Some(raw_identity(stored)),
        };
        let response: wire::upgrade_resource_identity::Response = self.call(call, request).await.map_err(one)?;
        let mut diagnostics = diagnostic::from_wire(response.diagnostics);
        if has_errors(&diagnostics) {
            return Ok((None, diagnostics));
        }
        let read = match self.identity_schemas().await?.get(kind) {
            Some(schema) => identity::from_wire(response.upgraded_identity, schema).map_err(|error| error.to_string()),
            None => Err(format!("the provider has no identity schema for the type {kind:?}")),
        };
        match read {
            Ok(Some(upgraded)) => Ok((Some(upgraded), diagnostics)),
            Ok(None) => {
                diagnostics.push(self.garbage(call, "it contains no identity"));
                Ok((None, diagnostics))
            }
            Err(error) => {
                diagnostics.push(self.garbage(call, error));
                Ok((None, diagnostics))
            }
        }
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
        let read = |(kind, schema)| {
            let schema = identity::schema_from_wire(schema).map_err(|error| one(self.garbage(call, error)))?;
            Ok((kind, schema))
        };
        response.identity_schemas.into_iter().map(read).collect()
    }
}

/// An identity as it is stored, for the wire.
pub(super) fn raw_identity(stored: Identity) -> wire::RawState {
    wire::RawState { json: text_bytes(stored.json), ..Default::default() }
}
