//! Backends of runs: where a state is read from when its run begins, and kept.
//!
//! A state is locked from then on until the file ends. It is never the state of the project, and it has no history there.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use backend::durable::locking;
use backend::{DEFAULT_WORKSPACE, LockInfo, StateAccess, StateSession, load};
use base::diag::{Diagnostic, Diagnostics};
use model::config;
use model::config::test_file::{RunBackend, TestFile, TestRun};
use model::state::State;

use super::context::FileContext;
use crate::backends::open;
use crate::backends::other_root;
use crate::backends::settings::BackendSettings;
use crate::setup::Setup;

const REPEATED: &str = "Repeat use of the same backend block";

/// The states of a file that are in backends, by state key.
#[derive(Default)]
pub struct RunBackends(Mutex<BTreeMap<String, LockedState>>);

struct LockedState {
    store: Arc<StateSession>,
    /// The ID of the lock.
    lock: String,
}

impl RunBackends {
    fn open(&self) -> MutexGuard<'_, BTreeMap<String, LockedState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The store of a state, if it is in a backend.
    pub fn store(&self, key: &str) -> Option<Arc<StateSession>> {
        self.open().get(key).map(|state| state.store.clone())
    }

    /// Releases all locks.
    pub async fn release(&self) -> Diagnostics {
        let mut problems = Diagnostics::new();
        let all = std::mem::take(&mut *self.open());
        for state in all.into_values() {
            if let Err(error) = state.store.unlock(&state.lock).await {
                problems.push(locking::unlock_failed(&error));
            }
        }
        problems
    }
}

/// Opens the backend of a run, if it has one, and reads the state. Returns warnings.
pub async fn open_state(context: &FileContext<'_>, run: &TestRun) -> Result<Diagnostics, Diagnostics> {
    let key = run.state_key();
    let Some(block) = run.backend.as_ref().filter(|_| context.backends.store(&key).is_none()) else {
        return Ok(Diagnostics::new());
    };
    let (store, warnings) = store_of(context, run, block).await?;
    let taken = store.acquire(&LockInfo::new("test"), Duration::ZERO, &context.suite.setup.stop, |_| ()).await;
    let is_of_process = store.facts().locks_are_of_processes;
    let lock = taken.map_err(|error| Diagnostics::from(locking::not_locked(&error, is_of_process)))?;
    context.backends.open().insert(key.clone(), LockedState { store: store.clone(), lock });
    context.adopt_state(&key, context.suite.kept.load_from(&store).await?);
    Ok(warnings)
}

/// The state in the backend of a run, read without a lock, and the file that it is in, if it is in one. None without a backend.
pub async fn read_state(
    context: &FileContext<'_>,
    run: &TestRun,
) -> Result<Option<(State, Option<PathBuf>)>, Diagnostics> {
    let Some(block) = &run.backend else { return Ok(None) };
    let (store, _) = store_of(context, run, block).await?;
    let loaded = load(&store, StateAccess::ReadOnly).await?;
    Ok(Some((loaded.file.map(|file| file.state).unwrap_or_default(), store.facts().state_file)))
}

/// The store in the backend of a run, which is not the one of the project, and warnings.
async fn store_of(
    context: &FileContext<'_>,
    run: &TestRun,
    block: &RunBackend,
) -> Result<(Arc<StateSession>, Diagnostics), Diagnostics> {
    let setup = &context.suite.setup;
    let (settings, found) = BackendSettings::of_block(&as_of_module(block), None);
    let Some(settings) = settings.filter(|_| !found.has_errors()) else { return Err(found) };
    if is_of_project(setup, &settings).await? {
        let detail = format!(
            "The backend of run {:?} keeps the state of this project. A test never reads or changes it: give the backend a place of its \
             own.",
            &*run.name
        );
        return Err(Diagnostic::error("Test state in the place of the project's state", detail)
            .at(block.range.clone())
            .into());
    }
    let (backend, warnings) = open::open_without_history(setup, &settings).await?;
    let store = backend.store(DEFAULT_WORKSPACE).await.map_err(|error| open::not_opened(&error))?;
    Ok((store, warnings))
}

/// What is wrong with the backends of a file before anything is executed: an unknown kind, or one place for two states.
pub fn check(file: &TestFile) -> Diagnostics {
    let mut problems = Diagnostics::new();
    let mut used: Vec<(u32, &str)> = Vec::new();
    for (run, block) in file.runs.iter().filter_map(|run| Some((run, run.backend.as_ref()?))) {
        let (settings, found) = BackendSettings::of_block(&as_of_module(block), None);
        let Some(settings) = settings else {
            problems.extend(found);
            continue;
        };
        match used.iter().find(|(hash, _)| *hash == settings.hash) {
            Some((_, other)) => {
                let detail = format!(
                    "The run {:?} contains a backend configuration that's already been used in run {other:?}. Sharing the same backend \
                     configuration between separate runs will result in conflicting state updates.",
                    &*run.name
                );
                problems.push(Diagnostic::error(REPEATED, detail).at(block.kind_range.clone()));
            }
            None => used.push((settings.hash, &run.name)),
        }
    }
    problems
}

/// The block as if it stood in a module.
fn as_of_module(block: &RunBackend) -> config::Backend {
    config::Backend {
        kind: block.kind.clone(),
        is_cloud_block: false,
        store: None,
        kind_range: block.kind_range.clone(),
        body: block.body.clone(),
        range: block.range.clone(),
    }
}

/// Whether the default workspace of a backend is a state that the project keeps, in any of its workspaces.
async fn is_of_project(setup: &Setup, settings: &BackendSettings) -> Result<bool, Diagnostics> {
    let record = open::recorded(setup)?;
    // A provider keeps the states of the project: no run has such a backend.
    if record.as_ref().is_some_and(|record| record.provider.is_some()) {
        return Ok(false);
    }
    let of_project = open::settings_of(setup, record.as_ref()).await?;
    Ok(other_root::has_state_of(setup, &of_project, settings, &setup.workdir.workspace))
}
