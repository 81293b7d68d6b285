//! The calls of a provider's client that import: by an id, and by what identifies an object.

use terrane_protocol::provider::{ClientCapabilities, ImportResponse, ImportedObject, ProviderDiagnostics};
use terrane_protocol::wire::protocol::{Call, Protocol};
use terrane_protocol::wire::v6::message as wire;
use terrane_protocol::wire::value::shared;
use terrane_protocol::wire::{capabilities, diagnostic, value};
use terrane_value::Value;

use super::provider::{ProviderClient, one};

/// What an import names the object by.
enum ImportBy<'a> {
    Id(&'a str),
    Identity(Value),
}

impl<P: Protocol> ProviderClient<P> {
    pub(super) async fn try_import_by_id(
        &self,
        kind: &str,
        id: &str,
        client: ClientCapabilities,
    ) -> Result<ImportResponse, ProviderDiagnostics> {
        self.import(kind, ImportBy::Id(id), client).await
    }

    pub(super) async fn try_import_by_identity(
        &self,
        kind: &str,
        identity: Value,
        client: ClientCapabilities,
    ) -> Result<ImportResponse, ProviderDiagnostics> {
        self.import(kind, ImportBy::Identity(identity), client).await
    }

    async fn import(
        &self,
        kind: &str,
        by: ImportBy<'_>,
        client: ClientCapabilities,
    ) -> Result<ImportResponse, ProviderDiagnostics> {
        let call = Call::ImportResourceState;
        let (id, identity) = match by {
            ImportBy::Id(id) => (id.to_owned(), None),
            ImportBy::Identity(identity) => {
                let identity_data = value::to_wire(&identity, identity.ty());
                (String::new(), Some(wire::ResourceIdentityData { identity_data }))
            }
        };
        let request = wire::import_resource_state::Request {
            type_name: kind.to_owned(),
            id,
            client_capabilities: capabilities::client_to_wire::<P>(client),
            identity,
        };
        let response: wire::import_resource_state::Response = self.call(call, request).await.map_err(one)?;
        let mut diagnostics = diagnostic::from_wire(response.diagnostics);
        let deferred = capabilities::deferral_from_wire(response.deferred);
        let mut objects = Vec::new();
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
