//! The answering end of the calls that concern actions.

use std::sync::Arc;

use bytes::Bytes;
use tonic::Status;
use wire::invoke_action::{Event, event};

use super::grpc::{Reply, encoded, reply};
use super::progress;
use super::provider_server::{Answer, ProviderServer, answer_or, decode, either, only_diagnostics, require};
use super::wire::message as wire;
use super::wire::protocol::Protocol;
use super::wire::{capabilities, diagnostic};
use crate::provider::{InvokeActionRequest, PlanActionRequest, ProviderDiagnostics};
use crate::schema::Schema;

impl<P: Protocol> ProviderServer<P> {
    async fn action(&self, kind: &str) -> Answer<Arc<Schema>> {
        require(self.schemas().await?.action(kind), || format!("unknown action type {kind:?}"))
    }

    pub(super) async fn validate_action(
        &self,
        request: wire::validate_action_config::Request,
    ) -> Result<Reply, Status> {
        let kind = &request.type_name;
        let answer = async {
            let config = decode(request.config, self.action(kind).await?.implied_type())?;
            Ok(self.provider().validate_action_config(kind, config).await)
        };
        Ok(only_diagnostics(either(answer.await)))
    }

    pub(super) async fn plan_action(&self, request: wire::plan_action::Request) -> Result<Reply, Status> {
        let answer = async {
            let schema = self.action(&request.action_type).await?;
            let request = PlanActionRequest {
                kind: request.action_type.into(),
                config: decode(request.config, schema.implied_type())?,
                client: capabilities::client_from_wire(request.client_capabilities),
            };
            let response = self.provider().plan_action(request).await;
            Ok(wire::plan_action::Response {
                diagnostics: diagnostic::to_wire(response.diagnostics),
                deferred: capabilities::deferral_to_wire(response.deferred),
            })
        };
        let failed = |diagnostics| wire::plan_action::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }

    pub(super) async fn invoke_action(&self, request: wire::invoke_action::Request) -> Result<Reply, Status> {
        let config = async { decode(request.config, self.action(&request.action_type).await?.implied_type()) };
        let config = match config.await {
            Ok(config) => config,
            Err(failures) => return Ok(Reply::Message(completed(failures))),
        };
        let (progress, texts) = progress::texts();
        let kind = request.action_type.into();
        let client = capabilities::client_from_wire(request.client_capabilities);
        let request = InvokeActionRequest { kind, config, client, progress };
        let provider = self.provider().clone();
        let work = async move { Some(completed(provider.invoke_action(request).await)) };
        Ok(progress::reply_while(work, texts, in_progress))
    }
}

fn in_progress(message: String) -> Bytes {
    encoded(&Event { r#type: Some(event::Type::Progress(event::Progress { message })) })
}

fn completed(diagnostics: ProviderDiagnostics) -> Bytes {
    let diagnostics = diagnostic::to_wire(diagnostics);
    encoded(&Event { r#type: Some(event::Type::Completed(event::Completed { diagnostics })) })
}
