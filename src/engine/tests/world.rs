//! The world that the tests run in.

mod facts;
mod machine;

use std::collections::BTreeMap;
use std::path::Path as FilePath;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use base::diag::Diagnostics;
use base::dialect::Dialect;
use base::files::{Files, Memory, WrittenIn};
use facts::Known;
use machine::Machine;
use model::addr::{self, AbsProviderConfig, AbsResourceInstance, Target};
use model::config::policy_file::PolicySet;
use model::config::{Config, ModuleRequest, ModuleSite, NoInputs, load};
use model::plan::{Mode, Plan, PlanScope, Refresh};
use model::state::journal::ActionPhase;
use model::state::{CheckResult, DeposedKey, Instance, OutputValue, State};
use terrane_protocol::provider::*;
use terrane_protocol::schema::{Attribute, Block, ProviderSchemas, Schema};
use terrane_value::{Path, Type, Value, json};
use tokio::sync::watch;

use super::acts::{invoke, plan_act};
use super::note::Note;
use super::schedule::{Schedule, StateRecord};
use crate::event::Event;
use crate::ports::{Configuring, Observer, Ports, Providers, StateSink};
use crate::{ApplyInput, Facts, GivenVariables, ImportInput, PlanInput, ValidateInput};

/// The provider `test` with the resource `test_thing`, the data source `test_thing` and the provisioner `note`.
pub struct World {
    pub log: Arc<Mutex<Vec<String>>>,
    /// IDs of objects that do not exist outside any more; all other objects of the state exist.
    pub gone: Arc<Mutex<Vec<String>>>,
    /// Names whose creation fails.
    pub failing: Arc<Mutex<Vec<String>>>,
    /// Names whose planning or change panics.
    pub panicking: Arc<Mutex<Vec<String>>>,
    pub known: Known,
    /// What functions read.
    pub files: Arc<Memory>,
    /// Where calls of the world pause, and where the run is interrupted.
    pub schedule: Schedule,
    /// Calls of the sink that fail, such as `started test_thing.a`; with any, calls of the sink are in the log.
    pub sink: Mutex<Option<String>>,
    /// What was recorded of the state.
    pub record: Mutex<StateRecord>,
    /// The objects that were created and not destroyed: their names by id.
    pub objects: Mutex<BTreeMap<String, String>>,
    /// The request that hangs, by its name in the plugin protocol, and the seconds until it is answered.
    pub hanging: Mutex<Option<(&'static str, i64)>>,
    /// The pending requests that were reported.
    pub pending: Mutex<Vec<String>>,
    clock: watch::Sender<i64>,
    counter: AtomicU64,
}

/// Seconds since the epoch when a world begins.
const BEGIN: i64 = 1_000_000_000;

pub fn thing_schema() -> Schema {
    let optional = |ty| Attribute { optional: true, ..Attribute::new(ty) };
    let computed = |ty| Attribute { computed: true, ..Attribute::new(ty) };
    let attributes = [
        ("id", computed(Type::String)),
        ("name", optional(Type::String)),
        ("input", optional(Type::Dynamic)),
        ("force", optional(Type::String)),
        ("secret", Attribute { sensitive: true, ..optional(Type::String) }),
        ("output", computed(Type::String)),
        ("former", Attribute { deprecated: true, ..optional(Type::String) }),
        // May be written as blocks.
        ("part", optional(Type::list(Type::object([("v", Type::String)])))),
    ];
    let attributes = attributes.into_iter().map(|(n, a)| (Arc::from(n), a)).collect();
    Schema::new(0, Block { attributes, ..Block::default() })
}

impl World {
    pub fn new() -> Arc<World> {
        World::scheduled(Schedule::default())
    }

    pub fn scheduled(schedule: Schedule) -> Arc<World> {
        Arc::new(World {
            log: Arc::default(),
            gone: Arc::default(),
            failing: Arc::default(),
            panicking: Arc::default(),
            schedule,
            sink: Mutex::default(),
            record: Mutex::default(),
            objects: Mutex::default(),
            known: Known::new(),
            files: Arc::new(Memory::new()),
            hanging: Mutex::default(),
            pending: Mutex::default(),
            clock: watch::Sender::new(BEGIN),
            counter: AtomicU64::new(1),
        })
    }

    pub(super) fn say(&self, line: String) {
        self.log.lock().unwrap().push(line);
    }

    /// What happened since the last question.
    pub fn took(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }

    pub fn fail(&self, names: &[&str]) {
        *self.failing.lock().unwrap() = names.iter().map(|n| n.to_string()).collect();
    }

    pub fn ports(self: &Arc<World>) -> Ports {
        Ports {
            providers: Arc::new(Plugins(self.clone())),
            observer: Arc::new(Ears(self.clone())),
            sink: Arc::new(Sink(self.clone())),
            host: Arc::new(Machine(self.clone())),
            stop: self.schedule.stop.clone(),
            doubles: Arc::default(),
            coverage: None,
            turns: None,
        }
    }

    /// Ids go on from there.
    pub fn skip_ids(&self, next: u64) {
        self.counter.store(next, Ordering::Relaxed);
    }

    pub fn panic(&self, names: &[&str]) {
        *self.panicking.lock().unwrap() = names.iter().map(|n| n.to_string()).collect();
    }

    pub(super) fn panic_if_asked(&self, name: &str) {
        let asked = self.panicking.lock().unwrap().iter().any(|n| n == name);
        assert!(!asked, "{name} is broken");
    }

    fn hangs_until(&self) -> i64 {
        self.hanging.lock().unwrap().map_or(BEGIN, |(_, seconds)| BEGIN + seconds)
    }

    async fn hang_if_asked(&self, request: &str) {
        if self.hanging.lock().unwrap().is_some_and(|(hanging, _)| hanging == request) {
            let until = self.hangs_until();
            self.clock.subscribe().wait_for(|now| *now >= until).await.unwrap();
        }
    }

    pub(super) fn is_failing(&self, name: &str) -> bool {
        self.failing.lock().unwrap().iter().any(|n| n == name)
    }
}

struct Ears(Arc<World>);
impl Observer for Ears {
    fn event(&self, event: Event) {
        if let Event::RequestPending { subject, provider, request, elapsed, stopping } = event {
            let stopping = if stopping { " stopping" } else { "" };
            let line = format!("{subject} {} {request} {}{stopping}", provider.for_display(), elapsed.as_secs());
            self.0.pending.lock().unwrap().push(line);
        }
    }
}

struct Sink(Arc<World>);

impl Sink {
    fn told(&self, call: String) -> Result<(), Diagnostics> {
        let failing = self.0.sink.lock().unwrap().clone();
        let fails = failing.as_ref() == Some(&call);
        if failing.is_some() {
            self.0.say(call.clone());
        }
        if fails { Err(base::diag::Diagnostic::error("not recorded", call).into()) } else { Ok(()) }
    }
}

#[async_trait]
impl StateSink for Sink {
    async fn begin(&self, state: &State) -> Result<(), Diagnostics> {
        self.0.record.lock().unwrap().begin(state);
        self.told("begin".into())
    }
    async fn started(&self, addr: &AbsResourceInstance, deposed: Option<&DeposedKey>) -> Result<(), Diagnostics> {
        self.0.record.lock().unwrap().started(addr, deposed);
        self.0.schedule.point().await;
        self.told(format!("started {addr}"))
    }
    async fn finished(
        &self,
        addr: &AbsResourceInstance,
        provider: &AbsProviderConfig,
        instance: &Instance,
    ) -> Result<(), Diagnostics> {
        self.0.record.lock().unwrap().finished(addr, provider, instance);
        self.0.schedule.point().await;
        self.told(format!("finished {addr}"))
    }
    async fn actions(
        &self,
        caller: &AbsResourceInstance,
        actions: &[String],
        phase: ActionPhase,
    ) -> Result<(), Diagnostics> {
        self.0.record.lock().unwrap().actions(caller, actions, phase);
        self.0.schedule.point().await;
        self.told(format!("{phase:?} {}", actions.join(" ")))
    }
    async fn output(&self, name: &str, value: Option<&OutputValue>) -> Result<(), Diagnostics> {
        self.0.record.lock().unwrap().output(name, value);
        self.0.schedule.point().await;
        self.told(format!("output {name}"))
    }
    fn checks(&self, _: Option<&[CheckResult]>) {}
}

struct Plugins(Arc<World>);
#[async_trait]
impl Providers for Plugins {
    async fn schemas(&self, _: &addr::Provider) -> Result<Arc<dyn ProviderSchemas>, Diagnostics> {
        self.0.hang_if_asked("GetProviderSchema").await;
        Ok(self.0.known.schemas())
    }
    async fn unconfigured(&self, _: &addr::Provider) -> Result<Arc<dyn Provider>, Diagnostics> {
        Ok(Arc::new(Things(self.0.clone())))
    }
    async fn configured(
        &self,
        addr: &AbsProviderConfig,
        config: Value,
        _: Configuring,
    ) -> Result<(Arc<dyn Provider>, ProviderDiagnostics), Diagnostics> {
        self.0.hang_if_asked("ConfigureProvider").await;
        let region = match config.get("region") {
            Some(region) if !region.is_known() => "unknown".to_string(),
            region => region.and_then(Value::as_str).unwrap_or("none").to_string(),
        };
        let key = addr.key.as_ref().map_or_else(String::new, |key| format!("[{key}]"));
        self.0.say(format!(
            "configure {}{region}",
            addr.alias.as_ref().map_or_else(String::new, |a| format!("{a}{key} "))
        ));
        Ok((Arc::new(Things(self.0.clone())), Vec::new()))
    }
    async fn provisioner(&self, _: &str) -> Result<Arc<dyn Provisioner>, Diagnostics> {
        Ok(Arc::new(Note(self.0.clone())))
    }
    async fn stop(&self) {
        self.0.say("stop".into());
    }
}

struct Things(Arc<World>);

fn name(value: &Value) -> String {
    value.get("name").and_then(Value::as_str).unwrap_or("").to_string()
}

fn with(value: &Value, name: &str, part: Value) -> Value {
    let mut entries = value.entries().to_map();
    entries.insert(name.into(), part);
    Value::object(entries)
}

#[async_trait]
impl Provider for Things {
    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics> {
        Err(Vec::new())
    }
    async fn validate_provider_config(&self, config: Value) -> (Value, ProviderDiagnostics) {
        self.0.hang_if_asked("ValidateProviderConfig").await;
        (config, Vec::new())
    }
    async fn validate_resource_config(&self, _: &str, _: Value, _: ClientCapabilities) -> ProviderDiagnostics {
        self.0.hang_if_asked("ValidateResourceConfig").await;
        Vec::new()
    }
    async fn validate_data_config(&self, _: &str, _: Value) -> ProviderDiagnostics {
        Vec::new()
    }
    async fn configure(&self, _: ConfigureRequest) -> ProviderDiagnostics {
        Vec::new()
    }
    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> (Value, ProviderDiagnostics) {
        self.0.hang_if_asked("UpgradeResourceState").await;
        let RawState::Json(text) = request.raw else { panic!("flat state") };
        (json::from_json(&text, thing_schema().implied_type()).unwrap(), Vec::new())
    }
    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        self.0.hang_if_asked("ReadResource").await;
        self.0.schedule.point().await;
        let id = request.current.get("id").and_then(Value::as_str).unwrap_or("").to_string();
        let is_gone = self.0.gone.lock().unwrap().contains(&id);
        let new_state = if is_gone { Value::null(request.current.ty().clone()) } else { request.current };
        ReadResponse { new_state, deferred: None, identity: None, private: request.private, diagnostics: Vec::new() }
    }
    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        self.0.hang_if_asked("PlanResourceChange").await;
        self.0.schedule.point().await;
        self.0.panic_if_asked(&format!("plan {}", name(&request.proposed)));
        let mut planned = request.proposed.clone();
        let mut requires_replace = Vec::new();
        if !planned.is_null() {
            let changed = request.prior.is_null() || name(&request.prior) != name(&planned);
            if request.prior.is_null() {
                planned = with(&planned, "id", Value::unknown(Type::String));
            }
            if changed {
                planned = with(&planned, "output", Value::unknown(Type::String));
            }
            if !request.prior.is_null() && request.prior.get("force") != planned.get("force") {
                requires_replace.push(Path::new().attr("force"));
            }
        }
        PlanResponse {
            planned,
            identity: None,
            deferred: deferral(&request.config, request.client, DeferralReason::ResourceConfigUnknown),
            requires_replace,
            private: request.prior_private,
            legacy_type_system: false,
            diagnostics: Vec::new(),
        }
    }
    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse {
        self.0.hang_if_asked("ApplyResourceChange").await;
        let world = &self.0;
        let (verb, called) = match (request.prior.is_null(), request.planned.is_null()) {
            (true, _) => ("create", name(&request.planned)),
            (_, true) => ("destroy", name(&request.prior)),
            _ => ("update", name(&request.planned)),
        };
        world.schedule.point().await;
        world.panic_if_asked(&format!("{verb} {called}"));
        let mut diagnostics = Vec::new();
        let mut new_state = request.planned.clone();
        if world.is_failing(&called) {
            diagnostics.push(ProviderDiagnostic::error(format!("{verb} failed"), called.clone()));
            new_state = request.prior.clone();
            world.say(format!("fail {verb} {called}"));
        } else {
            world.say(format!("{verb} {called}"));
            if let Some(id) = request.prior.get("id").and_then(Value::as_str) {
                world.objects.lock().unwrap().remove(id);
            }
            if !new_state.is_null() {
                if !new_state.get("id").is_some_and(Value::is_known) {
                    let id = world.counter.fetch_add(1, Ordering::Relaxed);
                    new_state = with(&new_state, "id", Value::string(format!("id-{id}")));
                }
                new_state = with(&new_state, "output", Value::string(format!("out-{called}")));
                let id = new_state.get("id").and_then(Value::as_str).unwrap_or("").to_string();
                world.objects.lock().unwrap().insert(id, called.clone());
            }
        }
        // The object is as it is now, but the answer takes its time.
        world.schedule.point().await;
        ApplyResponse { new_state, identity: None, private: Arc::from([]), legacy_type_system: false, diagnostics }
    }
    /// Finds nothing, unless the id lists what there is: a `+` between names, with `TYPE:` before one of another type.
    async fn import_resource_state(&self, kind: &str, id: &str, _: ClientCapabilities) -> ImportResponse {
        let id = id.strip_prefix("objects ").unwrap_or_default();
        self.0.say(format!("import {id}"));
        if self.0.is_failing(id) {
            return ImportResponse::failed(vec![ProviderDiagnostic::error("import failed", id)]);
        }
        let entries = thing_schema().block.attributes.into_iter().map(|(n, a)| (n, Value::null(a.implied_type())));
        let nothing = Value::object(entries);
        let object = |part: &str| {
            let (kind, name) = part.split_once(':').unwrap_or((kind, part));
            let state = with(&with(&nothing, "id", Value::string(name)), "name", Value::string(name));
            let private = Arc::from(part.as_bytes());
            ImportedObject { kind: kind.into(), state, identity: None, private }
        };
        ImportResponse::objects(id.split('+').filter(|part| !part.is_empty()).map(object).collect())
    }
    async fn identity_schema(&self, _: &str) -> Result<Option<IdentitySchema>, ProviderDiagnostics> {
        let (name, place) = (IdentityAttribute::required(Type::String), IdentityAttribute::optional(Type::String));
        let attributes = [(Arc::from("name"), name), (Arc::from("place"), place)];
        Ok(Some(IdentitySchema { version: 0, attributes: attributes.into() }))
    }
    async fn import_by_identity(&self, kind: &str, identity: Value, _: ClientCapabilities) -> ImportResponse {
        let nothing = Value::null(thing_schema().implied_type().clone());
        let entries =
            thing_schema().block.attributes.into_iter().map(|(name, a)| (name, Value::null(a.implied_type())));
        let state = with(&Value::object(entries), "name", Value::string(name(&identity)));
        let state = if name(&identity) == "nothing" { nothing } else { with(&state, "id", Value::string("found")) };
        let json = format!("{{\"name\":{:?},\"place\":null}}", name(&identity)).into();
        let identity = Some(Identity { schema_version: 0, json });
        ImportResponse::objects(vec![ImportedObject { kind: kind.into(), state, identity, private: Arc::from([]) }])
    }
    async fn move_resource_state(&self, _: MoveRequest) -> MoveResponse {
        panic!("not asked for")
    }
    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        self.0.schedule.point().await;
        self.0.say(format!("read {}", name(&request.config)));
        self.0.hang_if_asked("ReadDataSource").await;
        let value = with(&request.config, "id", Value::string("data"));
        let output = Value::string(format!("read-{}", name(&value)));
        let deferred = deferral(&request.config, request.client, DeferralReason::AbsentPrereq);
        ReadDataResponse { deferred, ..ReadDataResponse::new(with(&value, "output", output), Vec::new()) }
    }
    async fn validate_ephemeral_config(&self, _: &str, _: Value) -> ProviderDiagnostics {
        Vec::new()
    }
    /// Due twice at once, then later. The private data counts the renewals.
    async fn open_ephemeral(&self, _: &str, config: Value, _: ClientCapabilities) -> OpenEphemeralResponse {
        self.0.say(format!("open {}", name(&config)));
        let value = with(&config, "id", Value::string("opened"));
        OpenEphemeralResponse {
            result: with(&value, "output", Value::string("secret")),
            deferred: None,
            private: vec![0],
            renew_at: Some((1_000_000_000, 0)),
            diagnostics: Vec::new(),
        }
    }
    async fn renew_ephemeral(&self, _: &str, private: Vec<u8>) -> RenewEphemeralResponse {
        self.0.panic_if_asked("renew");
        let times = private[0] + 1;
        self.0.say(format!("renew {times}"));
        let is_failing = self.0.is_failing(&format!("renew {times}"));
        let failed = is_failing.then(|| ProviderDiagnostic::error("renewal failed", "The lease is gone."));
        let renew_at = Some((if times < 2 { 1_000_000_000 } else { 2_000_000_000 }, 0));
        RenewEphemeralResponse { private: vec![times], renew_at, diagnostics: failed.into_iter().collect() }
    }
    async fn close_ephemeral(&self, _: &str, private: Vec<u8>) -> ProviderDiagnostics {
        self.0.say(format!("close {}", private[0]));
        Vec::new()
    }
    /// `read`: the text of a file, as a provider would that has its answers from elsewhere.
    async fn call_function(&self, _: &str, args: Vec<Value>) -> Result<Value, FunctionError> {
        let content = self.0.files.read(FilePath::new(args[0].as_str().unwrap())).unwrap();
        Ok(Value::string(String::from_utf8(content).unwrap()))
    }
    async fn validate_action_config(&self, _: &str, _: Value) -> ProviderDiagnostics {
        Vec::new()
    }
    async fn plan_action(&self, request: PlanActionRequest) -> PlanActionResponse {
        plan_act(&self.0, &request)
    }
    async fn invoke_action(&self, request: InvokeActionRequest) -> ProviderDiagnostics {
        invoke(&self.0, &request).await
    }
    async fn stop(&self) -> Result<(), String> {
        Ok(())
    }
}

pub fn targets(of: &[&str]) -> Vec<Target> {
    of.iter().map(|text| addr::parse::parse_target(text).unwrap()).collect()
}

/// A configuration from files by name; modules are folders beside.
pub fn config(files: &[(&str, &str)]) -> Arc<Config> {
    config_in(Dialect::default(), files)
}

/// As [`config`], in a dialect.
pub fn config_in(dialect: Dialect, files: &[(&str, &str)]) -> Arc<Config> {
    let (config, diagnostics) = read_config_in(dialect, files);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    Arc::new(config.unwrap())
}

/// A configuration, and what is wrong with it before anything is evaluated.
pub fn read_config(files: &[(&str, &str)]) -> (Option<Config>, Diagnostics) {
    read_config_in(Dialect::default(), files)
}

fn read_config_in(dialect: Dialect, files: &[(&str, &str)]) -> (Option<Config>, Diagnostics) {
    let memory = Memory::of(files.iter().copied());
    let resolver = |request: &ModuleRequest<'_>| {
        Ok(ModuleSite {
            dir: request.parent_dir.join(request.call.source.trim_start_matches("./")),
            version: None,
            unreadable: None,
        })
    };
    load(FilePath::new(""), &WrittenIn(dialect, memory), &resolver, Arc::new(NoInputs))
}

pub fn texts(diagnostics: &Diagnostics) -> Vec<String> {
    diagnostics.iter().map(|d| format!("{}: {}", d.summary, d.detail)).collect()
}

#[derive(Default)]
pub struct Options {
    pub mode: Mode,
    pub targets: Vec<Target>,
    pub replace: Vec<AbsResourceInstance>,
    pub no_refresh: bool,
    pub invoke: Vec<addr::AbsActionInstance>,
    pub deferral: bool,
    pub excludes: Vec<Target>,
    pub policies: Arc<PolicySet>,
}

/// What the provider answers to a plan or a read of an object with the name "defer".
fn deferral(config: &Value, client: ClientCapabilities, reason: DeferralReason) -> Option<DeferralReason> {
    (!config.is_null() && name(config) == "defer" && client.deferral_allowed).then_some(reason)
}

/// How many steps may run at once, where the schedule does not say.
pub const PARALLELISM: usize = 10;

pub async fn validate(world: &Arc<World>, config: &Arc<Config>) -> Diagnostics {
    crate::validate(ValidateInput { facts: world.known.facts(config), parallelism: PARALLELISM }, &world.ports()).await
}

pub async fn plan(
    world: &Arc<World>,
    config: &Arc<Config>,
    state: &State,
    options: Options,
) -> (Option<Plan>, Diagnostics) {
    let input = PlanInput {
        facts: world.known.facts(config),
        state: state.clone(),
        variables: GivenVariables::new(),
        scope: PlanScope {
            mode: options.mode,
            targets: options.targets,
            force_replace: options.replace,
            excludes: options.excludes,
            deferral_allowed: options.deferral,
            requested_actions: options.invoke,
            refresh: if options.no_refresh { Refresh::Never } else { Refresh::All },
            generate_config: false,
            policies: options.policies,
            parallelism: world.schedule.parallelism,
        },
    };
    crate::plan(input, &world.ports()).await
}

/// Plans without errors, and applies; the log is that of the apply.
pub async fn apply_as(world: &Arc<World>, config: &Arc<Config>, state: &State, mode: Mode) -> (State, Diagnostics) {
    let (planned, diagnostics) = plan(world, config, state, Options { mode, ..Options::default() }).await;
    assert!(!diagnostics.has_errors(), "{:?}", texts(&diagnostics));
    world.took();
    apply_plan(world, config, planned.unwrap()).await
}

pub async fn apply_plan(world: &Arc<World>, config: &Arc<Config>, plan: Plan) -> (State, Diagnostics) {
    let parallelism = world.schedule.parallelism;
    let facts = world.known.facts(config);
    let input = ApplyInput { facts, plan: Arc::new(plan), variables: GivenVariables::new(), parallelism };
    let stored = input.plan.previous_state.clone();
    let (outcome, diagnostics) = crate::apply(input, &world.ports()).await;
    (outcome.state.unwrap_or(stored), diagnostics)
}

/// Imports by the command; `id`: the objects that are found. None with errors.
pub async fn import(
    world: &Arc<World>,
    text: &str,
    state: &State,
    addr: &str,
    id: &str,
) -> (Option<State>, Diagnostics) {
    let input = ImportInput {
        facts: Facts::of(config(&[("main.tf", text)])),
        state: state.clone(),
        variables: GivenVariables::new(),
        addr: addr::parse::parse_abs_instance(addr).unwrap(),
        id: format!("objects {id}").into(),
        parallelism: world.schedule.parallelism,
    };
    crate::import(input, &world.ports()).await
}

pub async fn apply(world: &Arc<World>, text: &str, state: &State) -> (State, Diagnostics) {
    apply_as(world, &config(&[("main.tf", text)]), state, Mode::Normal).await
}

pub fn addresses(state: &State) -> Vec<String> {
    state.instances().map(|(addr, _, _)| addr.to_string()).collect()
}

/// Each action with its address, as `Create a.b`; no-ops left out.
pub fn actions(plan: &Plan) -> Vec<String> {
    let shown = |c: &model::plan::ResourceChange| {
        let deposed = c.deposed.as_ref().map_or("", |_| " (deposed)");
        format!("{:?} {}{deposed}", c.action, c.addr)
    };
    plan.changes.iter().filter(|c| c.action != model::plan::Action::NoOp).map(shown).collect()
}
