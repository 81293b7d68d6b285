//! A provider that mocks another one: it has its types, and makes up its objects.
//!
//! Owns the answers to all calls. The schemas are enough for them: the real provider is asked only for its functions, for objects that
//! move between types and for the schemas of identities.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use model::config::test_file::OverrideDuring;
use model::version::at_least;
use terrane_protocol::provider::{
    ApplyRequest, ApplyResponse, ClientCapabilities, ConfigureRequest, FunctionError, Identity, IdentitySchema,
    ImportResponse, InvokeActionRequest, MoveRequest, MoveResponse, OpenEphemeralResponse, PlanActionRequest,
    PlanActionResponse, PlanRequest, PlanResponse, Provider, ProviderDiagnostic, ProviderDiagnostics, RawState,
    ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, RenewEphemeralResponse, UpgradeRequest,
    ValidateListRequest,
};
use terrane_protocol::schema::{ProviderSchemas, Schema, SchemaError};
use terrane_value::{Value, json};

use super::computed::{Computed, GivenValues, ObjectValues, not_an_object};
use super::fill::Rules;
use super::generate::{Maker, Random};
use super::seed;
use crate::change::write_only;
use crate::engine_errors::INVALID_OBJECT;

const NO_TYPE: &str = "Unknown type of a mocked provider";
const NO_EPHEMERALS: &str = "No ephemeral resource types in mock providers";

/// What a mocked provider is given for its types.
#[derive(Clone, Debug, Default)]
pub struct MockedTypes {
    /// By type.
    pub resources: BTreeMap<Arc<str>, MockedType>,
    pub data_sources: BTreeMap<Arc<str>, MockedType>,
    pub ephemeral: BTreeMap<Arc<str>, MockedType>,
    /// For the types above that say nothing else.
    pub during: Option<OverrideDuring>,
}

/// What a mock is given for the objects of one type.
#[derive(Clone, Default)]
pub struct MockedType {
    /// An object. None: everything is made up.
    pub defaults: Option<Value>,
    /// Set if the defaults name `self`: counts instead of `defaults`. It gets no key, which providers are not told.
    pub of_object: Option<Arc<ObjectValues>>,
    /// Where the defaults stand.
    pub range: Option<Range>,
    pub during: Option<OverrideDuring>,
}

impl MockedType {
    /// The error of defaults that are no object, at their place. Without this, objects of the type have it without a place.
    pub fn problem(&self) -> Option<Diagnostic> {
        let defaults = self.defaults.as_ref().filter(|defaults| !defaults.ty().is_object())?;
        let error = not_an_object(defaults);
        Some(Diagnostic::error(error.summary, error.detail).at_opt(self.range.clone()))
    }
}

impl fmt::Debug for MockedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MockedType")
            .field("defaults", &self.defaults)
            .field("during", &self.during)
            .finish_non_exhaustive()
    }
}

/// Access to the provider that is mocked.
#[async_trait]
pub trait RealProvider: Send + Sync {
    /// A process of it, not configured.
    async fn provider(&self) -> Result<Arc<dyn Provider>, Diagnostics>;
}

/// A provider that makes up its objects.
pub struct MockedProvider {
    schemas: Arc<dyn ProviderSchemas>,
    types: MockedTypes,
    random: Random,
    real: Arc<dyn RealProvider>,
}

impl MockedProvider {
    pub fn new(
        schemas: Arc<dyn ProviderSchemas>,
        types: MockedTypes,
        random: Random,
        real: Arc<dyn RealProvider>,
    ) -> MockedProvider {
        MockedProvider { schemas, types, random, real }
    }

    fn managed(&self, kind: &str) -> Result<Arc<Schema>, ProviderDiagnostics> {
        schema_of(self.schemas.managed(kind), kind)
    }

    fn maker(&self, private: &[u8]) -> Maker {
        seed::maker(private, &self.random)
    }

    async fn real(&self) -> Result<Arc<dyn Provider>, ProviderDiagnostics> {
        let failed = |errors: Diagnostics| errors.into_iter().map(|e| ProviderDiagnostic::error(e.summary, e.detail));
        self.real.provider().await.map_err(|errors| failed(errors).collect())
    }

    fn planned(&self, request: &PlanRequest, schema: &Schema, maker: Maker) -> (Value, ProviderDiagnostics) {
        if !request.prior.is_null() {
            return (write_only::without_values(&schema.block, &request.proposed), Vec::new());
        }
        let of_type = self.types.resources.get(&request.kind);
        let during = of_type.and_then(|of_type| of_type.during.or(self.types.during));
        let made = during == Some(OverrideDuring::Plan);
        let (planned, diagnostics) = computed(of_type, schema, maker).plan(&request.proposed, made);
        (write_only::without_values(&schema.block, &planned), diagnostics)
    }

    fn opened(&self, kind: &str, config: &Value) -> Result<(Value, ProviderDiagnostics), ProviderDiagnostics> {
        if !at_least(17) {
            return Err(no_ephemerals());
        }
        let schema = schema_of(self.schemas.ephemeral(kind), kind)?;
        Ok(computed(self.types.ephemeral.get(kind), &schema, self.maker(&[])).read(config))
    }
}

/// What makes an object of a type.
fn computed<'c>(of_type: Option<&'c MockedType>, schema: &'c Schema, maker: Maker) -> Computed<'c> {
    let given = of_type.map_or_else(GivenValues::default, |of_type| GivenValues {
        values: of_type.defaults.as_ref(),
        of_object: of_type.of_object.as_deref(),
        range: of_type.range.as_ref(),
        ..GivenValues::default()
    });
    Computed { schema: &schema.block, given, maker, rules: Rules::at(given.range) }
}

/// The schema of a type. Validation refuses types that the provider does not have.
fn schema_of(schema: Result<Option<Arc<Schema>>, SchemaError>, kind: &str) -> Result<Arc<Schema>, ProviderDiagnostics> {
    let detail = match schema {
        Ok(Some(schema)) => return Ok(schema),
        Ok(None) => format!("The provider has no type {kind:?}."),
        Err(error) => format!("The schema of the type {kind:?} cannot be read: {error}."),
    };
    Err(vec![ProviderDiagnostic::error(NO_TYPE, detail)])
}

fn no_ephemerals() -> ProviderDiagnostics {
    let detail = "The provider mocking mechanism does not yet support ephemeral resource types.";
    vec![ProviderDiagnostic::error(NO_EPHEMERALS, detail)]
}

/// A stored object of the current schema: mocks make no others.
fn decoded(raw: &RawState, schema: &Schema) -> Result<Value, ProviderDiagnostics> {
    let RawState::Json(text) = raw else {
        let detail = "The stored object is of a format that only its provider can read.";
        return Err(vec![ProviderDiagnostic::error(INVALID_OBJECT, detail)]);
    };
    json::from_json(text, schema.implied_type())
        .map(|value| write_only::without_values(&schema.block, &value))
        .map_err(|error| vec![ProviderDiagnostic::error(error.to_string(), "")])
}

#[async_trait]
impl Provider for MockedProvider {
    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics> {
        Ok(self.schemas.clone())
    }

    async fn validate_provider_config(&self, config: Value) -> (Value, ProviderDiagnostics) {
        (config, Vec::new())
    }

    async fn validate_resource_config(&self, _: &str, _: Value, _: ClientCapabilities) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn validate_data_config(&self, _: &str, _: Value) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn configure(&self, _: ConfigureRequest) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> (Value, ProviderDiagnostics) {
        let decoded = self.managed(&request.kind).and_then(|schema| decoded(&request.raw, &schema));
        decoded.map_or_else(|errors| (Value::null_dynamic(), errors), |value| (value, Vec::new()))
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
        let (planned, diagnostics) = match self.managed(&request.kind) {
            _ if request.proposed.is_null() => (request.proposed.clone(), Vec::new()),
            Ok(schema) => self.planned(&request, &schema, maker),
            Err(errors) => (request.proposed.clone(), errors),
        };
        let private = seed::private(maker);
        seed::plan_response(planned, request.prior_identity, private, diagnostics)
    }

    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse {
        let creates = request.prior.is_null() && !request.planned.is_null();
        let (new_state, diagnostics) = match self.managed(&request.kind) {
            _ if !creates => (request.planned, Vec::new()),
            Ok(schema) => {
                let maker = self.maker(&request.planned_private);
                computed(self.types.resources.get(&request.kind), &schema, maker).apply(&request.planned)
            }
            Err(errors) => (request.prior, errors),
        };
        seed::apply_response(new_state, request.planned_identity, diagnostics)
    }

    async fn import_resource_state(&self, _: &str, _: &str, _: ClientCapabilities) -> ImportResponse {
        let detail = "Cannot import resources from mock providers. Use an `override_resource` block to targeting the specific \
                      resource being imported instead.";
        ImportResponse::failed(vec![ProviderDiagnostic::error("Invalid import request", detail)])
    }

    async fn identity_schema(&self, kind: &str) -> Result<Option<IdentitySchema>, ProviderDiagnostics> {
        self.real().await?.identity_schema(kind).await
    }

    async fn upgrade_resource_identity(&self, _: &str, stored: Identity) -> (Option<Identity>, ProviderDiagnostics) {
        (Some(stored), Vec::new())
    }

    async fn import_by_identity(&self, kind: &str, _: Value, client: ClientCapabilities) -> ImportResponse {
        self.import_resource_state(kind, "", client).await
    }

    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        match self.real().await {
            Ok(real) => real.move_resource_state(request).await,
            Err(diagnostics) => MoveResponse {
                state: Value::null_dynamic(),
                identity: None,
                private: request.source_private,
                diagnostics,
            },
        }
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        let schema = match schema_of(self.schemas.data(&request.kind), &request.kind) {
            Ok(schema) => schema,
            Err(errors) => return ReadDataResponse::new(Value::null_dynamic(), errors),
        };
        let of_type = self.types.data_sources.get(&request.kind);
        let (read, diagnostics) = computed(of_type, &schema, self.maker(&[])).read(&request.config);
        ReadDataResponse::new(write_only::without_values(&schema.block, &read), diagnostics)
    }

    async fn validate_ephemeral_config(&self, _: &str, _: Value) -> ProviderDiagnostics {
        if at_least(17) { Vec::new() } else { no_ephemerals() }
    }

    async fn open_ephemeral(&self, kind: &str, config: Value, _: ClientCapabilities) -> OpenEphemeralResponse {
        let opened = self.opened(kind, &config);
        let (result, diagnostics) = opened.unwrap_or_else(|errors| (Value::null_dynamic(), errors));
        OpenEphemeralResponse { result, deferred: None, private: Vec::new(), renew_at: None, diagnostics }
    }

    async fn renew_ephemeral(&self, _: &str, private: Vec<u8>) -> RenewEphemeralResponse {
        RenewEphemeralResponse { private, renew_at: None, diagnostics: Vec::new() }
    }

    async fn close_ephemeral(&self, _: &str, _: Vec<u8>) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn call_function(&self, name: &str, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        match self.real().await {
            Ok(real) => real.call_function(name, arguments).await,
            Err(errors) => {
                let texts: Vec<String> = errors.iter().map(|e| format!("{}: {}", e.summary, e.detail)).collect();
                Err(FunctionError { text: texts.join("\n"), argument: None })
            }
        }
    }

    async fn validate_list_config(&self, _: ValidateListRequest) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn validate_action_config(&self, _: &str, _: Value) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn plan_action(&self, _: PlanActionRequest) -> PlanActionResponse {
        PlanActionResponse::new(Vec::new())
    }

    async fn invoke_action(&self, _: InvokeActionRequest) -> ProviderDiagnostics {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use terrane_protocol::provider::{has_errors, no_provider_meta};
    use terrane_protocol::schema::StaticSchemas;
    use terrane_value::Type;

    use super::super::recorded_tests::{configured, place, schemas, shown};
    use super::*;
    use crate::change::proposed::proposed_new;

    struct NotStarted;

    #[async_trait]
    impl RealProvider for NotStarted {
        async fn provider(&self) -> Result<Arc<dyn Provider>, Diagnostics> {
            Err(Diagnostic::error("Started", "The provider was asked for.").into())
        }
    }

    fn schema(kind: &str) -> Arc<Schema> {
        Arc::new(Schema::new(0, schemas().remove(kind).unwrap()))
    }

    /// A mock of a provider with one type in all modes, whose random bytes count up.
    fn mocked(kind: &str, of_type: MockedType) -> MockedProvider {
        let one = || BTreeMap::from([(Arc::from(kind), schema(kind))]);
        let schemas = StaticSchemas { managed: one(), data: one(), ephemeral: one(), ..StaticSchemas::default() };
        let types = || BTreeMap::from([(Arc::from(kind), of_type.clone())]);
        let types = MockedTypes { resources: types(), data_sources: types(), ephemeral: types(), during: None };
        let next = std::sync::atomic::AtomicU8::new(0);
        let random = move |bytes: &mut [u8]| bytes.fill(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        MockedProvider::new(Arc::new(schemas), types, Arc::new(random), Arc::new(NotStarted))
    }

    fn defaults(text: &str) -> MockedType {
        let values = json::from_untyped_json(text.as_bytes()).unwrap();
        MockedType { defaults: Some(values), range: Some(place()), ..MockedType::default() }
    }

    fn object(kind: &str, text: &str) -> Value {
        configured(&schema(kind).block, &json::from_untyped_json(text.as_bytes()).unwrap())
    }

    async fn plan(provider: &MockedProvider, kind: &str, prior: Value, config: Value, again: &[u8]) -> PlanResponse {
        let is_destroyed = config.is_null();
        let proposed = if is_destroyed { config.clone() } else { proposed_new(&schema(kind).block, &prior, &config) };
        let request = PlanRequest {
            kind: kind.into(),
            proposed,
            prior,
            config,
            prior_private: Arc::from([]),
            provider_meta: no_provider_meta(),
            client: ClientCapabilities::default(),
            prior_identity: None,
            planned_private: again.into(),
        };
        provider.plan_resource_change(request).await
    }

    async fn apply(provider: &MockedProvider, kind: &str, prior: Value, planned: &PlanResponse) -> Value {
        let request = ApplyRequest {
            kind: kind.into(),
            prior,
            planned: planned.planned.clone(),
            config: planned.planned.clone(),
            planned_private: planned.private.clone(),
            planned_identity: None,
            provider_meta: no_provider_meta(),
        };
        let response = provider.apply_resource_change(request).await;
        assert_eq!(response.diagnostics, Vec::new());
        response.new_state
    }

    fn null(kind: &str) -> Value {
        Value::null(schema(kind).implied_type().clone())
    }

    #[tokio::test]
    async fn objects_are_made_at_their_creation_alone() {
        let kind = "mock_secret";
        let provider = mocked(kind, defaults(r#"{"id":"I","token":5}"#));
        let planned = plan(&provider, kind, null(kind), object(kind, r#"{"wo":"w","auth":{"wo":"w"}}"#), &[]).await;
        let unknown = "{\"$unknown\":true}";
        let expected = format!(r#"{{"auth":{{"id":{unknown},"wo":null}},"id":{unknown},"token":{unknown},"wo":null}}"#);
        assert_eq!(shown(&planned.planned), expected);
        let created = apply(&provider, kind, null(kind), &planned).await;
        assert_eq!(shown(&created), r#"{"auth":{"id":"*","wo":null},"id":"I","token":"5","wo":null}"#);
        let planned = plan(&provider, kind, created.clone(), object(kind, r#"{"wo":"w"}"#), &[]).await;
        let changed = apply(&provider, kind, created, &planned).await;
        assert_eq!(shown(&changed), r#"{"auth":null,"id":"I","token":"5","wo":null}"#);
        let planned = plan(&provider, kind, changed.clone(), null(kind), &[]).await;
        assert!(planned.planned.is_null());
        assert!(apply(&provider, kind, changed, &planned).await.is_null());
    }

    #[tokio::test]
    async fn plans_make_the_same_values_again() {
        let kind = "mock_plain";
        let of_type = MockedType { during: Some(OverrideDuring::Plan), ..defaults(r#"{"id":"I"}"#) };
        let provider = mocked(kind, of_type);
        let first = plan(&provider, kind, null(kind), object(kind, "{}"), &[]).await;
        let again = plan(&provider, kind, null(kind), object(kind, "{}"), &first.private).await;
        let other = plan(&provider, kind, null(kind), object(kind, "{}"), &[]).await;
        assert!(first.planned.is_wholly_known());
        assert_eq!(first.planned, again.planned);
        assert_ne!(first.planned, other.planned);
        // A provider that has nothing for the type plans unknown values.
        let provider = mocked(kind, MockedType { during: None, ..defaults(r#"{"id":"I"}"#) });
        let planned = plan(&provider, kind, null(kind), object(kind, "{}"), &[]).await;
        assert!(!planned.planned.get("id").unwrap().is_known());
    }

    #[tokio::test]
    async fn stored_objects_are_decoded_and_refreshed_as_they_are() {
        let kind = "mock_secret";
        let provider = mocked(kind, MockedType::default());
        let upgrade = |text: &'static str| {
            let raw = RawState::Json(text.as_bytes().into());
            provider.upgrade_resource_state(UpgradeRequest { kind: kind.into(), version: 0, raw })
        };
        let (stored, errors) = upgrade(r#"{"id":"I","wo":"w"}"#).await;
        assert_eq!((shown(&stored), errors), (r#"{"auth":null,"id":"I","token":null,"wo":null}"#.into(), Vec::new()));
        assert!(has_errors(&upgrade(r#"{"id":[]}"#).await.1));
        let request = ReadRequest {
            kind: kind.into(),
            current: stored.clone(),
            current_identity: None,
            private: Arc::from([]),
            provider_meta: no_provider_meta(),
            client: ClientCapabilities::default(),
        };
        assert_eq!(provider.read_resource(request).await.new_state, stored);
    }

    #[tokio::test]
    async fn data_sources_and_ephemeral_resources_are_made_at_once() {
        let kind = "mock_secret";
        let provider = mocked(kind, defaults(r#"{"id":"I"}"#));
        let request = ReadDataRequest {
            kind: kind.into(),
            address: String::new(),
            config: object(kind, r#"{"auth":{}}"#),
            provider_meta: no_provider_meta(),
            client: ClientCapabilities::default(),
        };
        let made = r#"{"auth":{"id":"*","wo":null},"id":"I","token":"*","wo":null}"#;
        let read = provider.read_data_source(request).await;
        assert_eq!((shown(&read.state), read.diagnostics), (made.into(), Vec::new()));
        let client = ClientCapabilities::default();
        let opened = provider.open_ephemeral(kind, object(kind, r#"{"auth":{}}"#), client).await;
        assert_eq!((shown(&opened.result), opened.diagnostics), (made.into(), Vec::new()));
    }

    #[tokio::test]
    async fn calls_that_a_mock_cannot_answer_are_errors() {
        let provider = mocked("mock_plain", MockedType::default());
        let client = ClientCapabilities::default();
        let imported = provider.import_resource_state("mock_plain", "i", client).await;
        assert_eq!(imported.diagnostics[0].summary, "Invalid import request");
        let imported = provider.import_by_identity("mock_plain", Value::empty_object(), client).await;
        assert_eq!(imported.diagnostics[0].summary, "Invalid import request");
        let request = ReadDataRequest {
            kind: "mock_other".into(),
            address: String::new(),
            config: Value::empty_object(),
            provider_meta: no_provider_meta(),
            client,
        };
        assert_eq!(provider.read_data_source(request).await.diagnostics[0].summary, NO_TYPE);
        // Only functions, moves and identities need the process.
        let failed = provider.call_function("f", vec![Value::null(Type::String)]).await.unwrap_err();
        assert_eq!(failed.text, "Started: The provider was asked for.");
    }

    #[test]
    fn defaults_must_be_objects() {
        assert!(defaults("{}").problem().is_none() && MockedType::default().problem().is_none());
        let problem = defaults("\"text\"").problem().unwrap();
        assert_eq!(problem.summary, "Invalid replacement value");
        assert_eq!(problem.detail, "The requested replacement value must be an object type, but was string.");
    }
}
