//! Puts a [`Provider`] on the wire: the answering end of what `provider_client` calls, in either protocol version.

use crate::plugin::wire::INVALID_CALL;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use bytes::Bytes;
use prost::Message;
use tokio::sync::OnceCell;
use tonic::Status;

use super::grpc::{self, Reply, reply};
use super::wire::dynamic_value::DynamicValue;
use super::wire::protocol::{Call, Protocol};
use super::wire::v6::message as wire;
use super::wire::{diagnostic, function, schema, value};
use crate::lang::value::{Type, Value, json};
use crate::model::provider::{
    ApplyRequest, ConfigureRequest, FunctionError, Identity, IdentitySchema, MoveRequest, PlanRequest, Provider,
    ProviderDiagnostic, ProviderDiagnostics, RawState, ReadDataRequest, ReadRequest, UpgradeRequest, no_provider_meta,
};
use crate::model::schema::{ProviderSchemas, Schema};

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
        Some(self.dispatch(call, request).await)
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
            Call::UpgradeResourceIdentity => Err(grpc::unimplemented(&P::path(call))),
            // The other calls are those of state stores.
            _ => self.answer_store(call, request).await,
        }
    }

    pub(super) fn provider(&self) -> &dyn Provider {
        &*self.provider
    }

    pub(super) async fn schemas(&self) -> Answer<&Arc<dyn ProviderSchemas>> {
        self.schemas.get_or_try_init(|| self.provider.schemas()).await
    }

    async fn managed(&self, kind: &str) -> Answer<Arc<Schema>> {
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

    async fn meta(&self, meta: Option<DynamicValue>) -> Answer<Value> {
        if meta.is_none() {
            return Ok(no_provider_meta());
        }
        match self.schemas().await?.provider_meta() {
            Ok(Some(schema)) => decode(meta, schema.implied_type()),
            Ok(None) => Ok(no_provider_meta()),
            Err(error) => Err(vec![bad(error)]),
        }
    }

    async fn get_schema(&self) -> Result<Reply, Status> {
        let schemas = match self.schemas().await {
            Ok(schemas) => schemas,
            Err(failures) => {
                let diagnostics = diagnostic::to_wire(failures);
                return Ok(reply(&wire::get_provider_schema::Response { diagnostics, ..Default::default() }));
            }
        };
        let response = schema::to_response::<P>(&**schemas).map_err(Status::internal)?;
        Ok(Reply::Message(response.into()))
    }

    async fn get_metadata(&self) -> Result<Reply, Status> {
        use wire::get_metadata::{DataSourceMetadata, EphemeralMetadata, FunctionMetadata, ResourceMetadata, Response};
        let response = match self.schemas().await {
            Err(failures) => Response { diagnostics: diagnostic::to_wire(failures), ..Default::default() },
            Ok(schemas) => {
                let text = |names: Vec<Arc<str>>| names.into_iter().map(|name| name.to_string());
                Response {
                    server_capabilities: Some(schema::to_capabilities(schemas.capabilities())),
                    resources: text(schemas.managed_names()).map(|type_name| ResourceMetadata { type_name }).collect(),
                    data_sources: text(schemas.data_names())
                        .map(|type_name| DataSourceMetadata { type_name })
                        .collect(),
                    ephemeral_resources: text(schemas.ephemeral_names())
                        .map(|type_name| EphemeralMetadata { type_name })
                        .collect(),
                    functions: text(schemas.function_names()).map(|name| FunctionMetadata { name }).collect(),
                    ..Default::default()
                }
            }
        };
        Ok(reply(&response))
    }

    async fn get_functions(&self) -> Result<Reply, Status> {
        let mut response = wire::get_functions::Response::default();
        match self.schemas().await {
            Err(failures) => response.diagnostics = diagnostic::to_wire(failures),
            Ok(schemas) => {
                for name in schemas.function_names() {
                    if let Ok(Some(signature)) = schemas.function(&name) {
                        response.functions.insert(name.to_string(), function::to_wire(&signature));
                    }
                }
            }
        }
        Ok(reply(&response))
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
                deferral_allowed: allows_deferral(request.client_capabilities),
            };
            Ok(self.provider.configure(request).await)
        };
        Ok(only_diagnostics(either(answer.await)))
    }

    async fn validate_resource(&self, request: wire::validate_resource_config::Request) -> Result<Reply, Status> {
        let kind = &request.type_name;
        let answer = async {
            let config = decode(request.config, self.managed(kind).await?.implied_type())?;
            let deferral_allowed = allows_deferral(request.client_capabilities);
            Ok(self.provider.validate_resource_config(kind, config, deferral_allowed).await)
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

    async fn upgrade(&self, request: wire::upgrade_resource_state::Request) -> Result<Reply, Status> {
        let answer = async {
            let schema = self.managed(&request.type_name).await?;
            let raw = request.raw_state.unwrap_or_default();
            let raw = if raw.json.is_empty() {
                RawState::Flat(raw.flatmap.into_iter().collect())
            } else {
                RawState::Json(raw.json)
            };
            let request = UpgradeRequest { kind: request.type_name.into(), version: request.version, raw };
            let (state, diagnostics) = self.provider.upgrade_resource_state(request).await;
            Ok(wire::upgrade_resource_state::Response {
                upgraded_state: encode(&state, schema.implied_type()),
                diagnostics: diagnostic::to_wire(diagnostics),
            })
        };
        let failed = |diagnostics| wire::upgrade_resource_state::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }

    async fn read(&self, request: wire::read_resource::Request) -> Result<Reply, Status> {
        let answer = async {
            let schema = self.managed(&request.type_name).await?;
            let ty = schema.implied_type();
            let kind = request.type_name.clone();
            let request = ReadRequest {
                kind: request.type_name.into(),
                current: decode(request.current_state, ty)?,
                private: request.private.as_ref().into(),
                provider_meta: self.meta(request.provider_meta).await?,
                deferral_allowed: allows_deferral(request.client_capabilities),
            };
            let response = self.provider.read_resource(request).await;
            Ok(wire::read_resource::Response {
                new_identity: self.identity(&kind, response.identity).await?,
                new_state: encode(&response.new_state, ty),
                diagnostics: diagnostic::to_wire(response.diagnostics),
                private: Bytes::copy_from_slice(&response.private),
                deferred: response.deferred.then(wire::Deferred::default),
            })
        };
        let failed = |diagnostics| wire::read_resource::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }

    async fn plan(&self, request: wire::plan_resource_change::Request) -> Result<Reply, Status> {
        let answer = async {
            let schema = self.managed(&request.type_name).await?;
            let ty = schema.implied_type();
            let prior = decode(request.prior_state, ty)?;
            let proposed = decode_like(request.proposed_new_state, ty, &[&prior])?;
            let request = PlanRequest {
                kind: request.type_name.into(),
                config: decode_like(request.config, ty, &[&proposed])?,
                prior,
                proposed,
                prior_private: request.prior_private.as_ref().into(),
                provider_meta: self.meta(request.provider_meta).await?,
                deferral_allowed: allows_deferral(request.client_capabilities),
            };
            let response = self.provider.plan_resource_change(request).await;
            Ok(wire::plan_resource_change::Response {
                planned_state: encode(&response.planned, ty),
                requires_replace: response.requires_replace.iter().map(diagnostic::path_to_wire).collect(),
                planned_private: Bytes::copy_from_slice(&response.private),
                diagnostics: diagnostic::to_wire(response.diagnostics),
                legacy_type_system: response.legacy_type_system,
                deferred: response.deferred.then(wire::Deferred::default),
                ..Default::default()
            })
        };
        let failed = |diagnostics| wire::plan_resource_change::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }

    async fn apply(&self, request: wire::apply_resource_change::Request) -> Result<Reply, Status> {
        let prior = request.prior_state.clone();
        let answer = async {
            let schema = self.managed(&request.type_name).await?;
            let ty = schema.implied_type();
            let kind = request.type_name.clone();
            let prior = decode(request.prior_state, ty)?;
            let planned = decode_like(request.planned_state, ty, &[&prior])?;
            let request = ApplyRequest {
                kind: request.type_name.into(),
                config: decode_like(request.config, ty, &[&planned])?,
                prior,
                planned,
                planned_private: request.planned_private.as_ref().into(),
                provider_meta: self.meta(request.provider_meta).await?,
            };
            let response = self.provider.apply_resource_change(request).await;
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

    /// What identifies an object, for the wire.
    async fn identity(&self, kind: &str, of: Option<Identity>) -> Answer<Option<wire::ResourceIdentityData>> {
        let Some(of) = of else { return Ok(None) };
        let Some(schema) = self.provider.identity_schema(kind).await? else { return Ok(None) };
        let ty = schema.implied_type();
        let value = json::from_json(of.json.as_bytes(), &ty).map_err(|error| vec![bad(error.to_string())])?;
        Ok(Some(wire::ResourceIdentityData { identity_data: value::to_wire(&value, &ty) }))
    }

    async fn identity_schemas(&self) -> Result<Reply, Status> {
        let answer = async {
            let mut identity_schemas = HashMap::new();
            for kind in self.schemas().await?.managed_names() {
                if let Some(schema) = self.provider.identity_schema(&kind).await? {
                    identity_schemas.insert(kind.to_string(), identity_schema(&schema));
                }
            }
            Ok(wire::get_resource_identity_schemas::Response { identity_schemas, diagnostics: Vec::new() })
        };
        let failed = |diagnostics| wire::get_resource_identity_schemas::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }

    async fn import(&self, request: wire::import_resource_state::Request) -> Result<Reply, Status> {
        let answer = async {
            let kind = &request.type_name;
            let response = match request.identity {
                Some(identity) => {
                    let schema = self.provider.identity_schema(kind).await?;
                    let schema =
                        schema.ok_or_else(|| vec![bad(format!("objects of the type {kind:?} have no identity"))])?;
                    let identity = decode(identity.identity_data, &schema.implied_type())?;
                    self.provider.import_by_identity(kind, identity).await
                }
                None => self.provider.import_resource_state(kind, &request.id).await,
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
            let deferred = response.deferred.then(wire::Deferred::default);
            Ok(wire::import_resource_state::Response { imported_resources, diagnostics, deferred })
        };
        let failed = |diagnostics| wire::import_resource_state::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
    }

    async fn move_state(&self, request: wire::move_resource_state::Request) -> Result<Reply, Status> {
        let answer = async {
            let schema = self.managed(&request.target_type_name).await?;
            let request = MoveRequest {
                source_provider: request.source_provider_address,
                source_kind: request.source_type_name.into(),
                source_version: request.source_schema_version,
                source_state: request.source_state.unwrap_or_default().json,
                source_private: request.source_private.as_ref().into(),
                target_kind: request.target_type_name.into(),
            };
            let response = self.provider.move_resource_state(request).await;
            Ok(wire::move_resource_state::Response {
                target_state: encode(&response.state, schema.implied_type()),
                diagnostics: diagnostic::to_wire(response.diagnostics),
                target_private: Bytes::copy_from_slice(&response.private),
                target_identity: None,
            })
        };
        let failed = |diagnostics| wire::move_resource_state::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer.await, failed)))
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
                deferral_allowed: allows_deferral(request.client_capabilities),
            };
            let response = self.provider.read_data_source(request).await;
            Ok(wire::read_data_source::Response {
                state: encode(&response.state, ty),
                diagnostics: diagnostic::to_wire(response.diagnostics),
                deferred: response.deferred.then(wire::Deferred::default),
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
            let response = self.provider.open_ephemeral(kind, decode(request.config, ty)?).await;
            Ok(wire::open_ephemeral_resource::Response {
                diagnostics: diagnostic::to_wire(response.diagnostics),
                renew_at: response.renew_at.map(timestamp),
                result: encode(&response.result, ty),
                private: Some(response.private.into()),
                deferred: response.deferred.then(wire::Deferred::default),
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

fn allows_deferral(client: Option<wire::ClientCapabilities>) -> bool {
    client.is_some_and(|client| client.deferral_allowed)
}

fn bad(error: impl std::fmt::Display) -> ProviderDiagnostic {
    ProviderDiagnostic::error(INVALID_CALL, format!("The request cannot be read: {error}."))
}

pub(super) fn require<T>(result: Result<Option<Arc<T>>, String>, missing: impl FnOnce() -> String) -> Answer<Arc<T>> {
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
fn decode_like(value: Option<DynamicValue>, ty: &Type, others: &[&Value]) -> Answer<Value> {
    value::from_wire_like(value, ty, others).map_err(|error| vec![bad(error)])
}

/// A provider that failed may have no value of the right type: the caller gets null then.
fn encode(value: &Value, ty: &Type) -> Option<DynamicValue> {
    if value.is_null() { value::to_wire(&Value::null(ty.clone()), ty) } else { value::to_wire(value, ty) }
}

fn identity_schema(schema: &IdentitySchema) -> wire::ResourceIdentitySchema {
    let attribute =
        |(name, (ty, required)): (&Arc<str>, &(Type, bool))| wire::resource_identity_schema::IdentityAttribute {
            name: name.to_string(),
            r#type: ty.to_json_bytes().into(),
            required_for_import: *required,
            optional_for_import: !required,
            description: String::new(),
        };
    let identity_attributes = schema.attributes.iter().map(attribute).collect();
    wire::ResourceIdentitySchema { version: schema.version, identity_attributes }
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
