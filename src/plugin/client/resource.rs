//! The calls of a provider's client that concern managed resources.

use bytes::Bytes;
use terrane_protocol::provider::{
    ApplyRequest, ApplyResponse, MoveRequest, MoveResponse, PlanRequest, PlanResponse, ProviderDiagnostics, RawState,
    ReadRequest, ReadResponse, UpgradeRequest,
};
use terrane_protocol::wire::protocol::{Call, Protocol};
use terrane_protocol::wire::v6::message as wire;
use terrane_protocol::wire::value::{bytes_of, shared};
use terrane_protocol::wire::{capabilities, diagnostic, value};
use terrane_value::Value;

use super::identity::raw_identity;
use super::provider::{ProviderClient, one};

impl<P: Protocol> ProviderClient<P> {
    pub(super) async fn try_upgrade(
        &self,
        request: UpgradeRequest,
    ) -> Result<(Value, ProviderDiagnostics), ProviderDiagnostics> {
        let call = Call::UpgradeResourceState;
        let schema = self.managed(&request.kind).await?;
        let ty = schema.implied_type();
        let raw = match request.raw {
            RawState::Json(json) => wire::RawState { json, ..Default::default() },
            RawState::Flat(entries) => wire::RawState { flatmap: entries.into_iter().collect(), ..Default::default() },
        };
        let request = wire::upgrade_resource_state::Request {
            type_name: request.kind.to_string(),
            version: request.version,
            raw_state: Some(raw),
        };
        let response: wire::upgrade_resource_state::Response = self.call(call, request).await.map_err(one)?;
        let mut diagnostics = diagnostic::from_wire(response.diagnostics);
        let value = self.read_value(call, response.upgraded_state, ty, &[], &mut diagnostics);
        Ok((value.unwrap_or_else(|| Value::null(ty.clone())), diagnostics))
    }

    pub(super) async fn try_read(&self, request: &ReadRequest) -> Result<ReadResponse, ProviderDiagnostics> {
        let call = Call::ReadResource;
        let schema = self.managed(&request.kind).await?;
        let ty = schema.implied_type();
        let message = wire::read_resource::Request {
            type_name: request.kind.to_string(),
            current_state: value::to_wire(&request.current, ty),
            private: bytes_of(&request.private),
            provider_meta: self.meta(&request.provider_meta).await?,
            client_capabilities: capabilities::client_to_wire::<P>(request.client),
            current_identity: self.identity_for(&request.kind, &request.current_identity).await?,
        };
        let response: wire::read_resource::Response = self.call(call, message).await.map_err(one)?;
        let mut diagnostics = diagnostic::from_wire(response.diagnostics);
        let state = self.read_value(call, response.new_state, ty, &[&request.current], &mut diagnostics);
        let new_state = state.unwrap_or_else(|| request.current.clone());
        let identity = self.identity_of(&request.kind, response.new_identity).await;
        Ok(ReadResponse {
            new_state,
            deferred: capabilities::deferral_from_wire(response.deferred),
            identity,
            private: shared(&response.private),
            diagnostics,
        })
    }

    pub(super) async fn try_plan(&self, request: &PlanRequest) -> Result<PlanResponse, ProviderDiagnostics> {
        let call = Call::PlanResourceChange;
        let schema = self.managed(&request.kind).await?;
        let ty = schema.implied_type();
        let message = wire::plan_resource_change::Request {
            type_name: request.kind.to_string(),
            prior_state: value::to_wire(&request.prior, ty),
            proposed_new_state: value::to_wire(&request.proposed, ty),
            config: value::to_wire(&request.config, ty),
            prior_private: bytes_of(&request.prior_private),
            provider_meta: self.meta(&request.provider_meta).await?,
            client_capabilities: capabilities::client_to_wire::<P>(request.client),
            prior_identity: self.identity_for(&request.kind, &request.prior_identity).await?,
            // Protocol 5 does not have it.
            planned_private: if P::VERSION >= 6 { bytes_of(&request.planned_private) } else { Bytes::new() },
        };
        let response: wire::plan_resource_change::Response = self.call(call, message).await.map_err(one)?;
        let mut diagnostics = diagnostic::from_wire(response.diagnostics);
        let planned =
            self.read_value(call, response.planned_state, ty, &[&request.prior, &request.proposed], &mut diagnostics);
        Ok(PlanResponse {
            planned: planned.unwrap_or_else(|| Value::null(ty.clone())),
            identity: self.identity_of(&request.kind, response.planned_identity).await,
            deferred: capabilities::deferral_from_wire(response.deferred),
            requires_replace: response.requires_replace.into_iter().map(diagnostic::path_from_wire).collect(),
            private: shared(&response.planned_private),
            legacy_type_system: response.legacy_type_system,
            diagnostics,
        })
    }

    pub(super) async fn try_apply(&self, request: &ApplyRequest) -> Result<ApplyResponse, ProviderDiagnostics> {
        let call = Call::ApplyResourceChange;
        let schema = self.managed(&request.kind).await?;
        let ty = schema.implied_type();
        let message = wire::apply_resource_change::Request {
            type_name: request.kind.to_string(),
            prior_state: value::to_wire(&request.prior, ty),
            planned_state: value::to_wire(&request.planned, ty),
            config: value::to_wire(&request.config, ty),
            planned_private: bytes_of(&request.planned_private),
            provider_meta: self.meta(&request.provider_meta).await?,
            planned_identity: self.identity_for(&request.kind, &request.planned_identity).await?,
        };
        let response: wire::apply_resource_change::Response = self.call(call, message).await.map_err(one)?;
        let mut diagnostics = diagnostic::from_wire(response.diagnostics);
        let state =
            self.read_value(call, response.new_state, ty, &[&request.prior, &request.planned], &mut diagnostics);
        Ok(ApplyResponse {
            identity: self.identity_of(&request.kind, response.new_identity).await,
            new_state: state.unwrap_or_else(|| request.prior.clone()),
            private: shared(&response.private),
            legacy_type_system: response.legacy_type_system,
            diagnostics,
        })
    }

    pub(super) async fn try_move(&self, request: MoveRequest) -> Result<MoveResponse, ProviderDiagnostics> {
        let call = Call::MoveResourceState;
        let schema = self.managed(&request.target_kind).await?;
        let ty = schema.implied_type();
        let identity = request.source_identity;
        let message = wire::move_resource_state::Request {
            source_provider_address: request.source_provider,
            source_type_name: request.source_kind.to_string(),
            source_schema_version: request.source_version,
            source_state: Some(wire::RawState { json: request.source_state, ..Default::default() }),
            target_type_name: request.target_kind.to_string(),
            source_private: bytes_of(&request.source_private),
            source_identity_schema_version: identity.as_ref().map_or(0, |identity| identity.schema_version),
            source_identity: identity.map(raw_identity),
        };
        let response: wire::move_resource_state::Response = self.call(call, message).await.map_err(one)?;
        let mut diagnostics = diagnostic::from_wire(response.diagnostics);
        let state = self.read_value(call, response.target_state, ty, &[], &mut diagnostics);
        let state = state.unwrap_or_else(|| Value::null(ty.clone()));
        let identity = self.identity_of(&request.target_kind, response.target_identity).await;
        Ok(MoveResponse { state, identity, private: shared(&response.target_private), diagnostics })
    }

    pub(super) async fn try_generate(
        &self,
        kind: &str,
        state: &Value,
    ) -> Result<(Value, ProviderDiagnostics), ProviderDiagnostics> {
        let call = Call::GenerateResourceConfig;
        let schema = self.managed(kind).await?;
        let ty = schema.implied_type();
        let message =
            wire::generate_resource_config::Request { type_name: kind.to_owned(), state: value::to_wire(state, ty) };
        let response: wire::generate_resource_config::Response = self.call(call, message).await.map_err(one)?;
        let mut diagnostics = diagnostic::from_wire(response.diagnostics);
        let config = self.read_value(call, response.config, ty, &[state], &mut diagnostics);
        Ok((config.unwrap_or_else(|| Value::null(ty.clone())), diagnostics))
    }
}
