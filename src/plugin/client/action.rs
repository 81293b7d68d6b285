//! The calls of a provider's client that concern actions.

use std::sync::Arc;

use terrane_protocol::provider::{
    InvokeActionRequest, PlanActionRequest, PlanActionResponse, ProviderDiagnostic, ProviderDiagnostics,
};
use terrane_protocol::schema::{ProviderSchemas, Schema};
use terrane_protocol::wire::protocol::{Call, Protocol};
use terrane_protocol::wire::v6::message as wire;
use terrane_protocol::wire::{capabilities, diagnostic, value};
use terrane_value::Value;
use wire::invoke_action::{Event, event};

use super::provider::{ProviderClient, one, require};

impl<P: Protocol> ProviderClient<P> {
    async fn action(&self, kind: &str) -> Result<Arc<Schema>, ProviderDiagnostics> {
        let schemas = self.wire_schemas().await?;
        require(schemas.action(kind), || format!("unknown action type {kind:?}"))
    }

    pub(super) async fn try_validate_action(
        &self,
        kind: &str,
        config: &Value,
    ) -> Result<ProviderDiagnostics, ProviderDiagnostics> {
        let schema = self.action(kind).await?;
        let config = value::to_wire(config, schema.implied_type());
        let request = wire::validate_action_config::Request { type_name: kind.to_owned(), config };
        Ok(self.validate(Call::ValidateActionConfig, request).await)
    }

    pub(super) async fn try_plan_action(
        &self,
        request: &PlanActionRequest,
    ) -> Result<PlanActionResponse, ProviderDiagnostics> {
        let schema = self.action(&request.kind).await?;
        let message = wire::plan_action::Request {
            action_type: request.kind.to_string(),
            config: value::to_wire(&request.config, schema.implied_type()),
            client_capabilities: capabilities::client_to_wire::<P>(request.client),
        };
        let response: wire::plan_action::Response = self.call(Call::PlanAction, message).await.map_err(one)?;
        Ok(PlanActionResponse {
            deferred: capabilities::deferral_from_wire(response.deferred),
            diagnostics: diagnostic::from_wire(response.diagnostics),
        })
    }

    pub(super) async fn try_invoke(
        &self,
        request: &InvokeActionRequest,
    ) -> Result<ProviderDiagnostics, ProviderDiagnostics> {
        let schema = self.action(&request.kind).await?;
        let message = wire::invoke_action::Request {
            action_type: request.kind.to_string(),
            config: value::to_wire(&request.config, schema.implied_type()),
            client_capabilities: capabilities::client_to_wire::<P>(request.client),
        };
        let mut events = self.open(Call::InvokeAction, message).await.map_err(one)?;
        let mut completed = None;
        // To the end, even if it is completed: an answer that is not read to its end counts as cancelled.
        while let Some(event) = self.next::<Event>(&mut events).await.map_err(one)? {
            match event.r#type {
                Some(event::Type::Progress(progress)) => (request.progress)(&progress.message),
                Some(event::Type::Completed(end)) => completed = Some(diagnostic::from_wire(end.diagnostics)),
                // Of a later version of the protocol.
                None => {}
            }
        }
        completed.ok_or_else(|| {
            let detail =
                format!("The provider ended the action {:?} without reporting whether it succeeded.", request.kind);
            one(ProviderDiagnostic::error("Incomplete action", detail))
        })
    }
}
