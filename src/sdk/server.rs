//! A provider of this library as the provider of the plugin protocol.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use terrane_protocol::call_span;
use terrane_protocol::provider::{
    ApplyRequest, ApplyResponse, ClientCapabilities, ConfigureRequest, DeferralReason, FunctionError, Identity,
    IdentitySchema, ImportResponse, ImportedObject, InvokeActionRequest, ListRequest, ListSink, MoveRequest,
    MoveResponse, OpenEphemeralResponse, PlanActionRequest, PlanActionResponse, PlanRequest, PlanResponse,
    Provider as ProviderInterface, ProviderDiagnostics, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse,
    RenewEphemeralResponse, StateStores, UpgradeRequest, ValidateListRequest,
};
use terrane_protocol::schema::{Capabilities, ProviderSchemas, StaticSchemas};
use terrane_value::{Path, Value, json};

use super::context::{Context, Private};
use super::erased::{AnyType, Change, check};
use super::error::Error;
use super::log;
use super::model::Values;
use super::panic::guarded;
use super::provider::{Provider, Types};
use super::request::{Import, Moved, Stored, Validation};
use super::schema::Schema;
use crate::stop::Stop;

/// What a call that was asked to stop may still take.
const GRACE: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_secs(1) };

/// A provider with its types, ready to be served.
pub(super) struct Server<P: Provider> {
    provider: P,
    config_schema: Schema,
    types: Types<P::Data>,
    schemas: Arc<StaticSchemas>,
    configured: RwLock<Configured<P::Data>>,
    stop: Stop,
}

/// What `configure` returned.
struct Configured<D> {
    data: Option<Arc<D>>,
    /// The provider could not be configured yet: operations on objects wait for another run.
    deferred: Option<DeferralReason>,
}

/// A provider behind the interface that hosts use.
///
/// ```
/// # use terrane_sdk::{Provider, Served, server};
/// fn parts(notes: impl Provider, users: impl Provider) -> Vec<Served> {
///     vec![server(notes), server(users)]
/// }
/// ```
pub type Served = Arc<dyn ProviderInterface>;

/// The provider as the interface that hosts use: what [`Serve`](super::Serve) serves.
///
/// ```no_run
/// # use terrane_sdk::{Error, Provider, Served, mux, server};
/// async fn joined(notes: impl Provider, users: impl Provider) -> Result<Served, Error> {
///     mux(vec![server(notes), server(users)]).await
/// }
/// ```
pub fn server<P: Provider>(provider: P) -> Served {
    Arc::new(Server::new(provider))
}

impl<P: Provider> Server<P> {
    pub fn new(provider: P) -> Server<P> {
        log::add_crate_of(&provider);
        let mut types = Types::default();
        provider.types(&mut types);
        let config_schema = provider.schema();
        let schemas = Arc::new(schemas_of(&provider, &config_schema, &types));
        Server {
            provider,
            config_schema,
            types,
            schemas,
            configured: RwLock::new(Configured { data: None, deferred: None }),
            stop: Stop::new(),
        }
    }

    pub fn config_schema(&self) -> &Schema {
        &self.config_schema
    }

    pub fn types(&self) -> &Types<P::Data> {
        &self.types
    }

    fn data(&self) -> Option<Arc<P::Data>> {
        self.configured.read().unwrap_or_else(PoisonError::into_inner).data.clone()
    }

    /// Why all operations on objects are deferred, if they are and the host accepts it.
    fn deferral(&self, client: ClientCapabilities) -> Option<DeferralReason> {
        let configured = self.configured.read().unwrap_or_else(PoisonError::into_inner);
        configured.deferred.filter(|_| client.deferral_allowed)
    }

    pub(super) fn context(&self, private: &[u8], provider_meta: Value) -> Context<P::Data> {
        let mut context = Context::new(self.data(), self.stop.clone());
        context.private = Private::from_bytes(private);
        context.provider_meta = provider_meta;
        context
    }

    /// Runs a call: a panic becomes an error, and so does a call that goes on after it was asked to stop.
    pub(super) async fn run<T: Send>(
        &self,
        call: &str,
        future: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, Error> {
        let stopped = async {
            self.stop.stopping().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            biased;
            result = guarded(call, future) => result,
            () = stopped => Err(Error::new("Operation interrupted", format!("{call} was interrupted before it ended."))),
        }
    }
}

fn wires<T: AnyType + ?Sized>(
    types: &BTreeMap<Arc<str>, Arc<T>>,
) -> BTreeMap<Arc<str>, Arc<terrane_protocol::schema::Schema>> {
    types.iter().map(|(name, one)| (name.clone(), one.wire().clone())).collect()
}

fn schemas_of<P: Provider>(provider: &P, config: &Schema, types: &Types<P::Data>) -> StaticSchemas {
    StaticSchemas {
        provider: Arc::new(config.to_model()),
        provider_meta: provider.meta_schema().map(|schema| Arc::new(schema.to_model())),
        managed: wires(&types.resources),
        data: wires(&types.data_sources),
        ephemeral: wires(&types.ephemeral),
        list_resources: wires(&types.lists),
        actions: wires(&types.actions),
        functions: types.functions.iter().map(|(name, f)| (name.clone(), Arc::new(f.signature()))).collect(),
        state_stores: types.state_stores.as_ref().map(|(schemas, _)| schemas.clone()).unwrap_or_default(),
        capabilities: Capabilities {
            plan_destroy: types.plan_destroy,
            get_provider_schema_optional: true,
            move_resource_state: true,
            generate_resource_config: false,
        },
    }
}

/// The field of the log for the type of a call.
fn type_field(what: &str) -> &'static str {
    match what {
        DATA_SOURCE => call_span::DATA_SOURCE_TYPE,
        EPHEMERAL => call_span::EPHEMERAL_TYPE,
        ACTION => call_span::ACTION_TYPE,
        _ => call_span::RESOURCE_TYPE,
    }
}

/// The type of this name; an error if the provider has none.
pub(super) fn find<'t, T: ?Sized>(
    types: &'t BTreeMap<Arc<str>, Arc<T>>,
    what: &str,
    name: &str,
) -> Result<&'t T, Error> {
    call_span::name_type(type_field(what), name);
    types.get(name).map(|found| &**found).ok_or_else(|| {
        let summary = format!("{what} Type Not Found");
        Error::new(summary, format!("No {} type named {name:?} was found in the provider.", what.to_lowercase()))
    })
}

/// The diagnostics of a call: those that its author collected, then its error.
pub(super) fn diagnostics<D>(context: Context<D>, error: Option<Error>) -> ProviderDiagnostics {
    let mut all = context.diagnostics;
    all.extend(error.into_iter().flat_map(|error| error.diagnostics));
    all
}

pub(super) fn identity_message(schema: Option<IdentitySchema>, value: Option<&Value>) -> Option<Identity> {
    let (schema, value) = (schema?, value?);
    let text = json::to_json(value, &schema.implied_type()).ok()?;
    Some(Identity { schema_version: schema.version, json: text.into() })
}

/// The identity as a value, if it is of the current version.
fn identity_value(schema: Option<IdentitySchema>, identity: Option<&Identity>) -> Option<Value> {
    let (schema, identity) = (schema?, identity?);
    let is_current = identity.schema_version == schema.version;
    is_current.then(|| json::from_json(identity.json.as_bytes(), &schema.implied_type()).ok()).flatten()
}

fn plan_response<D>(
    context: Context<D>,
    planned: Value,
    requires_replace: Vec<Path>,
    identity: Option<Identity>,
    error: Option<Error>,
) -> PlanResponse {
    PlanResponse {
        planned,
        deferred: context.deferred,
        requires_replace,
        identity,
        private: context.private.to_bytes(),
        legacy_type_system: false,
        diagnostics: diagnostics(context, error),
    }
}

/// Seconds and nanoseconds since 1970.
fn timestamp(time: SystemTime) -> Option<(i64, i32)> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Some((i64::try_from(since.as_secs()).ok()?, i32::try_from(since.subsec_nanos()).ok()?))
}

pub(super) const RESOURCE: &str = "Resource";
pub(super) const ACTION: &str = "Action";
const DATA_SOURCE: &str = "Data Source";
const EPHEMERAL: &str = "Ephemeral Resource";

#[async_trait]
impl<P: Provider> ProviderInterface for Server<P> {
    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics> {
        Ok(self.schemas.clone())
    }

    async fn validate_provider_config(&self, config: Value) -> (Value, ProviderDiagnostics) {
        let mut found = Vec::new();
        let checks = async {
            self.provider.validate(&mut Validation { config: Values::new(config.clone()), found: &mut found });
            check(&self.config_schema, &config, true, &mut found);
            Ok(())
        };
        let error = self.run("ValidateProviderConfig", checks).await.err();
        found.extend(error.into_iter().flat_map(|error| error.diagnostics));
        (config, found)
    }

    async fn validate_resource_config(
        &self,
        kind: &str,
        config: Value,
        client: ClientCapabilities,
    ) -> ProviderDiagnostics {
        let mut found = Vec::new();
        let allowed = client.write_only_attributes_allowed;
        let checks = async {
            find(&self.types.resources, RESOURCE, kind)?.validate(config, allowed, &mut found);
            Ok(())
        };
        let error = self.run("ValidateResourceConfig", checks).await.err();
        found.extend(error.into_iter().flat_map(|error| error.diagnostics));
        found
    }

    async fn validate_data_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        let mut found = Vec::new();
        let checks = async {
            find(&self.types.data_sources, DATA_SOURCE, kind)?.validate(config, &mut found);
            Ok(())
        };
        let error = self.run("ValidateDataResourceConfig", checks).await.err();
        found.extend(error.into_iter().flat_map(|error| error.diagnostics));
        found
    }

    async fn configure(&self, request: ConfigureRequest) -> ProviderDiagnostics {
        let mut context = Context::new(None, self.stop.clone());
        context.deferral_allowed = request.client.deferral_allowed;
        let configured = self.provider.configure(&mut context, Values::new(request.config));
        match self.run("ConfigureProvider", configured).await {
            Ok(data) => {
                let configured = Configured { data: Some(Arc::new(data)), deferred: context.deferred };
                *self.configured.write().unwrap_or_else(PoisonError::into_inner) = configured;
                diagnostics(context, None)
            }
            Err(error) => diagnostics(context, Some(error)),
        }
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> (Value, ProviderDiagnostics) {
        let mut context = self.context(&[], Value::null_dynamic());
        let upgraded = self.run("UpgradeResourceState", async {
            let resource = find(&self.types.resources, RESOURCE, &request.kind)?;
            let ty = resource.wire().implied_type().clone();
            resource.upgrade(&mut context, Stored { version: request.version, raw: request.raw, ty }).await
        });
        match upgraded.await {
            Ok(value) => (value, diagnostics(context, None)),
            Err(error) => (Value::null_dynamic(), diagnostics(context, Some(error))),
        }
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        if let Some(reason) = self.deferral(request.client) {
            return ReadResponse {
                new_state: request.current,
                deferred: Some(reason),
                identity: request.current_identity,
                private: request.private,
                diagnostics: Vec::new(),
            };
        }
        let mut context = self.context(&request.private, request.provider_meta);
        context.deferral_allowed = request.client.deferral_allowed;
        let mut schema = None;
        let read = self.run("ReadResource", async {
            let resource = find(&self.types.resources, RESOURCE, &request.kind)?;
            schema = resource.identity_schema();
            context.identity = identity_value(schema.clone(), request.current_identity.as_ref());
            resource.read(&mut context, request.current.clone()).await
        });
        let (new_state, error) = match read.await {
            Ok(value) => (value, None),
            Err(error) => (request.current, Some(error)),
        };
        ReadResponse {
            new_state,
            deferred: context.deferred,
            identity: identity_message(schema, context.identity.as_ref()),
            private: context.private.to_bytes(),
            diagnostics: diagnostics(context, error),
        }
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let mut context = self.context(&request.prior_private, request.provider_meta);
        if let Some(reason) = self.deferral(request.client) {
            context.deferred = Some(reason);
            return plan_response(context, request.proposed, Vec::new(), request.prior_identity, None);
        }
        context.deferral_allowed = request.client.deferral_allowed;
        let change = Change { config: request.config, prior: request.prior, after: request.proposed.clone() };
        let mut schema = None;
        let planned = self.run("PlanResourceChange", async {
            let resource = find(&self.types.resources, RESOURCE, &request.kind)?;
            schema = resource.identity_schema();
            context.identity = identity_value(schema.clone(), request.prior_identity.as_ref());
            resource.plan(&mut context, change).await
        });
        let (planned, requires_replace, error) = match planned.await {
            Ok(planned) => (planned.value, planned.requires_replace, None),
            Err(error) => (request.proposed, Vec::new(), Some(error)),
        };
        let identity = identity_message(schema, context.identity.as_ref());
        plan_response(context, planned, requires_replace, identity, error)
    }

    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse {
        let mut context = self.context(&request.planned_private, request.provider_meta);
        let change = Change { config: request.config, prior: request.prior.clone(), after: request.planned };
        let mut schema = None;
        // Never dropped: what was created so far would be lost. Authors end it when they are asked to stop.
        let applied = guarded("ApplyResourceChange", async {
            let resource = find(&self.types.resources, RESOURCE, &request.kind)?;
            schema = resource.identity_schema();
            context.identity = identity_value(schema.clone(), request.planned_identity.as_ref());
            Ok(resource.apply(&mut context, change).await)
        });
        let (new_state, error) = match applied.await {
            Ok(outcome) => (outcome.value, outcome.error),
            Err(error) => (request.prior, Some(error)),
        };
        ApplyResponse {
            new_state,
            identity: identity_message(schema, context.identity.as_ref()),
            private: context.private.to_bytes(),
            legacy_type_system: false,
            diagnostics: diagnostics(context, error),
        }
    }

    async fn import_resource_state(&self, kind: &str, id: &str, client: ClientCapabilities) -> ImportResponse {
        self.import(kind, Import::Id(id.to_owned()), client).await
    }

    async fn identity_schema(&self, kind: &str) -> Result<Option<IdentitySchema>, ProviderDiagnostics> {
        let resource = find(&self.types.resources, RESOURCE, kind).map_err(|error| error.diagnostics)?;
        Ok(resource.identity_schema())
    }

    async fn import_by_identity(&self, kind: &str, identity: Value, client: ClientCapabilities) -> ImportResponse {
        self.import(kind, Import::Identity(identity), client).await
    }

    async fn upgrade_resource_identity(&self, kind: &str, stored: Identity) -> (Option<Identity>, ProviderDiagnostics) {
        self.upgrade_identity(kind, stored).await
    }

    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        let mut context = self.context(&[], Value::null_dynamic());
        let mut schema = None;
        let moved = Moved {
            source_provider: request.source_provider,
            source_type: request.source_kind.to_string(),
            source_version: request.source_version,
            source_state: request.source_state,
            target_type: request.target_kind.to_string(),
        };
        let moved = self.run("MoveResourceState", async {
            let resource = find(&self.types.resources, RESOURCE, &request.target_kind)?;
            schema = resource.identity_schema();
            resource.move_from(&mut context, moved).await
        });
        let (state, error) = match moved.await {
            Ok(state) => (state, None),
            Err(error) => (Value::null_dynamic(), Some(error)),
        };
        MoveResponse {
            state,
            identity: identity_message(schema, context.identity.as_ref()),
            private: context.private.to_bytes(),
            diagnostics: diagnostics(context, error),
        }
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        if let Some(reason) = self.deferral(request.client) {
            return ReadDataResponse {
                deferred: Some(reason),
                ..ReadDataResponse::new(Value::null_dynamic(), Vec::new())
            };
        }
        let mut context = self.context(&[], request.provider_meta);
        context.deferral_allowed = request.client.deferral_allowed;
        context.address = request.address;
        let read = self.run("ReadDataSource", async {
            find(&self.types.data_sources, DATA_SOURCE, &request.kind)?.read(&mut context, request.config).await
        });
        match read.await {
            Ok(value) => ReadDataResponse {
                deferred: context.deferred,
                ..ReadDataResponse::new(value, diagnostics(context, None))
            },
            Err(error) => ReadDataResponse::new(Value::null_dynamic(), diagnostics(context, Some(error))),
        }
    }

    async fn validate_ephemeral_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        let mut found = Vec::new();
        let checks = async {
            find(&self.types.ephemeral, EPHEMERAL, kind)?.validate(config, &mut found);
            Ok(())
        };
        let error = self.run("ValidateEphemeralResourceConfig", checks).await.err();
        found.extend(error.into_iter().flat_map(|error| error.diagnostics));
        found
    }

    async fn open_ephemeral(&self, kind: &str, config: Value, client: ClientCapabilities) -> OpenEphemeralResponse {
        let mut context = self.context(&[], Value::null_dynamic());
        context.deferral_allowed = client.deferral_allowed;
        // Never dropped: what was opened would stay open.
        let opened = guarded("OpenEphemeralResource", async {
            find(&self.types.ephemeral, EPHEMERAL, kind)?.open(&mut context, config).await
        });
        let (result, renew_at, error) = match opened.await {
            Ok((value, renew_at)) => (value, renew_at, None),
            Err(error) => (Value::null_dynamic(), None, Some(error)),
        };
        OpenEphemeralResponse {
            result,
            deferred: context.deferred,
            private: context.private.to_bytes().to_vec(),
            renew_at: renew_at.and_then(timestamp),
            diagnostics: diagnostics(context, error),
        }
    }

    async fn renew_ephemeral(&self, kind: &str, private: Vec<u8>) -> RenewEphemeralResponse {
        let mut context = self.context(&private, Value::null_dynamic());
        let renewed = self.run("RenewEphemeralResource", async {
            find(&self.types.ephemeral, EPHEMERAL, kind)?.renew(&mut context).await
        });
        let (renew_at, error) = match renewed.await {
            Ok(renew_at) => (renew_at, None),
            Err(error) => (None, Some(error)),
        };
        RenewEphemeralResponse {
            private: context.private.to_bytes().to_vec(),
            renew_at: renew_at.and_then(timestamp),
            diagnostics: diagnostics(context, error),
        }
    }

    async fn close_ephemeral(&self, kind: &str, private: Vec<u8>) -> ProviderDiagnostics {
        let mut context = self.context(&private, Value::null_dynamic());
        let closed = guarded("CloseEphemeralResource", async {
            find(&self.types.ephemeral, EPHEMERAL, kind)?.close(&mut context).await
        });
        let error = closed.await.err();
        diagnostics(context, error)
    }

    async fn call_function(&self, name: &str, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        let Some(function) = self.types.functions.get(name) else {
            return Err(FunctionError { text: format!("there is no function named {name:?}"), argument: None });
        };
        let called = guarded("CallFunction", async { Ok(function.call(arguments).await) }).await;
        match called {
            Ok(result) => result.map_err(FunctionError::from),
            Err(panic) => Err(FunctionError { text: panic.to_string(), argument: None }),
        }
    }

    async fn validate_list_config(&self, request: ValidateListRequest) -> ProviderDiagnostics {
        self.validate_list(request).await
    }

    async fn list_resources(&self, request: ListRequest, results: &dyn ListSink) -> ProviderDiagnostics {
        self.list(request, results).await
    }

    async fn validate_action_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        self.validate_action(kind, config).await
    }

    async fn plan_action(&self, request: PlanActionRequest) -> PlanActionResponse {
        self.plan_one_action(request).await
    }

    async fn invoke_action(&self, request: InvokeActionRequest) -> ProviderDiagnostics {
        self.invoke(request).await
    }

    fn state_stores(&self) -> Option<&dyn StateStores> {
        self.types.state_stores.as_ref().map(|(_, stores)| &**stores)
    }

    async fn stop(&self) -> Result<(), String> {
        self.stop.stop();
        Ok(())
    }
}

impl<P: Provider> Server<P> {
    async fn import(&self, kind: &str, import: Import, client: ClientCapabilities) -> ImportResponse {
        if let Some(reason) = self.deferral(client) {
            return ImportResponse { deferred: Some(reason), ..ImportResponse::failed(Vec::new()) };
        }
        let mut context = self.context(&[], Value::null_dynamic());
        context.deferral_allowed = client.deferral_allowed;
        let mut schema = None;
        let imported = self.run("ImportResourceState", async {
            let resource = find(&self.types.resources, RESOURCE, kind)?;
            schema = resource.identity_schema();
            resource.import(&mut context, import).await
        });
        match imported.await {
            Ok(state) => {
                let object = ImportedObject {
                    kind: Arc::from(kind),
                    state,
                    identity: identity_message(schema, context.identity.as_ref()),
                    private: context.private.to_bytes(),
                };
                ImportResponse {
                    deferred: context.deferred,
                    diagnostics: diagnostics(context, None),
                    ..ImportResponse::objects(vec![object])
                }
            }
            Err(error) => ImportResponse::failed(diagnostics(context, Some(error))),
        }
    }
}
