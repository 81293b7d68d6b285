//! A provider without a process: objects with an input of any type and outputs that are known after apply.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use base::diag::Diagnostics;
use base::files::{Files, Memory};
use base::moment::Moment;
use engine::ports::{Configuring, Host, Providers};
use model::addr::{self, AbsProviderConfig};
use terrane_protocol::provider::*;
use terrane_protocol::schema::{Attribute, Block, NestedBlock, Nesting, ProviderSchemas, Schema, StaticSchemas};
use terrane_value::{Path, Type, Value, msgpack};

/// The schema of `test_thing`.
pub static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    let optional = |ty| Attribute { optional: true, ..Attribute::new(ty) };
    let computed = |ty| Attribute { computed: true, ..Attribute::new(ty) };
    let attributes = [
        ("id", computed(Type::String)),
        ("input", optional(Type::Dynamic)),
        ("output", computed(Type::Dynamic)),
        ("force", optional(Type::String)),
        ("secret", Attribute { sensitive: true, ..optional(Type::String) }),
        ("labels", optional(Type::set(Type::String))),
    ];
    let attributes = attributes.into_iter().map(|(name, attribute)| (Arc::from(name), attribute)).collect();
    let part = [("key", optional(Type::String)), ("made", computed(Type::String))];
    let part = Block { attributes: part.map(|(name, part)| (Arc::from(name), part)).into(), ..Block::default() };
    let parts = NestedBlock { block: part, nesting: Nesting::Set, min_items: 0, max_items: 0 };
    Arc::new(Schema::new(0, Block { attributes, blocks: [("part".into(), parts)].into(), ..Block::default() }))
});

/// The world outside.
#[derive(Default)]
pub struct World {
    /// Objects are found changed when they are read.
    pub is_drifted: AtomicBool,
    next: AtomicU64,
    files: Memory,
}

fn with(value: &Value, name: &str, part: Value) -> Value {
    let mut entries = value.entries().to_map();
    entries.insert(name.into(), part);
    Value::object(entries)
}

/// The value as another process would send it: it shares nothing with what was sent there.
fn received(value: &Value) -> Value {
    let ty = SCHEMA.implied_type();
    msgpack::decode(&msgpack::encode(value, ty), ty).unwrap()
}

/// The parts with what `made` gives them.
fn with_parts(object: &Value, made: impl Fn(&Value) -> Value) -> Value {
    let Some(parts) = object.get("part") else { return object.clone() };
    let Some(ty) = parts.ty().element_type().cloned() else { return object.clone() };
    let elements = parts.elements().iter().map(|part| with(part, "made", made(part))).collect();
    with(object, "part", Value::set(ty, elements))
}

pub struct Things(pub Arc<World>);

#[async_trait]
impl Provider for Things {
    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics> {
        Err(Vec::new())
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
        let RawState::Json(text) = request.raw else { panic!("flat state") };
        (terrane_value::json::from_json(&text, SCHEMA.implied_type()).unwrap(), Vec::new())
    }
    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        let mut new_state = received(&request.current);
        if self.0.is_drifted.load(Ordering::Relaxed) {
            let output = new_state.get("output").cloned().unwrap_or_else(Value::null_dynamic);
            let changed = Value::string("changed outside");
            let is_object = output.is_known_object();
            let output = if is_object { with(&output, "name", changed) } else { changed };
            new_state = with(&new_state, "output", output);
        }
        ReadResponse { new_state, deferred: None, identity: None, private: request.private, diagnostics: Vec::new() }
    }
    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let mut planned = received(&request.proposed);
        let mut requires_replace = Vec::new();
        if !planned.is_null() {
            if request.prior.is_null() {
                planned = with(&planned, "id", Value::unknown(Type::String));
            }
            if request.prior.get("input") != planned.get("input") {
                planned = with(&planned, "output", Value::dynamic());
            }
            if !request.prior.is_null() && request.prior.get("force") != planned.get("force") {
                requires_replace.push(Path::new().attr("force"));
            }
            planned = with_parts(&planned, |part| match part.get("made") {
                Some(made) if !made.is_null() => made.clone(),
                _ => Value::unknown(Type::String),
            });
        }
        PlanResponse {
            planned,
            identity: None,
            deferred: None,
            requires_replace,
            private: request.prior_private,
            legacy_type_system: false,
            diagnostics: Vec::new(),
        }
    }
    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse {
        let mut new_state = received(&request.planned);
        if !new_state.is_null() {
            if !new_state.get("id").is_some_and(Value::is_known) {
                let id = self.0.next.fetch_add(1, Ordering::Relaxed);
                new_state = with(&new_state, "id", Value::string(format!("0a1b2c3d-{id:08}")));
            }
            let input = new_state.get("input").cloned().unwrap_or_else(Value::null_dynamic);
            new_state = with(&new_state, "output", input);
            new_state = with_parts(&new_state, |part| part.get("key").cloned().unwrap());
        }
        ApplyResponse {
            new_state,
            identity: None,
            private: Arc::from([]),
            legacy_type_system: false,
            diagnostics: Vec::new(),
        }
    }
    async fn import_resource_state(&self, _: &str, _: &str, _: ClientCapabilities) -> ImportResponse {
        panic!("not asked for")
    }
    async fn move_resource_state(&self, _: MoveRequest) -> MoveResponse {
        panic!("not asked for")
    }
    async fn read_data_source(&self, _: ReadDataRequest) -> ReadDataResponse {
        panic!("not asked for")
    }
    async fn validate_ephemeral_config(&self, _: &str, _: Value) -> ProviderDiagnostics {
        Vec::new()
    }
    async fn open_ephemeral(&self, _: &str, _: Value, _: ClientCapabilities) -> OpenEphemeralResponse {
        panic!("not asked for")
    }
    async fn renew_ephemeral(&self, _: &str, _: Vec<u8>) -> RenewEphemeralResponse {
        panic!("not asked for")
    }
    async fn close_ephemeral(&self, _: &str, _: Vec<u8>) -> ProviderDiagnostics {
        Vec::new()
    }
    async fn call_function(&self, _: &str, _: Vec<Value>) -> Result<Value, FunctionError> {
        panic!("not asked for")
    }
    async fn stop(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The schemas of the provider: the same value for all verbs.
pub fn schemas() -> Arc<dyn ProviderSchemas> {
    static SCHEMAS: LazyLock<Arc<StaticSchemas>> = LazyLock::new(|| {
        Arc::new(StaticSchemas {
            managed: BTreeMap::from([("test_thing".into(), SCHEMA.clone())]),
            ..StaticSchemas::default()
        })
    });
    SCHEMAS.clone()
}

pub struct Plugins(pub Arc<World>);

#[async_trait]
impl Providers for Plugins {
    async fn schemas(&self, _: &addr::Provider) -> Result<Arc<dyn ProviderSchemas>, Diagnostics> {
        Ok(schemas())
    }
    async fn unconfigured(&self, _: &addr::Provider) -> Result<Arc<dyn Provider>, Diagnostics> {
        Ok(Arc::new(Things(self.0.clone())))
    }
    async fn configured(
        &self,
        _: &AbsProviderConfig,
        _: Value,
        _: Configuring,
    ) -> Result<(Arc<dyn Provider>, ProviderDiagnostics), Diagnostics> {
        Ok((Arc::new(Things(self.0.clone())), Vec::new()))
    }
    async fn provisioner(&self, _: &str) -> Result<Arc<dyn Provisioner>, Diagnostics> {
        panic!("not asked for")
    }
    async fn stop(&self) {}
}

/// A machine whose clock stands still.
pub struct Machine(pub Arc<World>);

#[async_trait]
impl Host for Machine {
    fn files(&self) -> &dyn Files {
        &self.0.files
    }
    fn now(&self) -> Moment {
        Moment::from_seconds(1_000_000_000)
    }
    async fn wait_until(&self, _: Moment) {
        std::future::pending().await
    }
    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
    fn original_working_dir(&self) -> String {
        "/work".into()
    }
    fn working_dir(&self) -> PathBuf {
        "/work".into()
    }
    fn home_dir(&self) -> Option<PathBuf> {
        None
    }
    fn workspace(&self) -> String {
        "default".into()
    }
}
