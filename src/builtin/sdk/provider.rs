//! A provider that answers for a set of resources, data sources and functions.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use crate::base::stop::Stop;
use crate::lang::value::Value;
use crate::model::provider::*;
use crate::model::schema::{Capabilities, ProviderSchemas, Schema, StaticSchemas};

use super::check::check_shape;
use super::resource::{DataSource, Ephemeral, Function, Resource};
use super::stored::stored_object;

/// A built-in provider without configuration.
pub struct BuiltIn {
    resources: BTreeMap<&'static str, Box<dyn Resource>>,
    data: BTreeMap<&'static str, Box<dyn DataSource>>,
    ephemeral: BTreeMap<&'static str, Box<dyn Ephemeral>>,
    functions: BTreeMap<&'static str, Function>,
    state_stores: Option<Arc<dyn StateStores>>,
    schemas: Arc<StaticSchemas>,
    stop: Stop,
}

impl BuiltIn {
    pub fn new(
        resources: Vec<(&'static str, Box<dyn Resource>)>,
        data: Vec<(&'static str, Box<dyn DataSource>)>,
        ephemeral: Vec<(&'static str, Box<dyn Ephemeral>)>,
        functions: Vec<Function>,
    ) -> BuiltIn {
        let schemas = StaticSchemas {
            managed: resources.iter().map(|(kind, it)| (Arc::from(*kind), it.shape().schema.clone())).collect(),
            data: data.iter().map(|(kind, it)| (Arc::from(*kind), it.shape().schema.clone())).collect(),
            ephemeral: ephemeral.iter().map(|(kind, it)| (Arc::from(*kind), it.shape().schema.clone())).collect(),
            functions: functions.iter().map(|it| (Arc::from(it.name), it.signature.clone())).collect(),
            capabilities: Capabilities {
                plan_destroy: false,
                get_provider_schema_optional: true,
                move_resource_state: true,
                generate_resource_config: false,
            },
            ..StaticSchemas::default()
        };
        BuiltIn {
            resources: resources.into_iter().collect(),
            data: data.into_iter().collect(),
            ephemeral: ephemeral.into_iter().collect(),
            functions: functions.into_iter().map(|function| (function.name, function)).collect(),
            state_stores: None,
            schemas: Arc::new(schemas),
            stop: Stop::new(),
        }
    }

    /// With state stores: the schema of each type, and what answers for all of them.
    pub fn with_state_stores(
        mut self,
        schemas: impl IntoIterator<Item = (&'static str, Schema)>,
        stores: Arc<dyn StateStores>,
    ) -> BuiltIn {
        let schemas = schemas.into_iter().map(|(kind, schema)| (Arc::from(kind), Arc::new(schema)));
        Arc::make_mut(&mut self.schemas).state_stores = schemas.collect();
        self.state_stores = Some(stores);
        self
    }

    fn resource(&self, kind: &str) -> Result<&dyn Resource, ProviderDiagnostic> {
        self.resources.get(kind).map(|resource| &**resource).ok_or_else(|| unknown_kind("resource", kind))
    }
}

fn unknown_kind(what: &str, kind: &str) -> ProviderDiagnostic {
    ProviderDiagnostic::error(
        format!("Unsupported {what} type"),
        format!("This built-in provider has no {what} type {kind:?}."),
    )
}

fn interrupted() -> ProviderDiagnostic {
    ProviderDiagnostic::error("Data source not read", "The operation was interrupted.")
}

#[async_trait]
impl Provider for BuiltIn {
    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics> {
        Ok(self.schemas.clone())
    }

    async fn validate_provider_config(&self, config: Value) -> (Value, ProviderDiagnostics) {
        (config, Vec::new())
    }

    async fn validate_resource_config(
        &self,
        kind: &str,
        config: Value,
        _client: ClientCapabilities,
    ) -> ProviderDiagnostics {
        let mut found = Vec::new();
        match self.resource(kind) {
            Ok(resource) => {
                check_shape(resource.shape(), &config, &mut found);
                resource.validate(&config, &mut found);
            }
            Err(error) => found.push(error),
        }
        found
    }

    async fn validate_data_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        let mut found = Vec::new();
        match self.data.get(kind) {
            Some(source) => {
                check_shape(source.shape(), &config, &mut found);
                source.validate(&config, &mut found);
            }
            None => found.push(unknown_kind("data source", kind)),
        }
        found
    }

    async fn configure(&self, _request: ConfigureRequest) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> (Value, ProviderDiagnostics) {
        let upgraded = self.resource(&request.kind).and_then(|resource| {
            let stored = stored_object(&request.raw, resource.shape().ty())?;
            if request.version == resource.shape().schema.version {
                return Ok(stored);
            }
            resource.upgrade(request.version, stored)
        });
        match upgraded {
            Ok(value) => (value, Vec::new()),
            Err(error) => (Value::null_dynamic(), vec![error]),
        }
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        let read = self.resource(&request.kind).and_then(|resource| {
            Ok(resource.read(&request.current)?.unwrap_or_else(|| Value::null(resource.shape().ty().clone())))
        });
        let (new_state, diagnostics) = match read {
            Ok(value) => (value, Vec::new()),
            Err(error) => (request.current, vec![error]),
        };
        ReadResponse { new_state, deferred: None, identity: None, private: request.private, diagnostics }
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let response = |planned, requires_replace, diagnostics| PlanResponse {
            planned,
            identity: None,
            deferred: None,
            requires_replace,
            private: request.prior_private.clone(),
            legacy_type_system: false,
            diagnostics,
        };
        match self.resource(&request.kind) {
            Ok(resource) => {
                let planned = resource.plan(&request);
                response(planned.value, planned.requires_replace, planned.diagnostics)
            }
            Err(error) => response(request.proposed.clone(), Vec::new(), vec![error]),
        }
    }

    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse {
        let applied = self.resource(&request.kind).and_then(|resource| {
            if request.planned.is_null() {
                resource.delete(&request.prior)?;
                return Ok(request.planned.clone());
            }
            if request.prior.is_null() {
                return resource.create(&request.planned);
            }
            resource.update(&request.prior, &request.planned)
        });
        let (new_state, diagnostics) = match applied {
            Ok(value) => (value, Vec::new()),
            // What was there before still is: a failed creation leaves nothing, a failed destruction the object.
            Err(error) => (request.prior, vec![error]),
        };
        ApplyResponse {
            new_state,
            identity: None,
            private: request.planned_private,
            legacy_type_system: false,
            diagnostics,
        }
    }

    async fn import_resource_state(&self, kind: &str, id: &str, _client: ClientCapabilities) -> ImportResponse {
        match self.resource(kind).and_then(|resource| resource.import(id)) {
            Ok(state) => ImportResponse::objects(vec![ImportedObject {
                kind: Arc::from(kind),
                state,
                identity: None,
                private: Arc::from([]),
            }]),
            Err(error) => ImportResponse::failed(vec![error]),
        }
    }

    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        let (state, diagnostics) = match self.resource(&request.target_kind).and_then(|to| to.move_from(&request)) {
            Ok(state) => (state, Vec::new()),
            Err(error) => (Value::null_dynamic(), vec![error]),
        };
        MoveResponse { state, identity: None, private: request.source_private, diagnostics }
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        let Some(source) = self.data.get(&*request.kind) else {
            return ReadDataResponse::new(Value::null_dynamic(), vec![unknown_kind("data source", &request.kind)]);
        };
        let read = tokio::select! {
            read = source.read(&request.config) => read,
            () = self.stop.stopping() => Err(vec![interrupted()]),
        };
        match read {
            Ok(value) => ReadDataResponse::new(value, Vec::new()),
            Err(errors) => ReadDataResponse::new(Value::null(source.shape().ty().clone()), errors),
        }
    }

    async fn validate_ephemeral_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        let mut found = Vec::new();
        match self.ephemeral.get(kind) {
            Some(resource) => {
                check_shape(resource.shape(), &config, &mut found);
                resource.validate(&config, &mut found);
            }
            None => found.push(unknown_kind("ephemeral resource", kind)),
        }
        found
    }

    async fn open_ephemeral(&self, kind: &str, config: Value, _client: ClientCapabilities) -> OpenEphemeralResponse {
        let opened = match self.ephemeral.get(kind) {
            Some(resource) => resource.open(&config),
            None => Err(unknown_kind("ephemeral resource", kind)),
        };
        let (result, diagnostics) = match opened {
            Ok(result) => (result, Vec::new()),
            Err(error) => (Value::null_dynamic(), vec![error]),
        };
        OpenEphemeralResponse { result, deferred: None, private: Vec::new(), renew_at: None, diagnostics }
    }

    async fn renew_ephemeral(&self, _kind: &str, private: Vec<u8>) -> RenewEphemeralResponse {
        RenewEphemeralResponse { private, renew_at: None, diagnostics: Vec::new() }
    }

    async fn close_ephemeral(&self, _kind: &str, _private: Vec<u8>) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn call_function(&self, name: &str, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        match self.functions.get(name) {
            Some(function) => (function.call)(&arguments),
            None => Err(FunctionError { text: format!("there is no function named {name:?}"), argument: None }),
        }
    }

    fn state_stores(&self) -> Option<&dyn StateStores> {
        self.state_stores.as_deref()
    }

    async fn stop(&self) -> Result<(), String> {
        self.stop.stop();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    struct Nothing;

    #[async_trait]
    impl ListSink for Nothing {
        async fn add(&self, result: ListResult) -> ControlFlow<()> {
            panic!("nothing was to be listed: {result:?}")
        }
    }

    #[tokio::test]
    async fn calls_that_a_provider_does_not_implement_are_refused() {
        let provider = BuiltIn::new(Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (kind, config, client) = ("x_y", Value::empty_object(), ClientCapabilities::default());
        let stored = Identity { schema_version: 0, json: "{}".into() };
        let list = ListRequest { kind: kind.into(), config: config.clone(), include_object: false, limit: None };
        let (include_object, limit) = (Value::bool(false), Value::int(1));
        let validate = ValidateListRequest { kind: kind.into(), config: config.clone(), include_object, limit };
        let plan = PlanActionRequest { kind: kind.into(), config: config.clone(), client };
        let progress: Output = Arc::new(|text| panic!("progress: {text}"));
        let invoke = InvokeActionRequest { kind: kind.into(), config: config.clone(), client, progress };
        let answers = [
            provider.upgrade_resource_identity(kind, stored).await.1,
            provider.generate_resource_config(kind, config.clone()).await.1,
            provider.validate_list_config(validate).await,
            provider.list_resources(list, &Nothing).await,
            provider.validate_action_config(kind, config).await,
            provider.plan_action(plan).await.diagnostics,
            provider.invoke_action(invoke).await,
        ];
        for found in answers {
            assert!(has_errors(&found) && found[0].summary == UNSUPPORTED_CALL, "{found:?}");
            assert!(found[0].detail.contains("\"x_y\""), "{found:?}");
        }
        let imported = provider.import_by_identity(kind, Value::empty_object(), client).await;
        assert_eq!(imported.diagnostics[0].summary, NO_IDENTITY);
    }
}
