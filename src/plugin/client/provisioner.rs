//! A provisioner in another process. Provisioners speak protocol 5 only.

use std::sync::Arc;

use async_trait::async_trait;
use base::telemetry::{self, Description, Detail};
use prost::Message;
use terrane_protocol::grpc::Channel;
use terrane_protocol::grpc::client::Method;
use terrane_protocol::provider::{ProviderDiagnostic, ProviderDiagnostics, ProvisionRequest, Provisioner, has_errors};
use terrane_protocol::schema::{Schema, SchemaError};
use terrane_protocol::wire::protocol::Protocol;
use terrane_protocol::wire::v5::{V5, message as wire};
use terrane_protocol::wire::{diagnostic, provisioner as convert, schema, value};
use terrane_value::Value;
use tokio::sync::OnceCell;
use tonic::Status;

use super::failure::Callee;
use crate::process::{Plugin, Process};
use crate::status::status_text;

pub struct ProvisionerClient {
    channel: Channel,
    process: Arc<Process>,
    name: String,
    schema: OnceCell<Arc<Schema>>,
}

impl ProvisionerClient {
    pub fn new(plugin: &Plugin, name: String) -> ProvisionerClient {
        let (channel, process) = (plugin.channel.clone(), plugin.process.clone());
        ProvisionerClient { channel, process, name, schema: OnceCell::new() }
    }

    async fn call<A: Message + 'static, R: Message + Default>(
        &self,
        method: &str,
        request: A,
    ) -> Result<R, ProviderDiagnostic> {
        let path = Method::new(&format!("{}{method}", convert::SERVICE));
        match self.channel.call(&path, request).await {
            Ok(response) => R::decode(response).map_err(|error| self.callee(method).garbage(error)),
            Err(status) => Err(self.failure(method, status).await),
        }
    }

    async fn load_schema(&self) -> Result<Arc<Schema>, ProviderDiagnostics> {
        let request = wire::get_provisioner_schema::Request {};
        let response: wire::get_provisioner_schema::Response =
            self.call("GetSchema", request).await.map_err(|failure| vec![failure])?;
        let diagnostics = diagnostic::from_wire(convert::diagnostics_from_5(response.diagnostics));
        if has_errors(&diagnostics) {
            return Err(diagnostics);
        }
        let schema = response.provisioner.unwrap_or_default().encode_to_vec();
        V5::decode_schema(schema.into())
            .map_err(|error| SchemaError::Message(error.to_string()))
            .and_then(schema::from_wire)
            .map(Arc::new)
            .map_err(|error| vec![self.callee("GetSchema").garbage(error)])
    }

    async fn try_provision(&self, request: &ProvisionRequest) -> Result<ProviderDiagnostics, ProviderDiagnostics> {
        const METHOD: &str = "ProvisionResource";
        let schema = self.schema().await?;
        let connection = convert::connection_type();
        let message = wire::provision_resource::Request {
            config: value::to_wire(&request.config, schema.implied_type()),
            connection: value::to_wire(&convert::connection(&request.connection), &connection),
        };
        let path = Method::new(&format!("{}{METHOD}", convert::SERVICE));
        let mut answer = match self.channel.open(&path, message).await {
            Ok(answer) => answer,
            Err(status) => return Err(vec![self.failure(METHOD, status).await]),
        };
        let mut diagnostics = Vec::new();
        loop {
            match answer.message().await {
                Ok(None) => return Ok(diagnostics),
                Ok(Some(piece)) => {
                    let piece = wire::provision_resource::Response::decode(piece)
                        .map_err(|error| vec![self.callee(METHOD).garbage(error)])?;
                    if !piece.output.is_empty() {
                        (request.output)(&piece.output);
                    }
                    diagnostics.extend(diagnostic::from_wire(convert::diagnostics_from_5(piece.diagnostics)));
                }
                Err(status) => {
                    diagnostics.push(self.failure(METHOD, status).await);
                    return Ok(diagnostics);
                }
            }
        }
    }

    fn callee<'a>(&'a self, method: &'a str) -> Callee<'a> {
        Callee { package: "plugin", kind: "GRPCProvisioner", call: method, name: &self.name }
    }

    async fn failure(&self, method: &str, status: Status) -> ProviderDiagnostic {
        self.callee(method).failure(status, &self.process).await
    }
}

#[async_trait]
impl Provisioner for ProvisionerClient {
    async fn schema(&self) -> Result<Arc<Schema>, ProviderDiagnostics> {
        self.schema.get_or_try_init(|| self.load_schema()).await.cloned()
    }

    async fn validate(&self, config: Value) -> ProviderDiagnostics {
        let schema = match self.schema().await {
            Ok(schema) => schema,
            Err(failures) => return failures,
        };
        let config = value::to_wire(&config, schema.implied_type());
        let request = wire::validate_provisioner_config::Request { config };
        match self.call::<_, wire::validate_provisioner_config::Response>("ValidateProvisionerConfig", request).await {
            Ok(response) => diagnostic::from_wire(convert::diagnostics_from_5(response.diagnostics)),
            Err(failure) => vec![failure],
        }
    }

    async fn provision(&self, request: ProvisionRequest) -> ProviderDiagnostics {
        let describe = || {
            Description::call("ProvisionResource")
                .with("rpc.system", "grpc")
                .with("terrane.provisioner", self.name.clone())
        };
        let failed = |found: &Result<ProviderDiagnostics, _>| !found.as_ref().is_ok_and(|found| !has_errors(found));
        let done = telemetry::traced(Detail::Calls, describe, || self.try_provision(&request), failed).await;
        done.unwrap_or_else(|failures| failures)
    }

    async fn stop(&self) -> Result<(), String> {
        let path = Method::new(&format!("{}Stop", convert::SERVICE));
        let response = self.channel.call(&path, wire::stop::Request {}).await.map_err(|status| status_text(&status))?;
        let response = wire::stop::Response::decode(response).map_err(|error| error.to_string())?;
        if response.error.is_empty() { Ok(()) } else { Err(response.error) }
    }
}
