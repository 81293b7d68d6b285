//! The answering end of the calls that concern the identities of objects.

use std::collections::HashMap;

use terrane_value::text::lossy_text;
use tonic::Status;

use super::grpc::{Reply, reply};
use super::provider_server::{Answer, ProviderServer, answer_or, bad};
use super::wire::message as wire;
use super::wire::protocol::Protocol;
use super::wire::{diagnostic, identity};
use crate::provider::Identity;

impl<P: Protocol> ProviderServer<P> {
    /// What identifies an object, for the wire.
    pub(super) async fn identity(
        &self,
        kind: &str,
        of: Option<Identity>,
    ) -> Answer<Option<wire::ResourceIdentityData>> {
        let Some(of) = of else { return Ok(None) };
        let Some(schema) = self.provider().identity_schema(kind).await? else { return Ok(None) };
        identity::to_wire(&of, &schema).map(Some).map_err(|error| vec![bad(error)])
    }

    /// What identifies an object, of a request.
    pub(super) async fn identity_from(
        &self,
        kind: &str,
        data: Option<wire::ResourceIdentityData>,
    ) -> Answer<Option<Identity>> {
        if data.is_none() {
            return Ok(None);
        }
        let Some(schema) = self.provider().identity_schema(kind).await? else { return Ok(None) };
        identity::from_wire(data, &schema).map_err(|error| vec![bad(error)])
    }

    pub(super) async fn identity_schemas(&self) -> Result<Reply, Status> {
        let answer = async {
            let mut identity_schemas = HashMap::new();
            for kind in self.schemas().await?.managed_names() {
                if let Some(schema) = self.provider().identity_schema(&kind).await? {
                    identity_schemas.insert(kind.to_string(), identity::schema_to_wire(&schema));
                }
            }
            Ok(wire::get_resource_identity_schemas::Response { identity_schemas, diagnostics: Vec::new() })
        };
        let failed = |diagnostics| wire::get_resource_identity_schemas::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }

    pub(super) async fn upgrade_identity(
        &self,
        request: wire::upgrade_resource_identity::Request,
    ) -> Result<Reply, Status> {
        let kind = &request.type_name;
        let answer = async {
            let json = lossy_text(&request.raw_identity.unwrap_or_default().json).as_ref().into();
            let stored = Identity { schema_version: request.version, json };
            let (upgraded, diagnostics) = self.provider().upgrade_resource_identity(kind, stored).await;
            Ok(wire::upgrade_resource_identity::Response {
                upgraded_identity: self.identity(kind, upgraded).await?,
                diagnostics: diagnostic::to_wire(diagnostics),
            })
        };
        let failed = |diagnostics| wire::upgrade_resource_identity::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }
}
