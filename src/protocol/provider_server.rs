//! Puts a [`Provider`] on the wire: the answering end of what the client in `plugin` calls, in either protocol version.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use bytes::Bytes;
use prost::Message;
use terrane_value::{Type, Value};
use tokio::sync::OnceCell;
use tonic::Status;
use tracing::Instrument as _;

use super::call_span::call_span;
use super::grpc::{Reply, reply};
use super::wire::dynamic_value::DynamicValue;
use super::wire::message as wire;
use super::wire::protocol::{Call, Protocol};
use super::wire::{INVALID_CALL, capabilities, diagnostic, function, value};
use crate::provider::{
    ConfigureRequest, FunctionError, Provider, ProviderDiagnostic, ProviderDiagnostics, ReadDataRequest,
    no_provider_meta,
};
use crate::schema::{ProviderSchemas, Schema, SchemaError};

pub struct ProviderServer<P> {
    provider: Arc<dyn Provider>,
    schemas: OnceCell<Arc<dyn ProviderSchemas>>,
    /// Agreed on for states, in bytes.
    pub(super) chunk_size: AtomicUsize,
    protocol: PhantomData<fn() -> P>,
}

/// An answer, or the diagnostics that stand in for it.
pub(super) type Answer<T> = Result<T, ProviderDiagnostics>;

impl<P: Protocol> ProviderServer<P> {
    pub fn new(provider: Arc<dyn Provider>) -> ProviderServer<P> {
        ProviderServer { provider, schemas: OnceCell::new(), chunk_size: AtomicUsize::new(0), protocol: PhantomData }
    }

    /// Answers a call, if the path is one of a provider.
    pub async fn answer(&self, path: &str, request: Bytes) -> Option<Result<Reply, Status>> {
        let call = P::call(path)?;
        Some(self.dispatch(call, request).instrument(call_span(call)).await)
    }

    async fn dispatch(&self, call: Call, request: Bytes) -> Result<Reply, Status> {
        match call {
            Call::PlanResourceChange => self.plan(read(request)?).await,
            Call::ApplyResourceChange => self.apply(read(request)?).await,
            Call::ReadResource => self.read(read(request)?).await,
            Call::ValidateResourceConfig => self.validate_resource(read(request)?).await,
            Call::UpgradeResourceState => self.upgrade(read(request)?).await,
            Call::ReadDataSource => self.read_data(read(request)?).await,
            Call::ValidateDataResourceConfig => self.validate_data(read(request)?).await,
            Call::GetProviderSchema => self.get_schema().await,
            Call::ValidateProviderConfig => self.validate_provider(read(request)?).await,
            Call::ConfigureProvider => self.configure(read(request)?).await,
            Call::StopProvider => {
                let error = self.provider.stop().await.err().unwrap_or_default();
                Ok(reply(&wire::stop_provider::Response { error }))
            }
            Call::ImportResourceState => self.import(read(request)?).await,
            Call::MoveResourceState => self.move_state(read(request)?).await,
            Call::CallFunction => self.call_function(read(request)?).await,
            Call::GetFunctions => self.get_functions().await,
            Call::GetMetadata => self.get_metadata().await,
            Call::ValidateEphemeralResourceConfig => self.validate_ephemeral(read(request)?).await,
            Call::OpenEphemeralResource => self.open_ephemeral(read(request)?).await,
            Call::RenewEphemeralResource => self.renew_ephemeral(read(request)?).await,
            Call::CloseEphemeralResource => self.close_ephemeral(read(request)?).await,
            Call::GetResourceIdentitySchemas => self.identity_schemas().await,
            Call::UpgradeResourceIdentity => self.upgrade_identity(read(request)?).await,
            Call::GenerateResourceConfig => self.generate_config(read(request)?).await,
            Call::ValidateListResourceConfig => self.validate_list(read(request)?).await,
            Call::ListResource => self.list(read(request)?).await,
            Call::ValidateActionConfig => self.validate_action(read(request)?).await,
            Call::PlanAction => self.plan_action(read(request)?).await,
            Call::InvokeAction => self.invoke_action(read(request)?).await,
            // The other calls are those of state stores.
            _ => self.answer_store(call, request).await,
        }
    }

    pub(super) fn provider(&self) -> &Arc<dyn Provider> {
        &self.provider
    }

    pub(super) async fn schemas(&self) -> Answer<&Arc<dyn ProviderSchemas>> {
        self.schemas.get_or_try_init(|| self.provider.schemas()).await
    }

    pub(super) async fn managed(&self, kind: &str) -> Answer<Arc<Schema>> {
        require(self.schemas().await?.managed(kind), || format!("unknown resource type {kind:?}"))
    }

    async fn data(&self, kind: &str) -> Answer<Arc<Schema>> {
        require(self.schemas().await?.data(kind), || format!("unknown data source {kind:?}"))
    }

    async fn ephemeral(&self, kind: &str) -> Answer<Arc<Schema>> {
        require(self.schemas().await?.ephemeral(kind), || format!("unknown ephemeral resource {kind:?}"))
    }

    async fn provider_schema(&self) -> Answer<Arc<Schema>> {
        require(self.schemas().await?.provider().map(Some), String::new)
    }

    pub(super) async fn meta(&self, meta: Option<DynamicValue>) -> Answer<Value> {
        if meta.is_none() {
            return Ok(no_provider_meta());
        }
        match self.schemas().await?.provider_meta() {
            Ok(Some(schema)) => decode(meta, schema.implied_type()),
            Ok(None) => Ok(no_provider_meta()),
            Err(error) => Err(vec![bad(error)]),
        }
    }

    async fn validate_provider(&self, request: wire::validate_provider_config::Request) -> Result<Reply, Status> {
        let answer = async {
            let config = decode(request.config, self.provider_schema().await?.implied_type())?;
            Ok(self.provider.validate_provider_config(config).await.1)
        };
        let diagnostics = diagnostic::to_wire(either(answer.await));
        Ok(reply(&wire::validate_provider_config::Response { diagnostics }))
    }

    async fn configure(&self, request: wire::configure_provider::Request) -> Result<Reply, Status> {
        let answer = async {
            let request = ConfigureRequest {
                terraform_version: request.terraform_version,
                config: decode(request.config, self.provider_schema().await?.implied_type())?,
                client: capabilities::client_from_wire(request.client_capabilities),
            };
            Ok(self.provider.configure(request).await)
        };
        Ok(only_diagnostics(either(answer.await)))
    }

    async fn validate_data(&self, request: wire::validate_data_resource_config::Request) -> Result<Reply, Status> {
        let kind = &request.type_name;
        let answer = async {
            let config = decode(request.config, self.data(kind).await?.implied_type())?;
            Ok(self.provider.validate_data_config(kind, config).await)
        };
        Ok(only_diagnostics(either(answer.await)))
    }

    async fn read_data(&self, request: wire::read_data_source::Request) -> Result<Reply, Status> {
        let answer = async {
            let schema = self.data(&request.type_name).await?;
            let ty = schema.implied_type();
            let request = ReadDataRequest {
                kind: request.type_name.into(),
                address: String::new(),
                config: decode(request.config, ty)?,
                provider_meta: self.meta(request.provider_meta).await?,
                client: capabilities::client_from_wire(request.client_capabilities),
            };
            let response = self.provider.read_data_source(request).await;
            Ok(wire::read_data_source::Response {
                state: encode(&response.state, ty),
                diagnostics: diagnostic::to_wire(response.diagnostics),
                deferred: capabilities::deferral_to_wire(response.deferred),
            })
        };
        let failed = |diagnostics| wire::read_data_source::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }

    async fn validate_ephemeral(
        &self,
        request: wire::validate_ephemeral_resource_config::Request,
    ) -> Result<Reply, Status> {
        let kind = &request.type_name;
        let answer = async {
            let config = decode(request.config, self.ephemeral(kind).await?.implied_type())?;
            Ok(self.provider.validate_ephemeral_config(kind, config).await)
        };
        Ok(only_diagnostics(either(answer.await)))
    }

    async fn open_ephemeral(&self, request: wire::open_ephemeral_resource::Request) -> Result<Reply, Status> {
        let kind = &request.type_name;
        let answer = async {
            let schema = self.ephemeral(kind).await?;
            let ty = schema.implied_type();
            let client = capabilities::client_from_wire(request.client_capabilities);
            let response = self.provider.open_ephemeral(kind, decode(request.config, ty)?, client).await;
            Ok(wire::open_ephemeral_resource::Response {
                diagnostics: diagnostic::to_wire(response.diagnostics),
                renew_at: response.renew_at.map(timestamp),
                result: encode(&response.result, ty),
                private: Some(response.private.into()),
                deferred: capabilities::deferral_to_wire(response.deferred),
            })
        };
        let failed = |diagnostics| wire::open_ephemeral_resource::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }

    async fn renew_ephemeral(&self, request: wire::renew_ephemeral_resource::Request) -> Result<Reply, Status> {
        let private = request.private.unwrap_or_default().to_vec();
        let response = self.provider.renew_ephemeral(&request.type_name, private).await;
        Ok(reply(&wire::renew_ephemeral_resource::Response {
            diagnostics: diagnostic::to_wire(response.diagnostics),
            renew_at: response.renew_at.map(timestamp),
            private: Some(response.private.into()),
        }))
    }

    async fn close_ephemeral(&self, request: wire::close_ephemeral_resource::Request) -> Result<Reply, Status> {
        let private = request.private.unwrap_or_default().to_vec();
        Ok(only_diagnostics(self.provider.close_ephemeral(&request.type_name, private).await))
    }

    async fn call_function(&self, request: wire::call_function::Request) -> Result<Reply, Status> {
        let name = &request.name;
        let answer = async {
            let schemas = self.schemas().await.map_err(as_function_error)?;
            let signature = require(schemas.function(name), || format!("unknown function {name:?}"));
            let signature = signature.map_err(as_function_error)?;
            let mut arguments = Vec::with_capacity(request.arguments.len());
            for (position, argument) in request.arguments.into_iter().enumerate() {
                let ty = function::argument_type(&signature, position).unwrap_or(&Type::Dynamic);
                arguments.push(decode(Some(argument), ty).map_err(as_function_error)?);
            }
            let result = self.provider.call_function(name, arguments).await?;
            Ok(encode(&result, &signature.returns))
        };
        let (result, error) = match answer.await {
            Ok(result) => (result, None),
            Err(error) => (None, Some(function::to_error(error))),
        };
        Ok(reply(&wire::call_function::Response { result, error }))
    }
}

pub(super) fn read<M: Message + Default>(request: Bytes) -> Result<M, Status> {
    M::decode(request).map_err(|error| Status::internal(format!("the request cannot be read: {error}")))
}

pub(super) fn bad(error: impl std::fmt::Display) -> ProviderDiagnostic {
    ProviderDiagnostic::error(INVALID_CALL, format!("The request cannot be read: {error}."))
}

pub(super) fn require<T>(
    result: Result<Option<Arc<T>>, SchemaError>,
    missing: impl FnOnce() -> String,
) -> Answer<Arc<T>> {
    match result {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(vec![ProviderDiagnostic::error(missing(), "")]),
        Err(error) => Err(vec![bad(error)]),
    }
}

pub(super) fn decode(value: Option<DynamicValue>, ty: &Type) -> Answer<Value> {
    decode_like(value, ty, &[])
}

/// As `decode`; long texts that are in one of the other values are shared with it.
pub(super) fn decode_like(value: Option<DynamicValue>, ty: &Type, others: &[&Value]) -> Answer<Value> {
    value::from_wire_like(value, ty, others).map_err(|error| vec![bad(error)])
}

/// A provider that failed may have no value of the right type: the caller gets null then.
pub(super) fn encode(value: &Value, ty: &Type) -> Option<DynamicValue> {
    if value.is_null() { value::to_wire(&Value::null(ty.clone()), ty) } else { value::to_wire(value, ty) }
}

pub(super) fn answer_or<T>(answer: Answer<T>, failed: impl FnOnce(Vec<wire::Diagnostic>) -> T) -> T {
    answer.unwrap_or_else(|failures| failed(diagnostic::to_wire(failures)))
}

pub(super) fn either(answer: Answer<ProviderDiagnostics>) -> ProviderDiagnostics {
    answer.unwrap_or_else(|failures| failures)
}

/// The answer of every call that has only diagnostics, which are its first field.
pub(super) fn only_diagnostics(diagnostics: ProviderDiagnostics) -> Reply {
    reply(&wire::validate_resource_config::Response { diagnostics: diagnostic::to_wire(diagnostics) })
}

fn as_function_error(failures: ProviderDiagnostics) -> FunctionError {
    let text = failures.into_iter().next().map(|first| first.summary).unwrap_or_default();
    FunctionError { text, argument: None }
}

fn timestamp((seconds, nanos): (i64, i32)) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds, nanos }
}
