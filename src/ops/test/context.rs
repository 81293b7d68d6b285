//! What the runs of a suite and of a file share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::diag::Diagnostics;
use base::stop::Stop;
use engine::coverage::Coverage;
use engine::ports::Host;
use model::config::Config;
use model::config::test_file::{TestFile, TestRun};
use model::state::State;
use terrane_value::Value;
use tokio::sync::Semaphore;

use super::expansion;
use super::kept::{KeptStates, Reason};
use super::order::{self, OrderedRun};
use super::restore::Keeper;
use super::run_backend::RunBackends;
use super::select::SelectedRuns;
use super::shared_facts::SharedFacts;
use super::snapshot::Snapshots;
use super::variables::OutsideValues;
use crate::interface::testing::{LeftObject, TestListener, TestRequest};
use crate::plugins::factories::Factories;
use crate::setup::Setup;

/// How long work may take after the second interrupt.
const LAST_WORK: Duration = Duration::from_secs(5);

/// What all files share.
pub struct SuiteContext {
    pub setup: Setup,
    pub request: TestRequest,
    pub config: Arc<Config>,
    pub outside: OutsideValues,
    pub host: Arc<dyn Host>,
    pub listener: Arc<dyn TestListener>,
    pub kept: KeptStates,
    /// Records what all runs evaluate; none unless coverage is asked for.
    pub coverage: Option<Arc<Coverage>>,
    /// Stops what runs: after the second interrupt. The first one lets it end.
    pub work: Stop,
    /// Where the providers come from, with the schemas that all files share. Each file has its own processes.
    pub plugins: Arc<Factories>,
    /// The configurations that runs test.
    pub facts: SharedFacts,
    /// A permit per step that may run now, in all files and runs together.
    pub turns: Arc<Semaphore>,
}

impl SuiteContext {
    /// Runs work to its end; none if it took too long after the second interrupt.
    pub async fn unless_abandoned<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.abandoned() => None,
        }
    }

    async fn abandoned(&self) {
        self.setup.stop.killed().await;
        self.work.stop();
        tokio::time::sleep(LAST_WORK).await;
        self.work.kill();
    }
}

/// The state of a key, and the run that wrote it last.
#[derive(Clone, Default)]
pub struct KeptState {
    pub state: State,
    pub last_run: Option<usize>,
    /// The run that asks to keep it.
    pub keeper: Option<Keeper>,
}

/// What the runs of one file share.
pub struct FileContext<'s> {
    pub suite: &'s SuiteContext,
    pub file: &'s TestFile,
    pub factories: Arc<Factories>,
    /// The names of the variables that the runs could use and whose values come from outside.
    pub outside_variables: &'s BTreeSet<String>,
    pub order: Vec<OrderedRun>,
    /// The runs that are executed, by position.
    pub selected: BTreeSet<usize>,
    /// The states that are read from and kept in backends.
    pub backends: RunBackends,
    pub snapshots: Snapshots,
    pub applies: Applies,
    shared: Mutex<Shared>,
}

#[derive(Default)]
struct Shared {
    /// By the run's name; none: not executed yet.
    outputs: BTreeMap<Arc<str>, Option<Value>>,
    states: BTreeMap<String, KeptState>,
    /// What runs find in the file's own values and `provider` blocks.
    diagnostics: Diagnostics,
    /// The states of isolated runs that were not destroyed when their run ended, with the reason why they are kept.
    undestroyed: BTreeMap<String, Reason>,
}

/// The runs that work now, each with the addresses of the objects that it creates.
#[derive(Default)]
pub struct Applies(Mutex<BTreeMap<usize, Vec<String>>>);

impl Applies {
    fn working(&self) -> MutexGuard<'_, BTreeMap<usize, Vec<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a run works; `creating`: on creating these objects.
    pub fn begin(&self, run: usize, creating: Vec<String>) {
        self.working().insert(run, creating);
    }

    /// Notes that a run does not work any more.
    pub fn end(&self, run: usize) {
        self.working().remove(&run);
    }

    /// The first run that creates something; if none does, the first that works.
    pub fn first(&self) -> Option<(usize, Vec<String>)> {
        let working = self.working();
        let creates = working.iter().find(|(_, creating)| !creating.is_empty());
        creates.or_else(|| working.iter().next()).map(|(run, creating)| (*run, creating.clone()))
    }
}

impl<'s> FileContext<'s> {
    pub fn new(
        suite: &'s SuiteContext,
        file: &'s TestFile,
        outside_variables: &'s BTreeSet<String>,
        runs: SelectedRuns,
        factories: Arc<Factories>,
    ) -> FileContext<'s> {
        let outputs = file.runs.iter().map(|run| (run.name.clone(), None)).collect();
        let order = ordered_runs(file);
        let selected = match runs {
            SelectedRuns::All => (0..file.runs.len()).collect(),
            SelectedRuns::Some(runs) => order::with_needed(&order, runs),
        };
        let (backends, snapshots) = (RunBackends::default(), Snapshots::of(suite, file));
        let shared = Mutex::new(Shared { outputs, ..Shared::default() });
        FileContext {
            suite,
            file,
            factories,
            outside_variables,
            order,
            selected,
            backends,
            snapshots,
            applies: Applies::default(),
            shared,
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what a run finds in the file itself, unless another one found it too.
    pub fn add_diagnostics(&self, found: Diagnostics) {
        self.shared().diagnostics.extend_new(found);
    }

    /// What the runs found in the file itself.
    pub fn take_diagnostics(&self) -> Diagnostics {
        std::mem::take(&mut self.shared().diagnostics)
    }

    /// The configuration that a run tests, before the file's providers are put into it.
    pub fn base_of<'a>(&'a self, run: &'a TestRun) -> &'a Config {
        run.under_test.as_ref().unwrap_or(&self.suite.config)
    }

    /// The outputs of the runs as expressions name them.
    pub fn outputs(&self) -> BTreeMap<Arc<str>, Option<Value>> {
        expansion::by_block(&self.file.runs, &self.file.repeated, &self.shared().outputs)
    }

    pub fn set_outputs(&self, run: &Arc<str>, outputs: Value) {
        self.shared().outputs.insert(run.clone(), Some(outputs));
    }

    pub fn state(&self, key: &str) -> State {
        self.shared().states.get(key).map(|kept| kept.state.clone()).unwrap_or_default()
    }

    pub fn set_state(&self, key: &str, state: State, run: usize) {
        let mut shared = self.shared();
        let kept = shared.states.entry(key.to_owned()).or_default();
        (kept.state, kept.last_run) = (state, Some(run));
    }

    /// Sets a state that was there before any run of the file.
    pub fn adopt_state(&self, key: &str, state: State) {
        self.shared().states.entry(key.to_owned()).or_default().state = state;
    }

    /// Notes the run that asks to keep a state.
    pub fn keep_state(&self, key: &str, keeper: Keeper) {
        self.shared().states.entry(key.to_owned()).or_default().keeper = Some(keeper);
    }

    /// Notes that the state of an isolated run was not destroyed when its run ended.
    pub fn set_undestroyed(&self, key: &str, reason: Reason) {
        self.shared().undestroyed.insert(key.to_owned(), reason);
    }

    /// The states of isolated runs that were not destroyed when their run ended, by key.
    pub fn undestroyed(&self) -> BTreeMap<String, Reason> {
        self.shared().undestroyed.clone()
    }

    /// All states by their keys.
    pub fn states(&self) -> BTreeMap<String, KeptState> {
        self.shared().states.clone()
    }
}

/// What the order of a file's runs depends on.
pub fn ordered_runs(file: &TestFile) -> Vec<OrderedRun> {
    file.runs.iter().enumerate().map(|(index, run)| ordered(file, index, run)).collect()
}

fn ordered(file: &TestFile, index: usize, run: &TestRun) -> OrderedRun {
    let referenced = file.references_of(run).runs;
    let earlier = file.runs[..index].iter().enumerate();
    OrderedRun {
        state_key: run.state_key(),
        is_parallel: file.is_parallel(run),
        references: earlier.filter(|(_, run)| referenced.contains(run.block_name())).map(|(index, _)| index).collect(),
    }
}

/// The managed objects of a state, as reports name them.
pub fn objects_of(state: &State) -> Vec<LeftObject> {
    let mut all = Vec::new();
    for (addr, resource) in &state.resources {
        if addr.resource.mode != terrane_protocol::schema::ResourceMode::Managed {
            continue;
        }
        for (key, instance) in &resource.instances {
            let addr = addr.instance(key.clone());
            if instance.current.is_some() {
                all.push(LeftObject { addr: addr.clone(), deposed: None });
            }
            all.extend(
                instance.deposed.keys().map(|key| LeftObject { addr: addr.clone(), deposed: Some(key.clone()) }),
            );
        }
    }
    all
}
