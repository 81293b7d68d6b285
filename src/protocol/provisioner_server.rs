//! Puts a [`Provisioner`] on the wire, in protocol 5, the only one that provisioners speak.

use std::sync::Arc;

use bytes::Bytes;
use prost::Message;
use terrane_value::Value;
use tonic::Status;

use super::grpc::{Reply, encoded};
use super::progress;
use super::wire::dynamic_value::DynamicValue;
use super::wire::protocol::Protocol;
use super::wire::v5::{V5, message as wire};
use super::wire::{diagnostic, provisioner as convert, schema, value};
use crate::provider::{ProviderDiagnostic, ProviderDiagnostics, ProvisionRequest, Provisioner};
use crate::wire::INVALID_CALL;

pub struct ProvisionerServer {
    provisioner: Arc<dyn Provisioner>,
}

impl ProvisionerServer {
    pub fn new(provisioner: Arc<dyn Provisioner>) -> ProvisionerServer {
        ProvisionerServer { provisioner }
    }

    /// Answers a call, if the path is one of a provisioner.
    pub async fn answer(&self, path: &str, request: Bytes) -> Option<Result<Reply, Status>> {
        let reply = match path.strip_prefix(convert::SERVICE)? {
            "GetSchema" => self.get_schema().await.map(Reply::Message),
            "ValidateProvisionerConfig" => self.validate(request).await.map(Reply::Message),
            "ProvisionResource" => self.provision(request).await,
            "Stop" => {
                let error = self.provisioner.stop().await.err().unwrap_or_default();
                Ok(Reply::Message(encoded(&wire::stop::Response { error })))
            }
            _ => return None,
        };
        Some(reply)
    }

    async fn get_schema(&self) -> Result<Bytes, Status> {
        let mut response = wire::get_provisioner_schema::Response::default();
        match self.provisioner.schema().await {
            Ok(schema) => {
                let bytes = V5::encode_schema(schema::to_wire(&schema, false));
                response.provisioner = wire::Schema::decode(bytes.as_slice()).ok();
            }
            Err(failures) => response.diagnostics = to_5(failures),
        }
        Ok(encoded(&response))
    }

    async fn validate(&self, request: Bytes) -> Result<Bytes, Status> {
        let request = read::<wire::validate_provisioner_config::Request>(request)?;
        let diagnostics = match self.config(request.config).await {
            Ok(config) => self.provisioner.validate(config).await,
            Err(failures) => failures,
        };
        Ok(encoded(&wire::validate_provisioner_config::Response { diagnostics: to_5(diagnostics) }))
    }

    async fn provision(&self, request: Bytes) -> Result<Reply, Status> {
        let request = read::<wire::provision_resource::Request>(request)?;
        let connection = value::from_wire(request.connection, &convert::connection_type());
        let connection = connection.map_err(|error| Status::internal(error.to_string()))?;
        let config = match self.config(request.config).await {
            Ok(config) => config,
            Err(failures) => return Ok(Reply::Message(last(failures))),
        };
        let (output, texts) = progress::texts();
        let request = ProvisionRequest { config, connection: convert::connection_object(&connection), output };
        let provisioner = self.provisioner.clone();
        let work = async move {
            let diagnostics = provisioner.provision(request).await;
            (!diagnostics.is_empty()).then(|| last(diagnostics))
        };
        Ok(progress::reply_while(work, texts, piece))
    }

    async fn config(&self, config: Option<DynamicValue>) -> Result<Value, ProviderDiagnostics> {
        let schema = self.provisioner.schema().await?;
        value::from_wire(config, schema.implied_type()).map_err(|error| {
            vec![ProviderDiagnostic::error(INVALID_CALL, format!("The request cannot be read: {error}."))]
        })
    }
}

fn piece(output: String) -> Bytes {
    encoded(&wire::provision_resource::Response { output, diagnostics: Vec::new() })
}

fn last(diagnostics: ProviderDiagnostics) -> Bytes {
    encoded(&wire::provision_resource::Response { output: String::new(), diagnostics: to_5(diagnostics) })
}

fn to_5(diagnostics: ProviderDiagnostics) -> Vec<wire::Diagnostic> {
    convert::diagnostics_to_5(diagnostic::to_wire(diagnostics))
}

fn read<M: Message + Default>(request: Bytes) -> Result<M, Status> {
    M::decode(request).map_err(|error| Status::internal(format!("the request cannot be read: {error}")))
}
