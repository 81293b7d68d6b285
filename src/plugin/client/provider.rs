//! A provider in another process, as `protocol::provider` wants one: every call goes over the wire and back.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use base::telemetry::{self, Description, Detail};
use bytes::Bytes;
use prost::Message;
use terrane_protocol::grpc::Channel;
use terrane_protocol::grpc::client::Method;
use terrane_protocol::provider::{
    ApplyRequest, ApplyResponse, ClientCapabilities, ConfigureRequest, FunctionError, Identity, IdentitySchema,
    ImportResponse, InvokeActionRequest, ListRequest, ListSink, MoveRequest, MoveResponse, OpenEphemeralResponse,
    PlanActionRequest, PlanActionResponse, PlanRequest, PlanResponse, Provider, ProviderDiagnostic,
    ProviderDiagnostics, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, RenewEphemeralResponse,
    StateStores, UpgradeRequest, ValidateListRequest, has_errors,
};
use terrane_protocol::schema::{ProviderSchemas, Schema};
use terrane_protocol::wire::dynamic_value::DynamicValue;
use terrane_protocol::wire::protocol::{Call, Protocol};
use terrane_protocol::wire::schema::WireSchemas;
use terrane_protocol::wire::v6::message as wire;
use terrane_protocol::wire::{capabilities, diagnostic, value};
use terrane_value::{Type, Value};
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;
use tonic::{Status, Streaming};

use super::confirmation::{SchemaSource, confirm, same_response};
use super::failure::Callee;
use crate::process::{Plugin, Process};
use crate::schema_cache::{CacheKey, Entry};

/// Schemas that are being written down. Who ends the process waits for that: half a file would stay behind.
pub type Saving = Arc<Mutex<Option<JoinHandle<()>>>>;

pub struct ProviderClient<P> {
    pub(super) channel: Channel,
    process: Arc<Process>,
    /// The source address, for messages.
    name: String,
    /// By the number of the call.
    pub(super) methods: Vec<Method>,
    cache: Option<CacheKey>,
    saving: Saving,
    /// Agreed on for states, in bytes; 0 before that.
    pub(super) chunk_size: AtomicUsize,
    schemas: OnceCell<Arc<WireSchemas<P>>>,
    /// Asked for where an object's identity is met first.
    pub(super) identities: OnceCell<BTreeMap<String, IdentitySchema>>,
    /// Set once the process has been asked for its schema, which some providers need before any other call.
    asked: Arc<OnceCell<()>>,
}

impl<P: Protocol> ProviderClient<P> {
    pub fn new(plugin: &Plugin, name: String, cache: Option<CacheKey>) -> ProviderClient<P> {
        ProviderClient {
            channel: plugin.channel.clone(),
            process: plugin.process.clone(),
            name,
            methods: Call::all().map(|call| Method::new(&P::path(call))).collect(),
            cache,
            saving: Saving::default(),
            chunk_size: AtomicUsize::new(0),
            schemas: OnceCell::new(),
            identities: OnceCell::new(),
            asked: Arc::default(),
        }
    }

    pub fn saving(&self) -> Saving {
        self.saving.clone()
    }

    pub(super) async fn wire_schemas(&self) -> Result<&Arc<WireSchemas<P>>, ProviderDiagnostics> {
        self.schemas.get_or_try_init(|| self.load_schemas()).await
    }

    async fn load_schemas(&self) -> Result<Arc<WireSchemas<P>>, ProviderDiagnostics> {
        if let Some(schemas) = self.kept_schemas() {
            if schemas.capabilities().get_provider_schema_optional {
                let _ = self.asked.set(());
            } else {
                self.ask_in_background();
            }
            return Ok(Arc::new(schemas));
        }
        let response = match self.raw_call(Call::GetProviderSchema, wire::get_provider_schema::Request {}).await {
            Ok(response) => response,
            Err(status) => return Err(vec![self.failure(Call::GetProviderSchema, status).await]),
        };
        let _ = self.asked.set(());
        let read = WireSchemas::<P>::read(response.clone());
        let (schemas, diagnostics) = read.map_err(|error| vec![self.garbage(Call::GetProviderSchema, error)])?;
        let diagnostics = diagnostic::from_wire(diagnostics);
        if has_errors(&diagnostics) {
            return Err(diagnostics);
        }
        if let Some((cache, key)) = self.cache.clone() {
            let entry = Entry { version: P::VERSION, response };
            // Writing and syncing some megabytes must not hold up the plan.
            let work = tokio::task::spawn_blocking(move || cache.store(&key, &entry));
            if let Ok(mut saving) = self.saving.lock() {
                *saving = Some(work);
            }
        }
        Ok(Arc::new(schemas))
    }

    fn kept_schemas(&self) -> Option<WireSchemas<P>> {
        let (cache, key) = self.cache.as_ref()?;
        let entry = cache.load(key).filter(|entry| entry.version == P::VERSION)?;
        WireSchemas::<P>::read(entry.response).ok().map(|(schemas, _)| schemas)
    }

    fn ask_in_background(&self) {
        let (asked, channel) = (self.asked.clone(), self.channel.clone());
        let method = self.methods[Call::GetProviderSchema as usize].clone();
        let cache = self.cache.clone();
        tokio::spawn(async move {
            asked.get_or_init(|| confirm::<P>(channel, method, cache)).await;
        });
    }

    pub(super) fn log_call(&self, call: Call) {
        tracing::trace!("GRPCProvider: {}: {}", call.name_for_people(), self.name);
    }

    pub(super) async fn raw_call<A: Message + 'static>(&self, call: Call, request: A) -> Result<Bytes, Status> {
        self.log_call(call);
        let send = || self.channel.call(&self.methods[call as usize], request);
        telemetry::traced(Detail::Calls, || self.describe(call), send, Result::is_err).await
    }

    fn describe(&self, call: Call) -> Description {
        Description::call(call.name_in_6())
            .with("rpc.system", "grpc")
            .with("rpc.service", P::PACKAGE)
            .with("opentofu.provider.source", self.name.clone())
    }

    pub(super) async fn call<A: Message + 'static, R: Message + Default>(
        &self,
        call: Call,
        request: A,
    ) -> Result<R, ProviderDiagnostic> {
        match self.answer(call, request).await {
            Ok(response) => R::decode(response).map_err(|error| self.garbage(call, error)),
            Err(status) => Err(self.failure(call, status).await),
        }
    }

    pub(super) async fn answer<A: Message + 'static>(&self, call: Call, request: A) -> Result<Bytes, Status> {
        if !self.asked.initialized() {
            self.ask_for_schema().await;
        }
        self.raw_call(call, request).await
    }

    /// A call that is answered with any number of messages.
    pub(super) async fn open<A: Message + 'static>(
        &self,
        call: Call,
        request: A,
    ) -> Result<Events, ProviderDiagnostic> {
        if !self.asked.initialized() {
            self.ask_for_schema().await;
        }
        self.log_call(call);
        let send = || self.channel.open(&self.methods[call as usize], request);
        match telemetry::traced(Detail::Calls, || self.describe(call), send, Result::is_err).await {
            Ok(stream) => Ok(Events { call, stream }),
            Err(status) => Err(self.failure(call, status).await),
        }
    }

    /// The next message of an answer; none at its end.
    pub(super) async fn next<R: Message + Default>(
        &self,
        events: &mut Events,
    ) -> Result<Option<R>, ProviderDiagnostic> {
        match events.stream.message().await {
            Ok(message) => message.map(R::decode).transpose().map_err(|error| self.garbage(events.call, error)),
            Err(status) => Err(self.failure(events.call, status).await),
        }
    }

    /// Ends once the process has been asked for its schema, or needs not to be.
    async fn ask_for_schema(&self) {
        // Loading the schemas asks, or begins to ask, or finds that there is no need to. Its failure shows in the call.
        let _ = self.wire_schemas().await;
        let ask = || async {
            let _ = self.raw_call(Call::GetProviderSchema, wire::get_provider_schema::Request {}).await;
        };
        self.asked.get_or_init(ask).await;
    }

    fn callee(&self, call: Call) -> Callee<'_> {
        Callee { package: P::PACKAGE, kind: "GRPCProvider", call: call.name_for_people(), name: &self.name }
    }

    pub(super) async fn failure(&self, call: Call, status: Status) -> ProviderDiagnostic {
        self.callee(call).failure(status, &self.process).await
    }

    pub(super) fn garbage(&self, call: Call, error: impl std::fmt::Display) -> ProviderDiagnostic {
        self.callee(call).garbage(error)
    }

    pub(super) async fn managed(&self, kind: &str) -> Result<Arc<Schema>, ProviderDiagnostics> {
        let schemas = self.wire_schemas().await?;
        require(schemas.managed(kind), || format!("unknown resource type {kind:?}"))
    }

    async fn data(&self, kind: &str) -> Result<Arc<Schema>, ProviderDiagnostics> {
        let schemas = self.wire_schemas().await?;
        require(schemas.data(kind), || format!("unknown data source {kind:?}"))
    }

    async fn ephemeral(&self, kind: &str) -> Result<Arc<Schema>, ProviderDiagnostics> {
        let schemas = self.wire_schemas().await?;
        require(schemas.ephemeral(kind), || format!("unknown ephemeral resource {kind:?}"))
    }

    /// The module's provider_meta for a provider that wants one.
    pub(super) async fn meta(&self, meta: &Value) -> Result<Option<DynamicValue>, ProviderDiagnostics> {
        let schema = self.wire_schemas().await?.provider_meta().map_err(|error| vec![unreadable(error)])?;
        let Some(schema) = schema else { return Ok(None) };
        let ty = schema.implied_type();
        if meta.is_null() { Ok(value::to_wire(&Value::null(ty.clone()), ty)) } else { Ok(value::to_wire(meta, ty)) }
    }

    /// A value of an answer. What the provider returns as it was in the request is not copied if it is long.
    pub(super) fn read_value(
        &self,
        call: Call,
        value: Option<DynamicValue>,
        ty: &Type,
        request: &[&Value],
        diagnostics: &mut ProviderDiagnostics,
    ) -> Option<Value> {
        value::from_wire_like(value, ty, request).map_err(|error| diagnostics.push(self.garbage(call, error))).ok()
    }

    pub(super) async fn validate<A: Message + 'static>(&self, call: Call, request: A) -> ProviderDiagnostics {
        // All validating calls answer with diagnostics in the same field.
        match self.call::<_, wire::validate_resource_config::Response>(call, request).await {
            Ok(response) => diagnostic::from_wire(response.diagnostics),
            Err(failure) => vec![failure],
        }
    }

    async fn try_read_data(&self, request: ReadDataRequest) -> Result<ReadDataResponse, ProviderDiagnostics> {
        let call = Call::ReadDataSource;
        let schema = self.data(&request.kind).await?;
        let ty = schema.implied_type();
        let message = wire::read_data_source::Request {
            type_name: request.kind.to_string(),
            config: value::to_wire(&request.config, ty),
            provider_meta: self.meta(&request.provider_meta).await?,
            client_capabilities: capabilities::client_to_wire::<P>(request.client),
        };
        let response: wire::read_data_source::Response = self.call(call, message).await.map_err(one)?;
        let mut diagnostics = diagnostic::from_wire(response.diagnostics);
        let deferred = capabilities::deferral_from_wire(response.deferred);
        let state = self.read_value(call, response.state, ty, &[&request.config], &mut diagnostics);
        Ok(ReadDataResponse { state: state.unwrap_or_else(|| Value::null(ty.clone())), deferred, diagnostics })
    }

    async fn try_open(
        &self,
        kind: &str,
        config: &Value,
        client: ClientCapabilities,
    ) -> Result<OpenEphemeralResponse, ProviderDiagnostics> {
        let call = Call::OpenEphemeralResource;
        let schema = self.ephemeral(kind).await?;
        let ty = schema.implied_type();
        let message = wire::open_ephemeral_resource::Request {
            type_name: kind.to_owned(),
            config: value::to_wire(config, ty),
            client_capabilities: capabilities::client_to_wire::<P>(client),
        };
        let response: wire::open_ephemeral_resource::Response = self.call(call, message).await.map_err(one)?;
        let mut diagnostics = diagnostic::from_wire(response.diagnostics);
        let result = self.read_value(call, response.result, ty, &[config], &mut diagnostics);
        Ok(OpenEphemeralResponse {
            result: result.unwrap_or_else(|| Value::null(ty.clone())),
            deferred: capabilities::deferral_from_wire(response.deferred),
            private: response.private.unwrap_or_default().to_vec(),
            renew_at: response.renew_at.map(|time| (time.seconds, time.nanos)),
            diagnostics,
        })
    }
}

/// An answer of any number of messages. Dropping it tells the provider that no more are wanted.
pub(super) struct Events {
    call: Call,
    stream: Streaming<Bytes>,
}

pub(super) fn one(diagnostic: ProviderDiagnostic) -> ProviderDiagnostics {
    vec![diagnostic]
}

fn unreadable(error: impl std::fmt::Display) -> ProviderDiagnostic {
    ProviderDiagnostic::error("Invalid schema from provider", format!("The provider's schema cannot be read: {error}."))
}

pub(super) fn require<T>(
    result: Result<Option<Arc<T>>, impl std::fmt::Display>,
    missing: impl FnOnce() -> String,
) -> Result<Arc<T>, ProviderDiagnostics> {
    match result {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(vec![ProviderDiagnostic::error(missing(), "")]),
        Err(error) => Err(vec![unreadable(error)]),
    }
}

#[async_trait]
impl<P: Protocol> SchemaSource for ProviderClient<P> {
    async fn differs(&self, entry: Entry) -> bool {
        // A failure to answer says nothing: it may be what made the command fail.
        let asked = self.raw_call(Call::GetProviderSchema, wire::get_provider_schema::Request {}).await;
        asked.is_ok_and(|response| !same_response::<P>(entry, response))
    }
}

#[async_trait]
impl<P: Protocol> Provider for ProviderClient<P> {
    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics> {
        Ok(self.wire_schemas().await?.clone())
    }

    async fn validate_provider_config(&self, config: Value) -> (Value, ProviderDiagnostics) {
        let schema = match self.wire_schemas().await {
            Ok(schemas) => schemas.provider().map_err(|error| vec![unreadable(error)]),
            Err(failures) => Err(failures),
        };
        let schema = match schema {
            Ok(schema) => schema,
            Err(failures) => return (config, failures),
        };
        let request =
            wire::validate_provider_config::Request { config: value::to_wire(&config, schema.implied_type()) };
        let call = Call::ValidateProviderConfig;
        // Protocol 5 also returns a prepared configuration, which must not be used.
        match self.call::<_, wire::validate_provider_config::Response>(call, request).await {
            Ok(response) => (config, diagnostic::from_wire(response.diagnostics)),
            Err(failure) => (config, vec![failure]),
        }
    }

    async fn validate_resource_config(
        &self,
        kind: &str,
        config: Value,
        client: ClientCapabilities,
    ) -> ProviderDiagnostics {
        let schema = match self.managed(kind).await {
            Ok(schema) => schema,
            Err(failures) => return failures,
        };
        let request = wire::validate_resource_config::Request {
            type_name: kind.to_owned(),
            config: value::to_wire(&config, schema.implied_type()),
            client_capabilities: capabilities::client_to_wire::<P>(client),
        };
        self.validate(Call::ValidateResourceConfig, request).await
    }

    async fn validate_data_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        let schema = match self.data(kind).await {
            Ok(schema) => schema,
            Err(failures) => return failures,
        };
        let config = value::to_wire(&config, schema.implied_type());
        let request = wire::validate_data_resource_config::Request { type_name: kind.to_owned(), config };
        self.validate(Call::ValidateDataResourceConfig, request).await
    }

    async fn configure(&self, request: ConfigureRequest) -> ProviderDiagnostics {
        let schema = match self.wire_schemas().await {
            Ok(schemas) => schemas.provider().map_err(|error| vec![unreadable(error)]),
            Err(failures) => Err(failures),
        };
        let schema = match schema {
            Ok(schema) => schema,
            Err(failures) => return failures,
        };
        let request = wire::configure_provider::Request {
            terraform_version: request.terraform_version,
            config: value::to_wire(&request.config, schema.implied_type()),
            client_capabilities: capabilities::client_to_wire::<P>(request.client),
        };
        self.validate(Call::ConfigureProvider, request).await
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> (Value, ProviderDiagnostics) {
        self.try_upgrade(request).await.unwrap_or_else(|failures| (Value::null_dynamic(), failures))
    }

    /// If the call fails: the object as it was.
    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        self.try_read(&request).await.unwrap_or_else(|diagnostics| ReadResponse {
            new_state: request.current,
            deferred: None,
            identity: None,
            private: request.private,
            diagnostics,
        })
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        self.try_plan(&request).await.unwrap_or_else(|diagnostics| PlanResponse {
            planned: Value::null_dynamic(),
            identity: None,
            deferred: None,
            requires_replace: Vec::new(),
            private: request.prior_private,
            legacy_type_system: false,
            diagnostics,
        })
    }

    /// If the call fails: the object as it was before, since nothing is known of what became of it.
    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse {
        self.try_apply(&request).await.unwrap_or_else(|diagnostics| ApplyResponse {
            new_state: request.prior,
            identity: None,
            private: request.planned_private,
            legacy_type_system: false,
            diagnostics,
        })
    }

    async fn import_resource_state(&self, kind: &str, id: &str, client: ClientCapabilities) -> ImportResponse {
        self.try_import_by_id(kind, id, client).await.unwrap_or_else(ImportResponse::failed)
    }

    async fn identity_schema(&self, kind: &str) -> Result<Option<IdentitySchema>, ProviderDiagnostics> {
        Ok(self.identity_schemas().await?.get(kind).cloned())
    }

    async fn import_by_identity(&self, kind: &str, identity: Value, client: ClientCapabilities) -> ImportResponse {
        self.try_import_by_identity(kind, identity, client).await.unwrap_or_else(ImportResponse::failed)
    }

    async fn upgrade_resource_identity(&self, kind: &str, stored: Identity) -> (Option<Identity>, ProviderDiagnostics) {
        self.try_upgrade_identity(kind, stored).await.unwrap_or_else(|failures| (None, failures))
    }

    async fn generate_resource_config(&self, kind: &str, state: Value) -> (Value, ProviderDiagnostics) {
        let failed = |failures| (Value::null(state.ty().clone()), failures);
        self.try_generate(kind, &state).await.unwrap_or_else(failed)
    }

    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        self.try_move(request).await.unwrap_or_else(|diagnostics| MoveResponse {
            state: Value::null_dynamic(),
            identity: None,
            private: Arc::default(),
            diagnostics,
        })
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        let failed = |failures| ReadDataResponse::new(Value::null_dynamic(), failures);
        self.try_read_data(request).await.unwrap_or_else(failed)
    }

    async fn validate_ephemeral_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        let schema = match self.ephemeral(kind).await {
            Ok(schema) => schema,
            Err(failures) => return failures,
        };
        let config = value::to_wire(&config, schema.implied_type());
        let request = wire::validate_ephemeral_resource_config::Request { type_name: kind.to_owned(), config };
        self.validate(Call::ValidateEphemeralResourceConfig, request).await
    }

    async fn open_ephemeral(&self, kind: &str, config: Value, client: ClientCapabilities) -> OpenEphemeralResponse {
        self.try_open(kind, &config, client).await.unwrap_or_else(|diagnostics| OpenEphemeralResponse {
            result: Value::null_dynamic(),
            deferred: None,
            private: Vec::new(),
            renew_at: None,
            diagnostics,
        })
    }

    async fn renew_ephemeral(&self, kind: &str, private: Vec<u8>) -> RenewEphemeralResponse {
        let request = wire::renew_ephemeral_resource::Request {
            type_name: kind.to_owned(),
            private: Some(private.clone().into()),
        };
        match self.call::<_, wire::renew_ephemeral_resource::Response>(Call::RenewEphemeralResource, request).await {
            Ok(response) => RenewEphemeralResponse {
                private: response.private.unwrap_or_default().to_vec(),
                renew_at: response.renew_at.map(|time| (time.seconds, time.nanos)),
                diagnostics: diagnostic::from_wire(response.diagnostics),
            },
            Err(failure) => RenewEphemeralResponse { private, renew_at: None, diagnostics: vec![failure] },
        }
    }

    async fn close_ephemeral(&self, kind: &str, private: Vec<u8>) -> ProviderDiagnostics {
        let request =
            wire::close_ephemeral_resource::Request { type_name: kind.to_owned(), private: Some(private.into()) };
        self.validate(Call::CloseEphemeralResource, request).await
    }

    async fn call_function(&self, name: &str, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        self.try_function(name, &arguments).await
    }

    async fn validate_list_config(&self, request: ValidateListRequest) -> ProviderDiagnostics {
        self.try_validate_list(&request).await.unwrap_or_else(|failures| failures)
    }

    async fn list_resources(&self, request: ListRequest, results: &dyn ListSink) -> ProviderDiagnostics {
        self.try_list(&request, results).await.unwrap_or_else(|failures| failures)
    }

    async fn validate_action_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        self.try_validate_action(kind, &config).await.unwrap_or_else(|failures| failures)
    }

    async fn plan_action(&self, request: PlanActionRequest) -> PlanActionResponse {
        self.try_plan_action(&request).await.unwrap_or_else(PlanActionResponse::new)
    }

    async fn invoke_action(&self, request: InvokeActionRequest) -> ProviderDiagnostics {
        self.try_invoke(&request).await.unwrap_or_else(|failures| failures)
    }

    fn state_stores(&self) -> Option<&dyn StateStores> {
        (P::VERSION >= 6).then_some(self as &dyn StateStores)
    }

    async fn stop(&self) -> Result<(), String> {
        let request = wire::stop_provider::Request {};
        let response = self.raw_call(Call::StopProvider, request).await.map_err(|status| status.to_string())?;
        let response = wire::stop_provider::Response::decode(response).map_err(|error| error.to_string())?;
        if response.error.is_empty() { Ok(()) } else { Err(response.error) }
    }
}
