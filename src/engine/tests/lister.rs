//! A provider that lists objects, for the tests of queries.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use base::diag::Diagnostics;
use model::addr::{AbsProviderConfig, Provider as Address};
use model::plan::ListPolicies;
use terrane_protocol::provider::*;
use terrane_protocol::schema::{Attribute, Block, Capabilities, ProviderSchemas, Schema, StaticSchemas};
use terrane_value::{Type, Value};

use super::schedule::Schedule;
use super::world::World;
use crate::event::Event;
use crate::ports::{Configuring, Observer, Ports, Providers};

/// The provider `test`: lists of `test_thing` find `total` objects, with the prefix in their names.
pub struct Lister {
    world: Arc<World>,
    pub events: Mutex<Vec<String>>,
    /// Results of policies.
    pub policies: Mutex<Vec<ListPolicies>>,
    /// The provider writes the configuration of objects.
    pub generates: bool,
}

impl Lister {
    pub fn new(schedule: Schedule, generates: bool) -> Arc<Lister> {
        Arc::new(Lister {
            world: World::scheduled(schedule),
            events: Mutex::default(),
            policies: Mutex::default(),
            generates,
        })
    }

    pub fn ports(self: &Arc<Lister>) -> Ports {
        let ports = self.world.ports();
        Ports {
            providers: Arc::new(ListPlugins(self.clone())),
            observer: Arc::new(ListObserver(self.clone())),
            ..ports
        }
    }
}

struct ListObserver(Arc<Lister>);

impl Observer for ListObserver {
    fn event(&self, event: Event) {
        let line = match event {
            Event::ListStarted { addr, sensitive, .. } => format!("start {addr} {}", sensitive.join(" ")),
            Event::ListFinished(results) => format!("end {} {}", results.addr, results.objects.len()),
            Event::Phase(_) => return,
            Event::QueryPolicies(lists) => {
                let mut policies = self.0.policies.lock().expect("no test panics with the lock");
                return policies.extend(lists.iter().cloned());
            }
            other => format!("{other:?}"),
        };
        self.0.events.lock().expect("no test panics with the lock").push(line.trim().to_string());
    }
}

fn block(attributes: &[(&str, Type)]) -> Arc<Schema> {
    let optional = |ty: &Type| Attribute { optional: true, ..Attribute::new(ty.clone()) };
    let attributes = attributes.iter().map(|(name, ty)| (Arc::from(*name), optional(ty))).collect();
    Arc::new(Schema::new(0, Block { attributes, ..Block::default() }))
}

fn schemas(generates: bool) -> StaticSchemas {
    let thing = block(&[("name", Type::String), ("size", Type::Number)]);
    let list = block(&[("prefix", Type::String), ("total", Type::Number), ("fail", Type::String)]);
    StaticSchemas {
        managed: [(Arc::from("test_thing"), thing.clone()), (Arc::from("test_bare"), thing)].into(),
        list_resources: [(Arc::from("test_thing"), list.clone()), (Arc::from("test_bare"), list)].into(),
        capabilities: Capabilities { generate_resource_config: generates, ..Capabilities::default() },
        ..StaticSchemas::default()
    }
}

fn identity() -> IdentitySchema {
    IdentitySchema { version: 3, attributes: [(Arc::from("name"), IdentityAttribute::required(Type::String))].into() }
}

struct ListPlugins(Arc<Lister>);

#[async_trait]
impl Providers for ListPlugins {
    async fn schemas(&self, _: &Address) -> Result<Arc<dyn ProviderSchemas>, Diagnostics> {
        Ok(Arc::new(schemas(self.0.generates)))
    }
    async fn unconfigured(&self, _: &Address) -> Result<Arc<dyn Provider>, Diagnostics> {
        Ok(Arc::new(ListedThings(self.0.clone())))
    }
    async fn configured(
        &self,
        _: &AbsProviderConfig,
        _: Value,
        _: Configuring,
    ) -> Result<(Arc<dyn Provider>, ProviderDiagnostics), Diagnostics> {
        Ok((Arc::new(ListedThings(self.0.clone())), Vec::new()))
    }
    async fn provisioner(&self, _: &str) -> Result<Arc<dyn Provisioner>, Diagnostics> {
        unreachable!("queries run no provisioners")
    }
    async fn stop(&self) {}
}

struct ListedThings(Arc<Lister>);

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[async_trait]
impl Provider for ListedThings {
    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics> {
        Err(Vec::new())
    }
    async fn validate_provider_config(&self, config: Value) -> (Value, ProviderDiagnostics) {
        (config, Vec::new())
    }
    async fn identity_schema(&self, kind: &str) -> Result<Option<IdentitySchema>, ProviderDiagnostics> {
        Ok((kind == "test_thing").then(identity))
    }
    async fn generate_resource_config(&self, _: &str, state: Value) -> (Value, ProviderDiagnostics) {
        let name = Value::string(format!("by provider: {}", text(&state, "name")));
        (Value::object([("name", name), ("size", Value::null(Type::Number))]), Vec::new())
    }
    async fn validate_list_config(&self, request: ValidateListRequest) -> ProviderDiagnostics {
        match text(&request.config, "fail") {
            "validate" => vec![ProviderDiagnostic::error("invalid list", "")],
            _ => Vec::new(),
        }
    }
    async fn list_resources(&self, request: ListRequest, results: &dyn ListSink) -> ProviderDiagnostics {
        let prefix = text(&request.config, "prefix").to_string();
        let fail = text(&request.config, "fail");
        assert!(fail != "panic", "the list is broken");
        let total = request.config.get("total").and_then(Value::as_i64).unwrap_or(2);
        for index in 0..total.min(request.limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(i64::MAX)) {
            self.0.world.schedule.point().await;
            let name = format!("{prefix}{index}");
            let object = Value::object([("name", Value::string(&name)), ("size", Value::int(index))]);
            let diagnostics = match fail {
                "warn" => vec![ProviderDiagnostic::warning("listed with care", name.clone())],
                _ => Vec::new(),
            };
            let json = format!("{{\"name\":{name:?}}}").into();
            let result = ListResult {
                identity: Identity { schema_version: if fail == "version" { 9 } else { 3 }, json },
                display_name: name.to_uppercase(),
                object: request.include_object.then_some(object),
                diagnostics,
            };
            if let ControlFlow::Break(()) = results.add(result).await {
                break;
            }
        }
        match fail {
            "list" => vec![ProviderDiagnostic::error("list failed", "")],
            _ => Vec::new(),
        }
    }
    async fn stop(&self) -> Result<(), String> {
        Ok(())
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
    async fn upgrade_resource_state(&self, _: UpgradeRequest) -> (Value, ProviderDiagnostics) {
        unreachable!("the state is empty")
    }
    async fn read_resource(&self, _: ReadRequest) -> ReadResponse {
        unreachable!("the state is empty")
    }
    async fn plan_resource_change(&self, _: PlanRequest) -> PlanResponse {
        unreachable!("no list refers to a resource")
    }
    async fn apply_resource_change(&self, _: ApplyRequest) -> ApplyResponse {
        unreachable!("queries change nothing")
    }
    async fn import_resource_state(&self, _: &str, _: &str, _: ClientCapabilities) -> ImportResponse {
        unreachable!("queries import nothing")
    }
    async fn move_resource_state(&self, _: MoveRequest) -> MoveResponse {
        unreachable!("the state is empty")
    }
    async fn read_data_source(&self, _: ReadDataRequest) -> ReadDataResponse {
        unreachable!("no list refers to a data source")
    }
    async fn validate_ephemeral_config(&self, _: &str, _: Value) -> ProviderDiagnostics {
        Vec::new()
    }
    async fn open_ephemeral(&self, _: &str, _: Value, _: ClientCapabilities) -> OpenEphemeralResponse {
        unreachable!("no list refers to an ephemeral resource")
    }
    async fn renew_ephemeral(&self, _: &str, _: Vec<u8>) -> RenewEphemeralResponse {
        unreachable!("nothing is open")
    }
    async fn close_ephemeral(&self, _: &str, _: Vec<u8>) -> ProviderDiagnostics {
        unreachable!("nothing is open")
    }
    async fn call_function(&self, _: &str, _: Vec<Value>) -> Result<Value, FunctionError> {
        unreachable!("the provider has no functions")
    }
}
