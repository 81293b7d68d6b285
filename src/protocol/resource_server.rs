//! The answering end of the calls that concern managed resources.

use bytes::Bytes;
use terrane_value::text::lossy_text;
use tonic::Status;

use super::grpc::{Reply, reply};
use super::provider_server::{ProviderServer, answer_or, bad, decode, decode_like, either, encode, only_diagnostics};
use super::wire::message as wire;
use super::wire::protocol::Protocol;
use super::wire::{capabilities, diagnostic};
use crate::provider::{ApplyRequest, Identity, MoveRequest, PlanRequest, RawState, ReadRequest, UpgradeRequest};

impl<P: Protocol> ProviderServer<P> {
    pub(super) async fn validate_resource(
        &self,
        request: wire::validate_resource_config::Request,
    ) -> Result<Reply, Status> {
        let kind = &request.type_name;
        let answer = async {
            let config = decode(request.config, self.managed(kind).await?.implied_type())?;
            let client = capabilities::client_from_wire(request.client_capabilities);
            Ok(self.provider().validate_resource_config(kind, config, client).await)
        };
        Ok(only_diagnostics(either(answer.await)))
    }

    pub(super) async fn upgrade(&self, request: wire::upgrade_resource_state::Request) -> Result<Reply, Status> {
        let answer = async {
            let schema = self.managed(&request.type_name).await?;
            let raw = request.raw_state.unwrap_or_default();
            let raw = if raw.json.is_empty() {
                RawState::Flat(raw.flatmap.into_iter().collect())
            } else {
                RawState::Json(raw.json)
            };
            let request = UpgradeRequest { kind: request.type_name.into(), version: request.version, raw };
            let (state, diagnostics) = self.provider().upgrade_resource_state(request).await;
            Ok(wire::upgrade_resource_state::Response {
                upgraded_state: encode(&state, schema.implied_type()),
                diagnostics: diagnostic::to_wire(diagnostics),
            })
        };
        let failed = |diagnostics| wire::upgrade_resource_state::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }

    pub(super) async fn read(&self, request: wire::read_resource::Request) -> Result<Reply, Status> {
        let answer = async {
            let schema = self.managed(&request.type_name).await?;
            let ty = schema.implied_type();
            let kind = request.type_name.clone();
            let request = ReadRequest {
                current: decode(request.current_state, ty)?,
                current_identity: self.identity_from(&kind, request.current_identity).await?,
                kind: request.type_name.into(),
                private: request.private.as_ref().into(),
                provider_meta: self.meta(request.provider_meta).await?,
                client: capabilities::client_from_wire(request.client_capabilities),
            };
            let response = self.provider().read_resource(request).await;
            Ok(wire::read_resource::Response {
                new_identity: self.identity(&kind, response.identity).await?,
                new_state: encode(&response.new_state, ty),
                diagnostics: diagnostic::to_wire(response.diagnostics),
                private: Bytes::copy_from_slice(&response.private),
                deferred: capabilities::deferral_to_wire(response.deferred),
            })
        };
        let failed = |diagnostics| wire::read_resource::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }

    pub(super) async fn plan(&self, request: wire::plan_resource_change::Request) -> Result<Reply, Status> {
        let answer = async {
            let schema = self.managed(&request.type_name).await?;
            let ty = schema.implied_type();
            let prior = decode(request.prior_state, ty)?;
            let proposed = decode_like(request.proposed_new_state, ty, &[&prior])?;
            let kind = request.type_name.clone();
            let request = PlanRequest {
                prior_identity: self.identity_from(&kind, request.prior_identity).await?,
                planned_private: request.planned_private.as_ref().into(),
                kind: request.type_name.into(),
                config: decode_like(request.config, ty, &[&proposed])?,
                prior,
                proposed,
                prior_private: request.prior_private.as_ref().into(),
                provider_meta: self.meta(request.provider_meta).await?,
                client: capabilities::client_from_wire(request.client_capabilities),
            };
            let response = self.provider().plan_resource_change(request).await;
            Ok(wire::plan_resource_change::Response {
                planned_state: encode(&response.planned, ty),
                requires_replace: response.requires_replace.iter().map(diagnostic::path_to_wire).collect(),
                planned_private: Bytes::copy_from_slice(&response.private),
                planned_identity: self.identity(&kind, response.identity).await?,
                diagnostics: diagnostic::to_wire(response.diagnostics),
                legacy_type_system: response.legacy_type_system,
                deferred: capabilities::deferral_to_wire(response.deferred),
            })
        };
        let failed = |diagnostics| wire::plan_resource_change::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }

    pub(super) async fn apply(&self, request: wire::apply_resource_change::Request) -> Result<Reply, Status> {
        let prior = request.prior_state.clone();
        let answer = async {
            let schema = self.managed(&request.type_name).await?;
            let ty = schema.implied_type();
            let kind = request.type_name.clone();
            let prior = decode(request.prior_state, ty)?;
            let planned = decode_like(request.planned_state, ty, &[&prior])?;
            let request = ApplyRequest {
                planned_identity: self.identity_from(&kind, request.planned_identity).await?,
                kind: request.type_name.into(),
                config: decode_like(request.config, ty, &[&planned])?,
                prior,
                planned,
                planned_private: request.planned_private.as_ref().into(),
                provider_meta: self.meta(request.provider_meta).await?,
            };
            let response = self.provider().apply_resource_change(request).await;
            Ok(wire::apply_resource_change::Response {
                new_state: encode(&response.new_state, ty),
                private: Bytes::copy_from_slice(&response.private),
                diagnostics: diagnostic::to_wire(response.diagnostics),
                legacy_type_system: response.legacy_type_system,
                new_identity: self.identity(&kind, response.identity).await?,
            })
        };
        // Nothing was done: the object is what it was.
        let failed =
            |diagnostics| wire::apply_resource_change::Response { diagnostics, new_state: prior, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }

    pub(super) async fn import(&self, request: wire::import_resource_state::Request) -> Result<Reply, Status> {
        let answer = async {
            let kind = &request.type_name;
            let client = capabilities::client_from_wire(request.client_capabilities);
            let response = match request.identity {
                Some(identity) => {
                    let schema = self.provider().identity_schema(kind).await?;
                    let schema =
                        schema.ok_or_else(|| vec![bad(format!("objects of the type {kind:?} have no identity"))])?;
                    let identity = decode(identity.identity_data, &schema.implied_type())?;
                    self.provider().import_by_identity(kind, identity, client).await
                }
                None => self.provider().import_resource_state(kind, &request.id, client).await,
            };
            let mut imported_resources = Vec::with_capacity(response.objects.len());
            for object in response.objects {
                let schema = self.managed(&object.kind).await?;
                imported_resources.push(wire::import_resource_state::ImportedResource {
                    type_name: object.kind.to_string(),
                    state: encode(&object.state, schema.implied_type()),
                    private: Bytes::copy_from_slice(&object.private),
                    identity: self.identity(&object.kind, object.identity).await?,
                });
            }
            let diagnostics = diagnostic::to_wire(response.diagnostics);
            let deferred = capabilities::deferral_to_wire(response.deferred);
            Ok(wire::import_resource_state::Response { imported_resources, diagnostics, deferred })
        };
        let failed = |diagnostics| wire::import_resource_state::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }

    pub(super) async fn move_state(&self, request: wire::move_resource_state::Request) -> Result<Reply, Status> {
        let answer = async {
            let schema = self.managed(&request.target_type_name).await?;
            let kind = request.target_type_name.clone();
            let schema_version = request.source_identity_schema_version;
            let raw = request.source_identity.map(|raw| raw.json).filter(|json| !json.is_empty());
            let source_identity = raw.map(|json| Identity { schema_version, json: lossy_text(&json).as_ref().into() });
            let request = MoveRequest {
                source_provider: request.source_provider_address,
                source_kind: request.source_type_name.into(),
                source_version: request.source_schema_version,
                source_state: request.source_state.unwrap_or_default().json,
                source_identity,
                source_private: request.source_private.as_ref().into(),
                target_kind: request.target_type_name.into(),
            };
            let response = self.provider().move_resource_state(request).await;
            Ok(wire::move_resource_state::Response {
                target_state: encode(&response.state, schema.implied_type()),
                diagnostics: diagnostic::to_wire(response.diagnostics),
                target_private: Bytes::copy_from_slice(&response.private),
                target_identity: self.identity(&kind, response.identity).await?,
            })
        };
        let failed = |diagnostics| wire::move_resource_state::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }

    pub(super) async fn generate_config(
        &self,
        request: wire::generate_resource_config::Request,
    ) -> Result<Reply, Status> {
        let kind = &request.type_name;
        let answer = async {
            let schema = self.managed(kind).await?;
            let ty = schema.implied_type();
            let (config, diagnostics) =
                self.provider().generate_resource_config(kind, decode(request.state, ty)?).await;
            let config = encode(&config, ty);
            Ok(wire::generate_resource_config::Response { config, diagnostics: diagnostic::to_wire(diagnostics) })
        };
        let failed = |diagnostics| wire::generate_resource_config::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }
}
