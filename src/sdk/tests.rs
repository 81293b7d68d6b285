//! A provider with one resource, driven through the interface that hosts use.

use std::collections::BTreeMap;
use std::sync::Arc;

use terrane_protocol::provider::{
    ApplyRequest, ClientCapabilities, PlanRequest, PlanResponse, RawState, ReadRequest, UpgradeRequest, has_errors,
    no_provider_meta,
};

use crate::{
    Context, Creation, Error, Field, Import, Model, Path, Plan, Provider, Resource, Schema, Set, Stored, Type, Types,
    Update, Validation, Value, Values, keep, server, validate_implementation,
};

/// A server for tests.
#[derive(Model)]
#[allow(dead_code)]
struct Config {
    /// Its address.
    #[attribute(required)]
    address: String,
}

#[derive(Model)]
struct Rule {
    #[attribute(required)]
    port: i64,
    #[attribute(computed, modifiers(keep()))]
    id: Field<String>,
    #[attribute(default = "tcp")]
    protocol: String,
}

/// A machine.
#[derive(Model)]
struct Machine {
    #[attribute(computed, keep)]
    id: Field<String>,
    /// What it is called.
    #[attribute(required, replace)]
    name: String,
    #[attribute(default = 1)]
    size: i64,
    #[attribute(computed)]
    address: Field<String>,
    #[attribute(optional)]
    tags: Option<BTreeMap<String, String>>,
    #[attribute(optional, write_only)]
    password: Option<String>,
    #[block]
    rule: Set<Rule>,
}

struct Machines;

impl Resource for Machines {
    type Data = String;
    type Model = Machine;

    fn schema(&self) -> Schema {
        Schema::of::<Machine>().version(2)
    }

    fn validate(&self, validation: &mut Validation<'_, Machine>) {
        if let Ok(Field::Known(0)) = validation.config.get(Machine::SIZE) {
            validation.error(Machine::SIZE.path(), "Invalid size", "A machine has at least one processor.");
        }
    }

    async fn plan(&self, _: &mut Context<String>, plan: &mut Plan<Machine>) -> Result<(), Error> {
        if plan.planned.get(Machine::NAME)? == Field::Known("known".to_owned()) {
            plan.planned.set(Machine::ADDRESS, Field::known("10.0.0.1"));
        }
        Ok(())
    }

    async fn create(&self, context: &mut Context<String>, creation: &mut Creation<Machine>) -> Result<Machine, Error> {
        let password = creation.config.get(Machine::PASSWORD)?;
        context.private().set("password_length", password.value().map_or(0, String::len).to_string())?;
        let mut machine = creation.planned.model()?;
        machine.id = Field::known(format!("{}/{}", context.data()?, machine.name));
        machine.address = Field::known("10.0.0.1");
        for (index, rule) in machine.rule.0.iter_mut().enumerate() {
            rule.id = Field::known(index.to_string());
        }
        if machine.name == "broken" {
            creation.store(machine);
            return Err(Error::new("Machine failed", "It does not start.").at(Machine::NAME.path()));
        }
        if machine.name == "slow" {
            context.stopping().await;
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
        }
        assert_ne!(machine.name, "panic", "no such machine");
        Ok(machine)
    }

    async fn update(&self, context: &mut Context<String>, update: &mut Update<Machine>) -> Result<Machine, Error> {
        context.warn("Restart", "The machine restarts.");
        let mut machine = update.planned.model()?;
        machine.address = Field::known("10.0.0.2");
        Ok(machine)
    }

    async fn read(&self, _: &mut Context<String>, state: Machine) -> Result<Option<Machine>, Error> {
        Ok((state.name != "gone").then_some(state))
    }

    async fn import(&self, _: &mut Context<String>, import: Import) -> Result<Machine, Error> {
        Ok(Machine {
            id: Field::known(import.id()?),
            name: import.id()?.to_owned(),
            size: 1,
            address: Field::Null,
            tags: None,
            password: None,
            rule: Set(Vec::new()),
        })
    }

    async fn upgrade(&self, context: &mut Context<String>, stored: Stored) -> Result<Machine, Error> {
        assert_eq!(stored.version, 1);
        let object = stored.object()?;
        let name = object.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.import(context, Import::Id(name)).await
    }
}

struct Cloud;

impl Provider for Cloud {
    type Config = Config;
    type Data = String;

    async fn configure(&self, _: &mut Context<()>, config: Values<Config>) -> Result<String, Error> {
        Ok(config.model()?.address)
    }

    fn types(&self, types: &mut Types<String>) {
        types.resource("cloud_machine", Machines);
    }
}

/// A configured provider.
async fn cloud() -> Arc<dyn terrane_protocol::provider::Provider> {
    let provider = server(Cloud);
    let config = Value::object([("address", Value::string("eu"))]);
    let request = terrane_protocol::provider::ConfigureRequest {
        terraform_version: "1.11.4".to_owned(),
        config,
        client: ClientCapabilities::default(),
    };
    assert_eq!(provider.configure(request).await, []);
    provider
}

fn ty() -> Type {
    Machine::block().ty()
}

fn rule(port: i64, id: Value, protocol: Value) -> Value {
    Value::object([("port", Value::int(port)), ("id", id), ("protocol", protocol)])
}

fn text(text: &str) -> Value {
    Value::string(text)
}

/// A configuration with one rule.
fn config(name: &str) -> Value {
    let null = || Value::null(Type::String);
    let rule = rule(80, null(), null());
    Value::object([
        ("id", null()),
        ("name", text(name)),
        ("size", Value::null(Type::Number)),
        ("address", null()),
        ("tags", Value::null(Type::map(Type::String))),
        ("password", text("secret")),
        ("rule", Value::set(rule.ty().clone(), vec![rule])),
    ])
}

fn with(object: &Value, name: &str, value: Value) -> Value {
    crate::Object(object.clone()).with([(name, value)]).0
}

async fn plan(provider: &dyn terrane_protocol::provider::Provider, prior: &Value, config: &Value) -> PlanResponse {
    // What a host proposes: configured values, else prior ones.
    let mut proposed = config.clone();
    for (name, value) in prior.entries() {
        let configured = config.get(name).is_some_and(|value| !value.is_null());
        if !configured || &**name == "rule" {
            proposed = with(&proposed, name, value.clone());
        }
    }
    let request = PlanRequest {
        kind: "cloud_machine".into(),
        prior: prior.clone(),
        proposed,
        config: config.clone(),
        prior_private: Arc::from([]),
        provider_meta: no_provider_meta(),
        client: ClientCapabilities::of_engine(false),
        prior_identity: None,
        planned_private: Arc::from([]),
    };
    provider.plan_resource_change(request).await
}

async fn apply(
    provider: &dyn terrane_protocol::provider::Provider,
    prior: Value,
    planned: Value,
    config: Value,
) -> terrane_protocol::provider::ApplyResponse {
    let request = ApplyRequest {
        kind: "cloud_machine".into(),
        prior,
        planned,
        config,
        planned_private: Arc::from([]),
        provider_meta: no_provider_meta(),
        planned_identity: None,
    };
    provider.apply_resource_change(request).await
}

async fn created(provider: &dyn terrane_protocol::provider::Provider) -> Value {
    let config = config("one");
    let planned = plan(provider, &Value::null(ty()), &config).await.planned;
    apply(provider, Value::null(ty()), planned, config).await.new_state
}

#[test]
fn the_implementation_is_valid() {
    validate_implementation(Cloud).unwrap();
}

#[tokio::test]
async fn a_creation_plans_defaults_and_unknowns() {
    let provider = cloud().await;
    let planned = plan(&*provider, &Value::null(ty()), &config("one")).await;
    assert_eq!(planned.diagnostics, []);
    let unknown = || Value::unknown(Type::String);
    let rule = rule(80, unknown(), text("tcp"));
    let expected = Value::object([
        ("id", unknown()),
        ("name", text("one")),
        ("size", Value::int(1)),
        ("address", unknown()),
        ("tags", Value::null(Type::map(Type::String))),
        ("password", Value::null(Type::String)),
        ("rule", Value::set(rule.ty().clone(), vec![rule])),
    ]);
    assert_eq!(planned.planned, expected);
    let known = plan(&*provider, &Value::null(ty()), &config("known")).await;
    assert_eq!(known.planned.get("address"), Some(&text("10.0.0.1")));
}

#[tokio::test]
async fn creation_stores_state_and_private_data_without_write_only_values() {
    let provider = cloud().await;
    let config = config("one");
    let planned = plan(&*provider, &Value::null(ty()), &config).await.planned;
    let applied = apply(&*provider, Value::null(ty()), planned, config).await;
    assert_eq!(applied.diagnostics, []);
    assert_eq!(applied.new_state.get("id"), Some(&text("eu/one")));
    assert!(applied.new_state.get("password").unwrap().is_null());
    // {"password_length": base64 of "6"}
    assert_eq!(&*applied.private, br#"{"password_length":"Ng=="}"#);
}

#[tokio::test]
async fn a_plan_without_changes_is_the_prior_state() {
    let provider = cloud().await;
    let state = created(&*provider).await;
    let planned = plan(&*provider, &state, &config("one")).await;
    assert_eq!((planned.planned, planned.requires_replace), (state, vec![]));
}

#[tokio::test]
async fn a_change_makes_computed_values_unknown_but_for_kept_ones() {
    let provider = cloud().await;
    let state = created(&*provider).await;
    let changed = with(&config("one"), "size", Value::int(2));
    let planned = plan(&*provider, &state, &changed).await;
    assert_eq!(planned.planned.get("id"), Some(&text("eu/one")));
    assert!(!planned.planned.get("address").unwrap().is_known());
    let rules = planned.planned.get("rule").unwrap();
    assert_eq!(rules.elements()[0].get("id"), Some(&text("0")), "elements of sets keep values too");
    assert_eq!(planned.requires_replace, []);
    let updated = apply(&*provider, state.clone(), planned.planned, changed).await;
    assert_eq!(updated.new_state.get("address"), Some(&text("10.0.0.2")));
    assert_eq!(updated.diagnostics[0].summary, "Restart");
    let renamed = plan(&*provider, &state, &config("two")).await;
    assert_eq!(renamed.requires_replace, [Path::new().attr("name")]);
}

#[tokio::test]
async fn a_failed_creation_stores_what_was_there() {
    let provider = cloud().await;
    let config = config("broken");
    let planned = plan(&*provider, &Value::null(ty()), &config).await.planned;
    let applied = apply(&*provider, Value::null(ty()), planned, config).await;
    assert_eq!(applied.new_state.get("id"), Some(&text("eu/broken")));
    assert!(applied.new_state.get("password").unwrap().is_null());
    assert_eq!(applied.diagnostics[0].attribute, Some(Path::new().attr("name")));
}

#[tokio::test]
async fn a_panic_is_an_error_and_nothing_is_stored() {
    let provider = cloud().await;
    let config = config("panic");
    let planned = plan(&*provider, &Value::null(ty()), &config).await.planned;
    let applied = apply(&*provider, Value::null(ty()), planned, config).await;
    assert!(applied.new_state.is_null());
    let detail = &applied.diagnostics[0].detail;
    assert!(detail.contains("ApplyResourceChange") && detail.contains("no such machine"), "{detail}");
}

#[tokio::test]
async fn a_creation_that_was_asked_to_stop_may_finish() {
    let provider = cloud().await;
    let config = config("slow");
    let planned = plan(&*provider, &Value::null(ty()), &config).await.planned;
    let (applied, stopped) =
        tokio::join!(apply(&*provider, Value::null(ty()), planned, config), async { provider.stop().await });
    assert_eq!((applied.diagnostics, stopped), (vec![], Ok(())));
    assert_eq!(applied.new_state.get("id"), Some(&text("eu/slow")));
}

#[tokio::test]
async fn validation_reports_all_that_is_wrong() {
    let provider = cloud().await;
    let wrong = with(&with(&config("one"), "size", Value::int(0)), "id", text("own"));
    let found = provider.validate_resource_config("cloud_machine", wrong, ClientCapabilities::of_engine(false)).await;
    let summaries: Vec<&str> = found.iter().map(|d| &*d.summary).collect();
    assert_eq!(summaries, ["Invalid size", "Invalid Configuration for Read-Only Attribute"]);
    assert!(has_errors(
        &provider.validate_resource_config("cloud_disk", config("one"), ClientCapabilities::of_engine(false)).await
    ));
}

#[tokio::test]
async fn objects_are_read_imported_upgraded_and_deleted() {
    let provider = cloud().await;
    let state = created(&*provider).await;
    let read = |current: Value| {
        provider.read_resource(ReadRequest {
            kind: "cloud_machine".into(),
            current,
            private: Arc::from([]),
            provider_meta: no_provider_meta(),
            client: ClientCapabilities::default(),
            current_identity: None,
        })
    };
    assert_eq!(read(state.clone()).await.new_state, state);
    assert!(read(with(&state, "name", text("gone"))).await.new_state.is_null());
    let imported = provider.import_resource_state("cloud_machine", "two", ClientCapabilities::default()).await;
    assert_eq!(imported.objects[0].state.get("name"), Some(&text("two")));
    let raw = RawState::Json(br#"{"name":"old","cpu":2}"#.as_slice().into());
    let upgraded = provider.upgrade_resource_state(UpgradeRequest { kind: "cloud_machine".into(), version: 1, raw });
    let (upgraded, diagnostics) = upgraded.await;
    assert_eq!((upgraded.get("name"), diagnostics), (Some(&text("old")), vec![]));
    let deleted = apply(&*provider, state, Value::null(ty()), Value::null(ty())).await;
    assert!(deleted.new_state.is_null() && deleted.diagnostics.is_empty());
}
