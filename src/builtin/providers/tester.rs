//! Calls one type of a provider as hosts do; for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use terrane_protocol::provider::{
    ApplyRequest, ClientCapabilities, MoveRequest, PlanRequest, PlanResponse, Provider, ProviderDiagnostic,
    ProviderDiagnostics, RawState, ReadDataRequest, ReadRequest, Severity, UpgradeRequest, no_provider_meta,
};
use terrane_protocol::schema::Schema;
use terrane_sdk::{self, Value};

#[derive(Clone, Copy)]
enum Mode {
    Managed,
    Data,
    Ephemeral,
}

/// A type of a provider, which is configured.
pub struct Tester {
    provider: Arc<dyn Provider>,
    mode: Mode,
    kind: &'static str,
    schema: Arc<Schema>,
}

/// What a call returned, or its first error.
type Answer = Result<Value, ProviderDiagnostic>;

fn answer(value: Value, diagnostics: ProviderDiagnostics) -> Answer {
    diagnostics.into_iter().find(|found| found.severity == Severity::Error).map_or(Ok(value), Err)
}

impl Tester {
    pub async fn resource(provider: impl terrane_sdk::Provider, kind: &'static str) -> Tester {
        Tester::new(provider, Mode::Managed, kind).await
    }

    pub async fn data_source(provider: impl terrane_sdk::Provider, kind: &'static str) -> Tester {
        Tester::new(provider, Mode::Data, kind).await
    }

    pub async fn ephemeral(provider: impl terrane_sdk::Provider, kind: &'static str) -> Tester {
        Tester::new(provider, Mode::Ephemeral, kind).await
    }

    async fn new(provider: impl terrane_sdk::Provider, mode: Mode, kind: &'static str) -> Tester {
        let provider = terrane_sdk::server(provider);
        let schemas = provider.schemas().await.unwrap();
        let schema = match mode {
            Mode::Managed => schemas.managed(kind),
            Mode::Data => schemas.data(kind),
            Mode::Ephemeral => schemas.ephemeral(kind),
        };
        Tester { provider, mode, kind, schema: schema.unwrap().unwrap() }
    }

    /// An object from some of its attributes; the others are null.
    pub fn object<const N: usize>(&self, values: [(&'static str, Value); N]) -> Value {
        self.object_of(values)
    }

    pub fn object_of(&self, values: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
        let mut all: BTreeMap<Arc<str>, Value> = self.schema.block.empty_value().entries().to_map();
        all.extend(values.into_iter().map(|(name, value)| (Arc::from(name), value)));
        Value::object(all)
    }

    pub fn absent(&self) -> Value {
        Value::null(self.schema.implied_type().clone())
    }

    pub async fn validate(&self, config: Value) -> ProviderDiagnostics {
        match self.mode {
            Mode::Managed => {
                self.provider.validate_resource_config(self.kind, config, ClientCapabilities::default()).await
            }
            Mode::Data => self.provider.validate_data_config(self.kind, config).await,
            Mode::Ephemeral => self.provider.validate_ephemeral_config(self.kind, config).await,
        }
    }

    /// Plans a creation (from a null object) or a change, by what hosts propose: configured values, else prior ones of
    /// computed attributes.
    pub async fn plan(&self, prior: Value, config: Value) -> PlanResponse {
        let mut proposed = config.entries().to_map();
        for (name, value) in &mut proposed {
            let is_computed = self.schema.block.attributes.get(name).is_some_and(|attribute| attribute.computed);
            if let Some(before) = prior.get(name).filter(|_| value.is_null() && is_computed) {
                *value = before.clone();
            }
        }
        self.plan_proposed(prior, Value::object(proposed), config).await
    }

    pub async fn plan_proposed(&self, prior: Value, proposed: Value, config: Value) -> PlanResponse {
        let request = PlanRequest {
            kind: self.kind.into(),
            prior,
            proposed,
            config,
            prior_private: Arc::from([]),
            provider_meta: no_provider_meta(),
            client: ClientCapabilities::default(),
            prior_identity: None,
            planned_private: Arc::from([]),
        };
        self.provider.plan_resource_change(request).await
    }

    pub async fn create(&self, planned: Value) -> Answer {
        self.apply(self.absent(), planned).await
    }

    pub async fn delete(&self, prior: Value) -> Answer {
        self.apply(prior, self.absent()).await
    }

    async fn apply(&self, prior: Value, planned: Value) -> Answer {
        let request = ApplyRequest {
            kind: self.kind.into(),
            prior,
            config: planned.clone(),
            planned,
            planned_private: Arc::from([]),
            planned_identity: None,
            provider_meta: no_provider_meta(),
        };
        let response = self.provider.apply_resource_change(request).await;
        answer(response.new_state, response.diagnostics)
    }

    /// Refreshes an object, or reads a data source.
    pub async fn read(&self, object: Value) -> Answer {
        if let Mode::Data = self.mode {
            let request = ReadDataRequest {
                kind: self.kind.into(),
                config: object,
                provider_meta: no_provider_meta(),
                client: ClientCapabilities::default(),
                address: String::new(),
            };
            let response = self.provider.read_data_source(request).await;
            return answer(response.state, response.diagnostics);
        }
        let request = ReadRequest {
            kind: self.kind.into(),
            current: object,
            current_identity: None,
            private: Arc::from([]),
            provider_meta: no_provider_meta(),
            client: ClientCapabilities::default(),
        };
        let response = self.provider.read_resource(request).await;
        answer(response.new_state, response.diagnostics)
    }

    pub async fn import(&self, id: &str) -> Answer {
        let response = self.provider.import_resource_state(self.kind, id, ClientCapabilities::default()).await;
        let state = response.objects.into_iter().next().map_or_else(|| self.absent(), |object| object.state);
        answer(state, response.diagnostics)
    }

    pub async fn upgrade(&self, version: i64, json: &str) -> Answer {
        let raw = RawState::Json(json.as_bytes().to_vec().into());
        let request = UpgradeRequest { kind: self.kind.into(), version, raw };
        let (value, diagnostics) = self.provider.upgrade_resource_state(request).await;
        answer(value, diagnostics)
    }

    /// Moves an object of another type here.
    pub async fn move_from(&self, provider: &str, kind: &str, json: &str) -> Answer {
        let request = MoveRequest {
            source_provider: provider.into(),
            source_kind: kind.into(),
            source_version: 0,
            source_state: json.as_bytes().to_vec().into(),
            source_identity: None,
            source_private: Arc::from([]),
            target_kind: self.kind.into(),
        };
        let response = self.provider.move_resource_state(request).await;
        answer(response.state, response.diagnostics)
    }

    pub async fn open(&self, config: Value) -> Answer {
        let response = self.provider.open_ephemeral(self.kind, config, ClientCapabilities::default()).await;
        answer(response.result, response.diagnostics)
    }
}

/// The attribute as text, which it must be.
pub fn text<'v>(object: &'v Value, name: &str) -> &'v str {
    object.get(name).and_then(Value::as_str).unwrap()
}
