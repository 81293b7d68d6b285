//! A provider as one resource instance sees it that a test overrides.
//!
//! The instance is created, changed, read and destroyed without the provider, which only validates its configuration and brings stored
//! objects to the current schema. Values are made at its creation alone: an object that exists keeps its own. The ports stop the
//! provider.

use std::sync::Arc;

use async_trait::async_trait;
use model::addr::InstanceKey;
use terrane_protocol::provider::{
    ApplyRequest, ApplyResponse, ClientCapabilities, ConfigureRequest, FunctionError, Identity, IdentitySchema,
    ImportResponse, ImportedObject, InvokeActionRequest, ListRequest, ListSink, MoveRequest, MoveResponse,
    OpenEphemeralResponse, PlanActionRequest, PlanActionResponse, PlanRequest, PlanResponse, Provider,
    ProviderDiagnostics, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, RenewEphemeralResponse,
    StateStores, UpgradeRequest, ValidateListRequest,
};
use terrane_protocol::schema::{ProviderSchemas, Schema};
use terrane_value::Value;

use super::computed::{Computed, GivenValues};
use super::fill::Rules;
use super::generate::{Maker, Random};
use super::overrides::ResolvedOverride;
use super::seed;
use crate::change::write_only;

/// A provider for one overridden instance of a managed resource, a data source or an ephemeral resource.
pub struct OverriddenResource {
    inner: Arc<dyn Provider>,
    schema: Arc<Schema>,
    given: ResolvedOverride,
    random: Random,
    key: InstanceKey,
    config: Option<Value>,
}

impl OverriddenResource {
    /// `schema`: of the type of the instance.
    pub fn new(
        inner: Arc<dyn Provider>,
        schema: Arc<Schema>,
        given: ResolvedOverride,
        random: Random,
    ) -> OverriddenResource {
        OverriddenResource { inner, schema, given, random, key: InstanceKey::None, config: None }
    }

    /// With the key of the instance, for values that depend on it.
    #[must_use]
    pub fn with_key(self, key: InstanceKey) -> OverriddenResource {
        OverriddenResource { key, ..self }
    }

    /// With the configuration of the instance, without marks, from which an imported object is made. Without it, an imported object has
    /// no configured attributes.
    #[must_use]
    pub fn with_config(self, config: Value) -> OverriddenResource {
        OverriddenResource { config: Some(config), ..self }
    }

    fn computed(&self, maker: Maker) -> Computed<'_> {
        let given = GivenValues {
            values: Some(&self.given.values),
            of_object: self.given.of_object.as_deref(),
            key: Some(&self.key),
            range: self.given.range.as_ref(),
            checked_in_plan: true,
        };
        Computed { schema: &self.schema.block, given, maker, rules: Rules::at(given.range) }
    }

    fn maker(&self, private: &[u8]) -> Maker {
        seed::maker(private, &self.random)
    }

    /// The object of a configuration, as if it were there already.
    fn read(&self, config: &Value) -> (Value, ProviderDiagnostics) {
        let (read, diagnostics) = self.computed(self.maker(&[])).read(config);
        (write_only::without_values(&self.schema.block, &read), diagnostics)
    }

    /// An imported object: of the configuration, because nothing outside is asked.
    fn imported(&self, kind: &str, identity: Option<Identity>) -> ImportResponse {
        let (state, diagnostics) = match &self.config {
            Some(config) => self.read(config),
            None => self.read(&self.schema.block.empty_value()),
        };
        let object = ImportedObject { kind: kind.into(), state, identity, private: Arc::from([]) };
        ImportResponse { objects: vec![object], deferred: None, diagnostics }
    }
}

#[async_trait]
impl Provider for OverriddenResource {
    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics> {
        self.inner.schemas().await
    }

    async fn validate_provider_config(&self, config: Value) -> (Value, ProviderDiagnostics) {
        self.inner.validate_provider_config(config).await
    }

    async fn validate_resource_config(
        &self,
        kind: &str,
        config: Value,
        client: ClientCapabilities,
    ) -> ProviderDiagnostics {
        self.inner.validate_resource_config(kind, config, client).await
    }

    async fn validate_data_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        self.inner.validate_data_config(kind, config).await
    }

    async fn configure(&self, request: ConfigureRequest) -> ProviderDiagnostics {
        self.inner.configure(request).await
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> (Value, ProviderDiagnostics) {
        self.inner.upgrade_resource_state(request).await
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        ReadResponse {
            new_state: request.current,
            deferred: None,
            identity: request.current_identity,
            private: request.private,
            diagnostics: Vec::new(),
        }
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let maker = self.maker(&request.planned_private);
        let (planned, diagnostics) = match (request.proposed.is_null(), request.prior.is_null()) {
            (false, true) => self.computed(maker).plan(&request.proposed, self.given.during_plan),
            _ => (request.proposed, Vec::new()),
        };
        let planned = write_only::without_values(&self.schema.block, &planned);
        seed::plan_response(planned, request.prior_identity, seed::private(maker), diagnostics)
    }

    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse {
        let (new_state, diagnostics) = match (request.planned.is_null(), request.prior.is_null()) {
            (false, true) => self.computed(self.maker(&request.planned_private)).apply(&request.planned),
            _ => (request.planned, Vec::new()),
        };
        seed::apply_response(new_state, request.planned_identity, diagnostics)
    }

    async fn import_resource_state(&self, kind: &str, _: &str, _: ClientCapabilities) -> ImportResponse {
        self.imported(kind, None)
    }

    async fn identity_schema(&self, kind: &str) -> Result<Option<IdentitySchema>, ProviderDiagnostics> {
        self.inner.identity_schema(kind).await
    }

    async fn upgrade_resource_identity(&self, kind: &str, stored: Identity) -> (Option<Identity>, ProviderDiagnostics) {
        self.inner.upgrade_resource_identity(kind, stored).await
    }

    /// The object has the identity that it is imported by.
    async fn import_by_identity(&self, kind: &str, identity: Value, _: ClientCapabilities) -> ImportResponse {
        match self.inner.identity_schema(kind).await {
            Ok(schema) => {
                let of_schema = |schema: &IdentitySchema| Identity::from_value(&identity, schema).ok().flatten();
                self.imported(kind, schema.as_ref().and_then(of_schema))
            }
            Err(errors) => ImportResponse::failed(errors),
        }
    }

    async fn generate_resource_config(&self, kind: &str, state: Value) -> (Value, ProviderDiagnostics) {
        self.inner.generate_resource_config(kind, state).await
    }

    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        self.inner.move_resource_state(request).await
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        let (state, diagnostics) = self.read(&request.config);
        ReadDataResponse::new(state, diagnostics)
    }

    /// An overridden ephemeral resource is not validated by its provider: that of a mock may refuse all.
    async fn validate_ephemeral_config(&self, _: &str, _: Value) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn open_ephemeral(&self, _: &str, config: Value, _: ClientCapabilities) -> OpenEphemeralResponse {
        let (result, diagnostics) = self.computed(self.maker(&[])).read(&config);
        OpenEphemeralResponse { result, deferred: None, private: Vec::new(), renew_at: None, diagnostics }
    }

    async fn renew_ephemeral(&self, _: &str, private: Vec<u8>) -> RenewEphemeralResponse {
        RenewEphemeralResponse { private, renew_at: None, diagnostics: Vec::new() }
    }

    async fn close_ephemeral(&self, _: &str, _: Vec<u8>) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn call_function(&self, name: &str, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        self.inner.call_function(name, arguments).await
    }

    async fn validate_list_config(&self, request: ValidateListRequest) -> ProviderDiagnostics {
        self.inner.validate_list_config(request).await
    }

    async fn list_resources(&self, request: ListRequest, results: &dyn ListSink) -> ProviderDiagnostics {
        self.inner.list_resources(request, results).await
    }

    async fn validate_action_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        self.inner.validate_action_config(kind, config).await
    }

    async fn plan_action(&self, request: PlanActionRequest) -> PlanActionResponse {
        self.inner.plan_action(request).await
    }

    async fn invoke_action(&self, request: InvokeActionRequest) -> ProviderDiagnostics {
        self.inner.invoke_action(request).await
    }

    fn state_stores(&self) -> Option<&dyn StateStores> {
        self.inner.state_stores()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use base::diag::{Diagnostic, Diagnostics};
    use model::config::test_file::OverrideKind;
    use terrane_protocol::provider::no_provider_meta;
    use terrane_protocol::schema::StaticSchemas;
    use terrane_value::json;

    use super::super::recorded_tests::{configured, schemas, shown};
    use super::super::{MockedProvider, MockedTypes, RealProvider};
    use super::*;
    use crate::change::proposed::proposed_new;

    const KIND: &str = "mock_secret";

    struct NotStarted;

    #[async_trait]
    impl RealProvider for NotStarted {
        async fn provider(&self) -> Result<Arc<dyn Provider>, Diagnostics> {
            Err(Diagnostic::error("Started", "").into())
        }
    }

    fn schema() -> Arc<Schema> {
        Arc::new(Schema::new(0, schemas().remove(KIND).unwrap()))
    }

    fn object(text: &str) -> Value {
        configured(&schema().block, &json::from_untyped_json(text.as_bytes()).unwrap())
    }

    /// An override over a mock, which would make up other values.
    fn overridden(values: &str, during_plan: bool) -> OverriddenResource {
        let schemas = StaticSchemas { managed: BTreeMap::from([(KIND.into(), schema())]), ..StaticSchemas::default() };
        let random: Random = Arc::new(|bytes: &mut [u8]| bytes.fill(9));
        let inner =
            MockedProvider::new(Arc::new(schemas), MockedTypes::default(), random.clone(), Arc::new(NotStarted));
        let values = json::from_untyped_json(values.as_bytes()).unwrap();
        let given =
            ResolvedOverride { kind: OverrideKind::Resource, values, of_object: None, during_plan, range: None };
        OverriddenResource::new(Arc::new(inner), schema(), given, random)
    }

    async fn plan(provider: &OverriddenResource, prior: Value, config: Value) -> PlanResponse {
        let is_destroyed = config.is_null();
        let proposed = if is_destroyed { config.clone() } else { proposed_new(&schema().block, &prior, &config) };
        let request = PlanRequest {
            kind: KIND.into(),
            proposed,
            prior,
            config,
            prior_private: Arc::from([]),
            provider_meta: no_provider_meta(),
            client: ClientCapabilities::default(),
            prior_identity: None,
            planned_private: Arc::from([]),
        };
        provider.plan_resource_change(request).await
    }

    async fn apply(provider: &OverriddenResource, prior: Value, planned: &PlanResponse) -> Value {
        let request = ApplyRequest {
            kind: KIND.into(),
            prior,
            planned: planned.planned.clone(),
            config: planned.planned.clone(),
            planned_private: planned.private.clone(),
            planned_identity: None,
            provider_meta: no_provider_meta(),
        };
        provider.apply_resource_change(request).await.new_state
    }

    fn null() -> Value {
        Value::null(schema().implied_type().clone())
    }

    #[tokio::test]
    async fn given_values_are_those_of_the_creation() {
        let first = overridden(r#"{"id":"One","wo":"ignored"}"#, false);
        let planned = plan(&first, null(), object(r#"{"wo":"w"}"#)).await;
        assert!(!planned.planned.get("id").unwrap().is_known());
        let created = apply(&first, null(), &planned).await;
        assert_eq!(shown(&created), r#"{"auth":null,"id":"One","token":"*","wo":null}"#);
        let later = overridden(r#"{"id":"Two"}"#, false);
        let planned = plan(&later, created.clone(), object(r#"{"wo":"v","auth":{}}"#)).await;
        let changed = apply(&later, created, &planned).await;
        // As in the reference: what is computed in a new part is null.
        assert_eq!(shown(&changed), r#"{"auth":{"id":null,"wo":null},"id":"One","token":"*","wo":null}"#);
        let planned = plan(&later, changed.clone(), null()).await;
        assert!(planned.planned.is_null() && planned.diagnostics.is_empty());
        assert!(apply(&later, changed, &planned).await.is_null());
    }

    #[tokio::test]
    async fn values_are_known_in_plans_if_the_test_says_so() {
        let planned = plan(&overridden(r#"{"id":"One"}"#, true), null(), object("{}")).await;
        assert_eq!(shown(&planned.planned), r#"{"auth":null,"id":"One","token":"*","wo":null}"#);
    }

    #[tokio::test]
    async fn imported_objects_have_the_configuration() {
        let client = ClientCapabilities::default();
        let provider = overridden(r#"{"id":"One"}"#, false);
        let imported = provider.import_resource_state(KIND, "i", client).await;
        assert_eq!(shown(&imported.objects[0].state), r#"{"auth":null,"id":"One","token":"*","wo":null}"#);
        let provider = provider.with_config(object(r#"{"wo":"w","auth":{"wo":"w"}}"#));
        let imported = provider.import_resource_state(KIND, "i", client).await;
        let expected = r#"{"auth":{"id":"*","wo":null},"id":"One","token":"*","wo":null}"#;
        assert_eq!((shown(&imported.objects[0].state), imported.diagnostics), (expected.into(), Vec::new()));
    }
}
