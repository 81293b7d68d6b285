//! Several providers as one.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use terrane_protocol::provider::{
    ApplyRequest, ApplyResponse, ClientCapabilities, ConfigureRequest, FunctionError, Identity, IdentitySchema,
    ImportResponse, InvokeActionRequest, ListRequest, ListSink, MoveRequest, MoveResponse, OpenEphemeralResponse,
    PlanActionRequest, PlanActionResponse, PlanRequest, PlanResponse, Provider, ProviderDiagnostic,
    ProviderDiagnostics, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, RenewEphemeralResponse,
    StateStores, UpgradeRequest, ValidateListRequest, has_errors,
};
use terrane_protocol::schema::{Capabilities, ProviderSchemas, Schema, SchemaError, StaticSchemas};
use terrane_value::Value;

use super::error::Error;
use super::server::Served;

const INVALID: &str = "Invalid Provider Server Combination";

/// Joins providers: each type is answered by the one that offers it. Their provider configurations must be the same.
///
/// Fails if two of them offer the same type, or if their configurations differ.
///
/// ```
/// # use terrane_sdk::{Context, Error, Provider, Types, Values, mux, server};
/// # struct One;
/// # impl Provider for One {
/// #     type Config = ();
/// #     type Data = ();
/// #     async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> { Ok(()) }
/// #     fn types(&self, _: &mut Types<()>) {}
/// # }
/// # struct Other;
/// # impl Provider for Other {
/// #     type Config = ();
/// #     type Data = ();
/// #     async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> { Ok(()) }
/// #     fn types(&self, _: &mut Types<()>) {}
/// # }
/// # async fn example() -> Result<(), Error> {
/// let joined = mux(vec![server(One), server(Other)]).await?;
/// # Ok(())
/// # }
/// ```
pub async fn mux(providers: Vec<Served>) -> Result<Served, Error> {
    let mut joined = Mux::default();
    for (index, provider) in providers.into_iter().enumerate() {
        let schemas = provider.schemas().await.map_err(Error::from)?;
        joined.add(index == 0, &provider, &*schemas)?;
        joined.providers.push(provider);
    }
    Ok(Arc::new(joined))
}

#[derive(Default)]
struct Mux {
    providers: Vec<Served>,
    schemas: StaticSchemas,
    managed: BTreeMap<Arc<str>, Served>,
    data: BTreeMap<Arc<str>, Served>,
    ephemeral: BTreeMap<Arc<str>, Served>,
    functions: BTreeMap<Arc<str>, Served>,
    lists: BTreeMap<Arc<str>, Served>,
    actions: BTreeMap<Arc<str>, Served>,
    state_stores: Option<Served>,
}

fn unreadable(error: SchemaError) -> Error {
    Error::new(INVALID, error.to_string())
}

/// Stores that a type is answered by a provider.
fn claim(types: &mut BTreeMap<Arc<str>, Served>, what: &str, name: &Arc<str>, provider: &Served) -> Result<(), Error> {
    match types.insert(name.clone(), provider.clone()) {
        None => Ok(()),
        Some(_) => {
            let detail = format!("More than one of the joined providers has the {what} {name:?}.");
            Err(Error::new(INVALID, detail))
        }
    }
}

impl Mux {
    fn add(&mut self, is_first: bool, provider: &Served, schemas: &dyn ProviderSchemas) -> Result<(), Error> {
        self.add_settings(is_first, schemas)?;
        for name in schemas.managed_names() {
            claim(&mut self.managed, "resource type", &name, provider)?;
            self.schemas.managed.extend(schemas.managed(&name).map_err(unreadable)?.map(|schema| (name, schema)));
        }
        for name in schemas.data_names() {
            claim(&mut self.data, "data source", &name, provider)?;
            self.schemas.data.extend(schemas.data(&name).map_err(unreadable)?.map(|schema| (name, schema)));
        }
        for name in schemas.ephemeral_names() {
            claim(&mut self.ephemeral, "ephemeral resource type", &name, provider)?;
            self.schemas.ephemeral.extend(schemas.ephemeral(&name).map_err(unreadable)?.map(|schema| (name, schema)));
        }
        for name in schemas.function_names() {
            claim(&mut self.functions, "function", &name, provider)?;
            self.schemas.functions.extend(schemas.function(&name).map_err(unreadable)?.map(|schema| (name, schema)));
        }
        for name in schemas.list_resource_names() {
            claim(&mut self.lists, "list resource", &name, provider)?;
            let schema = schemas.list_resource(&name).map_err(unreadable)?;
            self.schemas.list_resources.extend(schema.map(|schema| (name, schema)));
        }
        for name in schemas.action_names() {
            claim(&mut self.actions, "action", &name, provider)?;
            self.schemas.actions.extend(schemas.action(&name).map_err(unreadable)?.map(|schema| (name, schema)));
        }
        self.add_state_stores(provider, schemas)
    }

    /// The provider and meta schemas, which must not differ.
    fn add_settings(&mut self, is_first: bool, schemas: &dyn ProviderSchemas) -> Result<(), Error> {
        let own = schemas.provider().map_err(unreadable)?;
        if is_first {
            self.schemas.provider = own;
        } else if !is_same(&self.schemas.provider, &own) {
            let detail = "The provider configurations of the joined providers differ: their schemas must be the same.";
            return Err(Error::new(INVALID, detail));
        }
        if let Some(meta) = schemas.provider_meta().map_err(unreadable)? {
            if self.schemas.provider_meta.as_ref().is_some_and(|other| !is_same(other, &meta)) {
                let detail = "The provider_meta schemas of the joined providers differ: they must be the same.";
                return Err(Error::new(INVALID, detail));
            }
            self.schemas.provider_meta = Some(meta);
        }
        // Destroy plans of providers without them are answered here.
        self.schemas.capabilities = Capabilities {
            plan_destroy: true,
            get_provider_schema_optional: true,
            move_resource_state: true,
            ..self.schemas.capabilities
        };
        Ok(())
    }

    fn add_state_stores(&mut self, provider: &Served, schemas: &dyn ProviderSchemas) -> Result<(), Error> {
        let names = schemas.state_store_names();
        if names.is_empty() {
            return Ok(());
        }
        if self.state_stores.replace(provider.clone()).is_some() {
            return Err(Error::new(INVALID, "More than one of the joined providers has state stores."));
        }
        for name in names {
            let schema = schemas.state_store(&name).map_err(unreadable)?;
            self.schemas.state_stores.extend(schema.map(|schema| (name, schema)));
        }
        Ok(())
    }
}

fn is_same(one: &Schema, other: &Schema) -> bool {
    one.version == other.version && one.block == other.block
}

/// The provider that answers for a type.
fn find<'m>(types: &'m BTreeMap<Arc<str>, Served>, what: &str, name: &str) -> Result<&'m Served, ProviderDiagnostic> {
    types.get(name).ok_or_else(|| {
        let detail = format!("None of the joined providers has the type {name:?}.");
        ProviderDiagnostic::error(format!("{what} Not Implemented"), detail)
    })
}

const RESOURCE: &str = "Resource";
const DATA_SOURCE: &str = "Data Source";
const EPHEMERAL: &str = "Ephemeral Resource";
const LIST: &str = "List Resource";
const ACTION: &str = "Action";

#[async_trait]
impl Provider for Mux {
    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics> {
        Ok(Arc::new(self.schemas.clone()))
    }

    async fn validate_provider_config(&self, config: Value) -> (Value, ProviderDiagnostics) {
        let mut all = Vec::new();
        for provider in &self.providers {
            all.extend(provider.validate_provider_config(config.clone()).await.1);
        }
        (config, all)
    }

    async fn validate_resource_config(
        &self,
        kind: &str,
        config: Value,
        client: ClientCapabilities,
    ) -> ProviderDiagnostics {
        match find(&self.managed, RESOURCE, kind) {
            Ok(provider) => provider.validate_resource_config(kind, config, client).await,
            Err(error) => vec![error],
        }
    }

    async fn validate_data_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        match find(&self.data, DATA_SOURCE, kind) {
            Ok(provider) => provider.validate_data_config(kind, config).await,
            Err(error) => vec![error],
        }
    }

    /// In order; stops at the first that fails.
    async fn configure(&self, request: ConfigureRequest) -> ProviderDiagnostics {
        let mut all = Vec::new();
        for provider in &self.providers {
            all.extend(provider.configure(request.clone()).await);
            if has_errors(&all) {
                break;
            }
        }
        all
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> (Value, ProviderDiagnostics) {
        match find(&self.managed, RESOURCE, &request.kind) {
            Ok(provider) => provider.upgrade_resource_state(request).await,
            Err(error) => (Value::null_dynamic(), vec![error]),
        }
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        match find(&self.managed, RESOURCE, &request.kind) {
            Ok(provider) => provider.read_resource(request).await,
            Err(error) => ReadResponse {
                new_state: request.current,
                deferred: None,
                identity: request.current_identity,
                private: request.private,
                diagnostics: vec![error],
            },
        }
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let unchanged = |request: PlanRequest, diagnostics| PlanResponse {
            planned: request.proposed,
            deferred: None,
            requires_replace: Vec::new(),
            identity: request.prior_identity,
            private: request.prior_private,
            legacy_type_system: false,
            diagnostics,
        };
        let provider = match find(&self.managed, RESOURCE, &request.kind) {
            Ok(provider) => provider,
            Err(error) => return unchanged(request, vec![error]),
        };
        if request.proposed.is_null() {
            match provider.schemas().await {
                Ok(schemas) if !schemas.capabilities().plan_destroy => return unchanged(request, Vec::new()),
                Ok(_) => {}
                Err(errors) => return unchanged(request, errors),
            }
        }
        provider.plan_resource_change(request).await
    }

    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse {
        match find(&self.managed, RESOURCE, &request.kind) {
            Ok(provider) => provider.apply_resource_change(request).await,
            Err(error) => ApplyResponse {
                new_state: request.prior,
                identity: request.planned_identity,
                private: request.planned_private,
                legacy_type_system: false,
                diagnostics: vec![error],
            },
        }
    }

    async fn import_resource_state(&self, kind: &str, id: &str, client: ClientCapabilities) -> ImportResponse {
        match find(&self.managed, RESOURCE, kind) {
            Ok(provider) => provider.import_resource_state(kind, id, client).await,
            Err(error) => ImportResponse::failed(vec![error]),
        }
    }

    async fn identity_schema(&self, kind: &str) -> Result<Option<IdentitySchema>, ProviderDiagnostics> {
        find(&self.managed, RESOURCE, kind).map_err(|error| vec![error])?.identity_schema(kind).await
    }

    async fn upgrade_resource_identity(&self, kind: &str, stored: Identity) -> (Option<Identity>, ProviderDiagnostics) {
        match find(&self.managed, RESOURCE, kind) {
            Ok(provider) => provider.upgrade_resource_identity(kind, stored).await,
            Err(error) => (None, vec![error]),
        }
    }

    async fn import_by_identity(&self, kind: &str, identity: Value, client: ClientCapabilities) -> ImportResponse {
        match find(&self.managed, RESOURCE, kind) {
            Ok(provider) => provider.import_by_identity(kind, identity, client).await,
            Err(error) => ImportResponse::failed(vec![error]),
        }
    }

    async fn generate_resource_config(&self, kind: &str, state: Value) -> (Value, ProviderDiagnostics) {
        match find(&self.managed, RESOURCE, kind) {
            Ok(provider) => provider.generate_resource_config(kind, state).await,
            Err(error) => (Value::null(state.ty().clone()), vec![error]),
        }
    }

    /// Answered by the provider of the type that the object becomes.
    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        match find(&self.managed, RESOURCE, &request.target_kind) {
            Ok(provider) => provider.move_resource_state(request).await,
            Err(error) => MoveResponse {
                state: Value::null_dynamic(),
                identity: None,
                private: Arc::from([]),
                diagnostics: vec![error],
            },
        }
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        match find(&self.data, DATA_SOURCE, &request.kind) {
            Ok(provider) => provider.read_data_source(request).await,
            Err(error) => ReadDataResponse::new(Value::null_dynamic(), vec![error]),
        }
    }

    async fn validate_ephemeral_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        match find(&self.ephemeral, EPHEMERAL, kind) {
            Ok(provider) => provider.validate_ephemeral_config(kind, config).await,
            Err(error) => vec![error],
        }
    }

    async fn open_ephemeral(&self, kind: &str, config: Value, client: ClientCapabilities) -> OpenEphemeralResponse {
        match find(&self.ephemeral, EPHEMERAL, kind) {
            Ok(provider) => provider.open_ephemeral(kind, config, client).await,
            Err(error) => OpenEphemeralResponse {
                result: Value::null_dynamic(),
                deferred: None,
                private: Vec::new(),
                renew_at: None,
                diagnostics: vec![error],
            },
        }
    }

    async fn renew_ephemeral(&self, kind: &str, private: Vec<u8>) -> RenewEphemeralResponse {
        match find(&self.ephemeral, EPHEMERAL, kind) {
            Ok(provider) => provider.renew_ephemeral(kind, private).await,
            Err(error) => RenewEphemeralResponse { private, renew_at: None, diagnostics: vec![error] },
        }
    }

    async fn close_ephemeral(&self, kind: &str, private: Vec<u8>) -> ProviderDiagnostics {
        match find(&self.ephemeral, EPHEMERAL, kind) {
            Ok(provider) => provider.close_ephemeral(kind, private).await,
            Err(error) => vec![error],
        }
    }

    async fn call_function(&self, name: &str, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        match self.functions.get(name) {
            Some(provider) => provider.call_function(name, arguments).await,
            None => Err(FunctionError { text: format!("there is no function named {name:?}"), argument: None }),
        }
    }

    async fn validate_list_config(&self, request: ValidateListRequest) -> ProviderDiagnostics {
        match find(&self.lists, LIST, &request.kind) {
            Ok(provider) => provider.validate_list_config(request).await,
            Err(error) => vec![error],
        }
    }

    async fn list_resources(&self, request: ListRequest, results: &dyn ListSink) -> ProviderDiagnostics {
        match find(&self.lists, LIST, &request.kind) {
            Ok(provider) => provider.list_resources(request, results).await,
            Err(error) => vec![error],
        }
    }

    async fn validate_action_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        match find(&self.actions, ACTION, kind) {
            Ok(provider) => provider.validate_action_config(kind, config).await,
            Err(error) => vec![error],
        }
    }

    async fn plan_action(&self, request: PlanActionRequest) -> PlanActionResponse {
        match find(&self.actions, ACTION, &request.kind) {
            Ok(provider) => provider.plan_action(request).await,
            Err(error) => PlanActionResponse::new(vec![error]),
        }
    }

    async fn invoke_action(&self, request: InvokeActionRequest) -> ProviderDiagnostics {
        match find(&self.actions, ACTION, &request.kind) {
            Ok(provider) => provider.invoke_action(request).await,
            Err(error) => vec![error],
        }
    }

    fn state_stores(&self) -> Option<&dyn StateStores> {
        self.state_stores.as_ref().and_then(|provider| provider.state_stores())
    }

    /// Asks all providers, even if one of them fails.
    async fn stop(&self) -> Result<(), String> {
        let mut errors = Vec::new();
        for provider in &self.providers {
            errors.extend(provider.stop().await.err());
        }
        if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Attribute, Context, DataSource, Object, Schema, Types, Values, server};
    use super::*;

    struct Source(&'static str);

    impl DataSource for Source {
        type Data = ();
        type Model = Object;

        fn schema(&self) -> Schema {
            Schema::new([Attribute::string("answer").computed()])
        }

        async fn read(&self, _: &mut Context<()>, config: Values<Object>) -> Result<Object, Error> {
            Ok(Object(config.value().clone()).with([("answer", Value::string(self.0))]))
        }
    }

    /// A provider with one data source and perhaps an argument.
    struct One(&'static str, &'static [&'static str]);

    impl super::super::Provider for One {
        type Config = Object;
        type Data = ();

        fn schema(&self) -> Schema {
            Schema::new(self.1.iter().map(|name| Attribute::string(*name).optional()))
        }

        async fn configure(&self, _: &mut Context<()>, _: Values<Object>) -> Result<(), Error> {
            Ok(())
        }

        fn types(&self, types: &mut Types<()>) {
            types.data_source(self.0, Source(self.0));
        }
    }

    #[tokio::test]
    async fn each_type_is_answered_by_its_provider() {
        let joined = mux(vec![server(One("one", &["url"])), server(One("two", &["url"]))]).await.unwrap();
        let names = joined.schemas().await.unwrap().data_names();
        assert_eq!(names, ["one".into(), "two".into()] as [Arc<str>; 2]);
        for kind in ["one", "two", "three"] {
            let request = ReadDataRequest {
                kind: kind.into(),
                address: String::new(),
                config: Value::object([("answer", Value::null_dynamic())]),
                provider_meta: Value::null_dynamic(),
                client: ClientCapabilities::default(),
            };
            let read = joined.read_data_source(request).await;
            match kind {
                "three" => assert_eq!(read.diagnostics[0].summary, "Data Source Not Implemented"),
                _ => assert_eq!(read.state.get("answer"), Some(&Value::string(kind))),
            }
        }
    }

    #[tokio::test]
    async fn providers_that_do_not_fit_are_refused() {
        let twice = mux(vec![server(One("one", &[])), server(One("one", &[]))]).await;
        assert_eq!(twice.err().unwrap().diagnostics[0].summary, INVALID);
        let differ = mux(vec![server(One("one", &[])), server(One("two", &["url"]))]).await;
        assert_eq!(differ.err().unwrap().diagnostics[0].summary, INVALID);
    }
}
