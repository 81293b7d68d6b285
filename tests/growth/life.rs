//! The life of a configuration in one process: every verb, with everything that people and programs are shown of it.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use backend::kinds::local::{LocalStore, StatePaths};
use backend::{JournaledState, StateAccess, StateSession, load};
use base::diag::Diagnostics;
use base::dialect::Dialect;
use base::files::Memory;
use base::stop::Stop;
use engine::event::Event;
use engine::ports::{Observer, Ports, StateSink};
use engine::{self, ApplyInput, Facts, GivenVariables, PlanInput, ValidateInput};
use model::addr::{AbsProviderConfig, AbsResourceInstance, Provider};
use model::config::{self, ModuleRequest, ModuleSite, NoInputs};
use model::plan::{DEFAULT_PARALLELISM, Mode, Plan, PlanScope, Refresh};
use model::state::journal::ActionPhase;
use model::state::{CheckResult, DeposedKey, Instance, OutputValue, State};
use render::json::plan::{PlanDocument, plan_json};
use render::json::state::state_json;
use render::json::{events, go};
use render::plan_filter::PlanFilter;
use render::text::outputs::outputs_text;
use render::text::plan::{PlanText, plan_text};
use render::text::progress;
use render::text::state::state_text;
use render::text::style::Style;
use terrane_protocol::schema::{ResourceMode, Schema};

use super::measure::{Measured, measure};
use super::provider::{Machine, Plugins, SCHEMA, World, schemas};

/// What a verb cost, by its name.
pub type Costs = Vec<(&'static str, Measured)>;

/// A configuration, its state on the disk, and what was measured.
pub struct Life {
    world: Arc<World>,
    facts: Arc<Facts>,
    folder: tempfile::TempDir,
    pub costs: Costs,
}

fn facts_of(files: &[(String, String)]) -> Arc<Facts> {
    let memory = Memory::of(files.iter().map(|(name, text)| (name, text)));
    let resolver = |request: &ModuleRequest<'_>| {
        let dir = request.parent_dir.join(request.call.source.trim_start_matches("./"));
        Ok(ModuleSite { dir, version: None, unreadable: None })
    };
    let (config, found) = config::load(Path::new(""), &memory, &resolver, Arc::new(NoInputs));
    assert!(!found.has_errors(), "{found:?}");
    Facts::of(Arc::new(config.unwrap()))
}

/// Shows each event to people and to programs.
#[derive(Default)]
struct Shown(Mutex<usize>);

impl Observer for Shown {
    fn event(&self, event: Event) {
        let text = progress::line(&event, &Style::plain()).map_or(0, |line| line.len());
        let json =
            events::event(&event, Dialect::default()).map_or(0, |message| message.line(Dialect::default(), "").len());
        *self.0.lock().unwrap() += text + json;
    }
}

/// Keeps what apply finishes in the journal, as the program does.
struct Sink(JournaledState);

#[async_trait]
impl StateSink for Sink {
    async fn begin(&self, state: &State) -> Result<(), Diagnostics> {
        self.0.begin(state).await
    }
    async fn started(&self, addr: &AbsResourceInstance, deposed: Option<&DeposedKey>) -> Result<(), Diagnostics> {
        self.0.started(addr, deposed).await
    }
    async fn finished(
        &self,
        addr: &AbsResourceInstance,
        provider: &AbsProviderConfig,
        instance: &Instance,
    ) -> Result<(), Diagnostics> {
        self.0.finished(addr, provider, instance).await
    }
    async fn actions(
        &self,
        caller: &AbsResourceInstance,
        actions: &[String],
        phase: ActionPhase,
    ) -> Result<(), Diagnostics> {
        self.0.actions(caller, actions, phase).await
    }
    async fn output(&self, name: &str, value: Option<&OutputValue>) -> Result<(), Diagnostics> {
        self.0.output(name, value).await
    }
    fn checks(&self, checks: Option<&[CheckResult]>) {
        self.0.checks(checks);
    }
}

/// For plans, which record nothing.
struct NoSink;

#[async_trait]
impl StateSink for NoSink {
    async fn begin(&self, _: &State) -> Result<(), Diagnostics> {
        Ok(())
    }
    async fn started(&self, _: &AbsResourceInstance, _: Option<&DeposedKey>) -> Result<(), Diagnostics> {
        Ok(())
    }
    async fn finished(&self, _: &AbsResourceInstance, _: &AbsProviderConfig, _: &Instance) -> Result<(), Diagnostics> {
        Ok(())
    }
    async fn actions(&self, _: &AbsResourceInstance, _: &[String], _: ActionPhase) -> Result<(), Diagnostics> {
        Ok(())
    }
    async fn output(&self, _: &str, _: Option<&OutputValue>) -> Result<(), Diagnostics> {
        Ok(())
    }
    fn checks(&self, _: Option<&[CheckResult]>) {}
}

fn schema(_: &Provider, mode: ResourceMode, _: &str) -> Option<Arc<Schema>> {
    (mode == ResourceMode::Managed).then(|| SCHEMA.clone())
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

impl Life {
    pub fn new(files: &[(String, String)]) -> Life {
        let folder = tempfile::tempdir().unwrap();
        Life { world: Arc::default(), facts: facts_of(files), folder, costs: Costs::new() }
    }

    /// Edits the configuration.
    pub fn edit(&mut self, files: &[(String, String)]) {
        self.facts = facts_of(files);
    }

    /// Whether objects are found changed from now on.
    pub fn drift(&self, is_drifted: bool) {
        self.world.is_drifted.store(is_drifted, Ordering::Relaxed);
    }

    fn store(&self) -> Arc<StateSession> {
        let path = self.folder.path().join("terraform.tfstate");
        let store = LocalStore::new(StatePaths { read: path.clone(), write: path, backup: None });
        Arc::new(StateSession::new(Arc::new(store), None))
    }

    fn ports(&self, sink: Arc<dyn StateSink>) -> Ports {
        Ports {
            providers: Arc::new(Plugins(self.world.clone())),
            observer: Arc::new(Shown::default()),
            sink,
            host: Arc::new(Machine(self.world.clone())),
            stop: Stop::new(),
            doubles: Arc::default(),
            coverage: None,
            turns: None,
        }
    }

    fn cost<T>(&mut self, name: &'static str, work: impl FnOnce(&Life) -> T) -> T {
        let (result, measured) = measure(|| work(self));
        self.costs.push((name, measured));
        result
    }

    pub fn validate(&mut self) {
        self.cost("validate", |life| {
            let input = ValidateInput { facts: life.facts.clone(), parallelism: DEFAULT_PARALLELISM };
            let found = block_on(engine::validate(input, &life.ports(Arc::new(NoSink))));
            assert!(!found.has_errors(), "{found:?}");
        });
    }

    /// Plans for the state on the disk, and shows the plan: as text, as the lines of `-json`, and as a JSON document.
    pub fn plan(&mut self, name: &'static str, mode: Mode, refresh: Refresh) -> Arc<Plan> {
        let plan = self.cost(name, |life| {
            block_on(async {
                let loaded = load(&life.store(), StateAccess::Locked).await.unwrap();
                let state = loaded.file.map(|file| file.state).unwrap_or_default();
                let input = PlanInput {
                    facts: life.facts.clone(),
                    state,
                    variables: GivenVariables::new(),
                    scope: PlanScope { mode, refresh, ..PlanScope::default() },
                };
                let (plan, found) = engine::plan(input, &life.ports(Arc::new(NoSink))).await;
                assert!(!found.has_errors(), "{found:?}");
                Arc::new(plan.unwrap())
            })
        });
        self.cost("its text", |_| {
            let (style, filter) = (Style::plain(), PlanFilter::default());
            let text = PlanText {
                plan: &plan,
                schemas: &schema,
                actions: &|_, _| None,
                style: &style,
                in_automation: false,
                filter: &filter,
            };
            assert!(!plan_text(&text).is_empty());
        });
        self.cost("its lines of JSON", |_| {
            plan.drift.iter().for_each(|change| drop(events::drift(change).line(Dialect::default(), "")));
            plan.reported_changes()
                .into_iter()
                .for_each(|change| drop(events::planned_change(change).line(Dialect::default(), "")));
            drop(events::planned_outputs(&plan.outputs).map(|message| message.line(Dialect::default(), "")));
        });
        self.cost("its JSON document", |life| life.write_document(&plan));
        plan
    }

    fn write_document(&self, plan: &Plan) {
        let provider = schemas();
        let document = PlanDocument {
            plan,
            config: self.facts.config(),
            schemas: &schema,
            provider_schemas: &|_| provider.provider().ok(),
            actions: &|_, _| None,
        };
        go::compact(&plan_json(&document).unwrap());
    }

    /// Applies a plan and writes the state.
    pub fn apply(&mut self, name: &'static str, plan: Arc<Plan>) {
        let state = self.cost(name, |life| {
            block_on(async {
                let store = life.store();
                let loaded = load(&store, StateAccess::Locked).await.unwrap();
                let journal = JournaledState::new(store, &loaded).unwrap();
                let variables = GivenVariables::new();
                let input = ApplyInput { facts: life.facts.clone(), plan, variables, parallelism: DEFAULT_PARALLELISM };
                let (outcome, found) = engine::apply(input, &life.ports(Arc::new(Sink(journal.clone())))).await;
                assert!(!found.has_errors(), "{found:?}");
                let state = outcome.state.unwrap();
                assert!(journal.finish(Some(&state)).await.unwrap().is_empty());
                state
            })
        });
        self.cost("outputs", |_| {
            outputs_text(state.outputs.iter().map(|(name, output)| (&**name, output)), false);
            state.outputs.values().for_each(|output| {
                drop(output.value.ty().to_json());
                drop(terrane_value::json::to_simple_json(&output.value));
            });
        });
    }

    /// The state on the disk, as `show` and `show -json` have it.
    pub fn show(&mut self) {
        self.cost("show", |life| {
            let file = block_on(load(&life.store(), StateAccess::ReadOnly)).unwrap().file.unwrap();
            state_text(&file.state, &schema, &Style::plain()).unwrap();
            go::compact(&state_json(Some(&file.state), &schema).unwrap());
        });
    }
}
