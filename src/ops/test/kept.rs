//! States of tests on the disk: each apply run has a journal from its first request on, and states that are not empty at the end stay.
//!
//! The folder `.terraform/test` has a state file per file and key, and `manifest.json`, which names them. A state is in the manifest
//! before anything of it is created, so that nothing is forgotten, whichever way the process ends. Of each file, the manifest also has the
//! names of the variables whose values came from outside: `test cleanup` needs them again. Their values are never stored.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::encryption::Cipher;
use backend::kinds::local::{self, LocalStore, StatePaths};
use backend::{FinishError, JournaledState, Loaded, StateAccess, StateSession, finish_replay, load};
use base::atomic;
use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use model::state::State;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::kept_lock::HeldLock;
use crate::backends::encryption;
use crate::setup::Setup;

/// The folder of states below the data folder.
const FOLDER: &str = "test";
const MANIFEST: &str = "manifest.json";
const MANIFEST_LOCK: &str = "manifest.lock";
const UNREADABLE: &str = "Failed to read the manifest of test states";
const NOT_WRITTEN: &str = "Failed to write the state of a test";

/// Attempts to lock the manifest, and the pause between them. Other processes hold the lock only briefly.
const ATTEMPTS: usize = 400;
const PAUSE: Duration = Duration::from_millis(5);

/// Why a state is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A run has `skip_cleanup`.
    SkipCleanup,
    /// Another state of the file is kept, whose cleanup needs the outputs of this one.
    Dependency,
    /// It could not be destroyed, or its run did not end.
    Error,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Manifest {
    version: u64,
    files: BTreeMap<String, ManifestFile>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct ManifestFile {
    states: BTreeMap<String, ManifestState>,
    /// The names of the variables that the states may depend on and whose values came from outside. Older manifests do not have them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    variables: BTreeSet<String>,
}

/// One kept state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ManifestState {
    pub id: String,
    pub reason: Reason,
}

/// Shows warnings about a run that did not end at once, before its journal is removed, which alone knows what they say.
pub type Warn = Arc<dyn Fn(Diagnostics) + Send + Sync>;

/// The states of a suite on the disk.
pub struct KeptStates {
    folder: PathBuf,
    cipher: Option<Arc<Cipher>>,
    warn: Warn,
    manifest: Mutex<Manifest>,
    /// By test file: the locks of states that this process changes.
    locks: Mutex<BTreeMap<String, HeldLock>>,
}

impl KeptStates {
    /// Reads what earlier suites left. Makes nothing.
    pub async fn open(setup: &Setup, warn: Warn) -> Result<KeptStates, Diagnostics> {
        let folder = folder(setup);
        let manifest = match read_manifest(&folder.join(MANIFEST)) {
            Ok(manifest) => manifest,
            Err(error) => return Err(unreadable(&folder.join(MANIFEST), &error).into()),
        };
        let cipher = encryption::of(setup).await?.state.clone();
        Ok(KeptStates { folder, cipher, warn, manifest: Mutex::new(manifest), locks: Mutex::default() })
    }

    fn manifest(&self) -> MutexGuard<'_, Manifest> {
        self.manifest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is kept of a file, by state key.
    pub fn of_file(&self, file: &str) -> BTreeMap<String, ManifestState> {
        self.manifest().files.get(file).map(|kept| kept.states.clone()).unwrap_or_default()
    }

    /// The names of the variables of a file whose values came from outside when its states were created.
    pub fn variables(&self, file: &str) -> BTreeSet<String> {
        self.manifest().files.get(file).map(|kept| kept.variables.clone()).unwrap_or_default()
    }

    /// The files that states are kept of.
    pub fn files(&self) -> Vec<String> {
        self.manifest().files.keys().cloned().collect()
    }

    /// Where a state is kept, for reports.
    pub fn path(&self, file: &str, key: &str) -> Option<PathBuf> {
        let id = self.manifest().files.get(file)?.states.get(key)?.id.clone();
        Some(self.state_path(&id))
    }

    fn state_path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.tfstate"))
    }

    /// Excludes other processes from the states of a file until [`KeptStates::release`]. What they have left since the manifest was
    /// read is known afterwards.
    fn lock(&self, file: &str) -> Result<(), Diagnostics> {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if locks.contains_key(file) {
            return Ok(());
        }
        let path = self.folder.join(format!("{}.lock", one_word(file)));
        let taken = std::fs::create_dir_all(&self.folder).and_then(|()| HeldLock::take(&path));
        let lock = taken.map_err(|error| not_written(&path, &error))?.ok_or_else(|| in_use(file))?;
        let before = self.of_file(file);
        let manifest = self.folder.join(MANIFEST);
        *self.manifest() = read_manifest(&manifest).map_err(|error| unreadable(&manifest, &error))?;
        if before.is_empty() && !self.of_file(file).is_empty() {
            return Err(not_empty(file).into());
        }
        locks.insert(file.to_owned(), lock);
        Ok(())
    }

    /// Lets other processes work on the states of a file.
    pub fn release(&self, file: &str) {
        self.locks.lock().unwrap_or_else(PoisonError::into_inner).remove(file);
    }

    /// The store of a state. It is in the manifest when this returns. `outside`: the names of the variables whose values come from outside.
    async fn store(&self, file: &str, key: &str, outside: &BTreeSet<String>) -> Result<Arc<StateSession>, Diagnostics> {
        self.lock(file)?;
        let id_of = |states: BTreeMap<String, ManifestState>| states.get(key).map(|state| state.id.clone());
        if let Some(id) = id_of(self.of_file(file)).filter(|_| outside.is_subset(&self.variables(file))) {
            return Ok(self.session(&id));
        }
        let new = ManifestState { id: new_id(), reason: Reason::Error };
        self.change(|manifest| {
            let kept = manifest.files.entry(file.to_owned()).or_default();
            kept.states.entry(key.to_owned()).or_insert_with(|| new.clone());
            kept.variables.extend(outside.iter().cloned());
        })
        .await?;
        let id = id_of(self.of_file(file)).unwrap_or_else(|| new.id.clone());
        if id == new.id {
            // Stores write into the file that is there: it stays private.
            let path = self.state_path(&id);
            atomic::create_new(&path, 0o600, b"").map_err(|error| not_written(&path, &error))?;
        }
        Ok(self.session(&id))
    }

    fn session(&self, id: &str) -> Arc<StateSession> {
        let path = self.state_path(id);
        let store = LocalStore::new(StatePaths { read: path.clone(), write: path, backup: None });
        Arc::new(StateSession::new(Arc::new(store), self.cipher.clone()))
    }

    /// The journal of an apply that changes a state.
    pub async fn journal(
        &self,
        file: &str,
        key: &str,
        outside: &BTreeSet<String>,
    ) -> Result<Arc<JournaledState>, Diagnostics> {
        self.journal_in(&self.store(file, key, outside).await?).await
    }

    /// A state as it was left. The journal of a run that did not end is applied to it.
    pub async fn load(&self, file: &str, key: &str) -> Result<State, Diagnostics> {
        self.lock(file)?;
        match self.of_file(file).remove(key) {
            Some(state) => self.load_from(&self.session(&state.id)).await,
            // Another process has destroyed it in the meantime.
            None => Ok(State::default()),
        }
    }

    /// The journal of an apply that changes the state of a store.
    pub async fn journal_in(&self, store: &Arc<StateSession>) -> Result<Arc<JournaledState>, Diagnostics> {
        let loaded = self.recovered(store).await?;
        Ok(Arc::new(JournaledState::new(store.clone(), &loaded)?))
    }

    /// The state of a store, with what a run did that did not end.
    pub async fn load_from(&self, store: &StateSession) -> Result<State, Diagnostics> {
        Ok(self.recovered(store).await?.file.map(|file| file.state).unwrap_or_default())
    }

    async fn recovered(&self, store: &StateSession) -> Result<Loaded, Diagnostics> {
        let mut loaded = load(store, StateAccess::Locked).await?;
        if !loaded.warnings.is_empty() {
            (self.warn)(std::mem::take(&mut loaded.warnings));
        }
        finish_replay(store, &mut loaded)?;
        Ok(loaded)
    }

    /// Writes a state that is kept.
    pub async fn save(
        &self,
        file: &str,
        key: &str,
        outside: &BTreeSet<String>,
        state: &State,
    ) -> Result<(), Diagnostics> {
        let journal = self.journal(file, key, outside).await?;
        match journal.finish(Some(state)).await {
            Ok(_) => Ok(()),
            Err(error) => Err(not_saved(&error).into()),
        }
    }

    /// Says of states of a file why they are kept. Those without a reason are forgotten, those that are not named stay as they are.
    pub async fn record_reasons(&self, file: &str, kept: &BTreeMap<String, Option<Reason>>) -> Result<(), Diagnostics> {
        if self.of_file(file).is_empty() {
            return Ok(());
        }
        let mut gone = Vec::new();
        for (key, state) in self.of_file(file) {
            if kept.get(&key) == Some(&None) {
                gone.push((key, state.id));
            }
        }
        // The manifest goes last: what it names may be missing, but nothing that is there may be unnamed.
        for (_, id) in &gone {
            let journal = self.session(id).facts().journal;
            let state = self.state_path(id);
            for path in [journal, local::next_of(&state), state] {
                remove(&path).map_err(|error| not_written(&path, &error))?;
            }
        }
        self.change(|manifest| {
            let Some(states) = manifest.files.get_mut(file).map(|file| &mut file.states) else { return };
            for (key, _) in &gone {
                states.remove(key);
            }
            for (key, state) in states.iter_mut() {
                if let Some(Some(reason)) = kept.get(key) {
                    state.reason = *reason;
                }
            }
            if states.is_empty() {
                manifest.files.remove(file);
            }
        })
        .await
    }

    /// Changes the manifest as it is on the disk now: another process may have added states of its tests. Waits while another process
    /// changes it.
    async fn change(&self, change: impl Fn(&mut Manifest)) -> Result<(), Diagnostics> {
        for _ in 0..ATTEMPTS {
            if self.try_change(&change)? {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err(manifest_in_use(&self.folder.join(MANIFEST)).into())
    }

    /// False: another process changes the manifest, and nothing was changed.
    fn try_change(&self, change: &impl Fn(&mut Manifest)) -> Result<bool, Diagnostics> {
        // Where the lock does not exclude other threads of this process, this does.
        let mut known = self.manifest();
        let path = self.folder.join(MANIFEST);
        let locked = self.folder.join(MANIFEST_LOCK);
        let taken = std::fs::create_dir_all(&self.folder).and_then(|()| HeldLock::take(&locked));
        let Some(_lock) = taken.map_err(|error| not_written(&locked, &error))? else { return Ok(false) };
        let mut manifest = read_manifest(&path).map_err(|error| unreadable(&path, &error))?;
        change(&mut manifest);
        self.write(&manifest)?;
        *known = manifest;
        Ok(true)
    }

    fn write(&self, manifest: &Manifest) -> Result<(), Diagnostics> {
        let path = self.folder.join(MANIFEST);
        let written = std::fs::create_dir_all(&self.folder).and_then(|()| {
            if manifest.files.is_empty() {
                return remove(&path);
            }
            let text = serde_json::to_vec_pretty(manifest).map_err(io::Error::other)?;
            atomic::write_private(&path, &text)
        });
        written.map_err(|error| not_written(&path, &error).into())
    }
}

/// The error of a state that was not written at the end of its run.
pub fn not_saved(error: &FinishError) -> Diagnostic {
    let (FinishError::Refused { reason, .. } | FinishError::NotRendered(reason) | FinishError::JournalLeft(reason)) =
        error;
    let detail = format!("The state of the run could not be written: {reason}. Its journal is kept beside it.");
    Diagnostic::error("Failed to save the state of a test", detail)
}

/// The folder of what tests keep.
pub fn folder(setup: &Setup) -> PathBuf {
    setup.workdir.data_dir.join(FOLDER)
}

fn read_manifest(path: &Path) -> io::Result<Manifest> {
    match std::fs::read(path) {
        Ok(content) => serde_json::from_slice(&content).map_err(io::Error::other),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Manifest::default()),
        Err(error) => Err(error),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::error(UNREADABLE, format!("{}: {error}.", path.display()))
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn not_written(path: &Path, error: &io::Error) -> Diagnostic {
    let detail = format!(
        "{}: {error}. Nothing is created without a record of it: free the disk or change the permissions of the folder, then run \
         \"{COMMAND} test\" again.",
        path.display()
    );
    Diagnostic::error(NOT_WRITTEN, detail)
}

/// The error of a change of the manifest that waited too long.
fn manifest_in_use(path: &Path) -> Diagnostic {
    let detail = format!(
        "Another process is changing the manifest {}, which lists the states that tests keep. Nothing is created without an entry in it, \
         and no entry was removed. Wait until the other process has ended, then run the command again.",
        path.display()
    );
    Diagnostic::error("Manifest of test states in use", detail)
}

/// A name as one word for a file; different for different names.
fn one_word(name: &str) -> String {
    let letter = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '-' => c.to_string(),
        c => format!("_{:x}_", u32::from(c)),
    };
    name.chars().map(letter).collect()
}

/// The error of a file whose states another process works on.
fn in_use(file: &str) -> Diagnostic {
    let detail =
        format!("Another process executes the tests of {file}, or destroys what they left. Wait until it has ended.");
    Diagnostic::error("Test file in use", detail)
}

/// Eight letters and digits.
fn new_id() -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut random = rand::rng();
    (0..8).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect()
}

/// The error of a file of which states are kept.
pub fn not_empty(file: &str) -> Diagnostic {
    let detail = format!(
        "States of earlier tests of {file} are kept, with objects that still exist. Run \"{COMMAND} test cleanup\" to destroy them \
         before the file is executed again."
    );
    Diagnostic::error("State manifest not empty", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elsewhere, two handles of one process do not exclude each other.
    const HAS_LOCKS_OF_HANDLES: bool = cfg!(target_os = "linux");

    fn kept_in(folder: &Path) -> KeptStates {
        let (manifest, locks) = (Mutex::default(), Mutex::default());
        let warn: Warn = Arc::new(|found| panic!("{found:?}"));
        KeptStates { folder: folder.to_owned(), cipher: None, warn, manifest, locks }
    }

    /// Another `test cleanup -repair` may restore the objects with other variables.
    #[tokio::test]
    async fn variables_of_later_changes_are_recorded_too() {
        let folder = tempfile::tempdir().unwrap();
        let kept = kept_in(folder.path());
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let mut ids = BTreeSet::new();
        for outside in [names(&[]), names(&["region"]), names(&["zone"]), names(&["region"])] {
            kept.store("a.tftest.hcl", "", &outside).await.unwrap();
            ids.extend(kept.path("a.tftest.hcl", ""));
        }
        assert_eq!(kept.variables("a.tftest.hcl"), names(&["region", "zone"]));
        assert_eq!(ids.len(), 1);
    }

    fn add_state(manifest: &mut Manifest) {
        let state = ManifestState { id: "x".into(), reason: Reason::Error };
        manifest.files.entry("a.tftest.hcl".into()).or_default().states.insert(String::new(), state);
    }

    /// The wait does not block the thread, which also releases the lock.
    #[tokio::test]
    async fn changes_of_the_manifest_wait_for_other_processes() {
        if !HAS_LOCKS_OF_HANDLES {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let kept = kept_in(folder.path());
        let lock = HeldLock::take(&folder.path().join(MANIFEST_LOCK)).unwrap().unwrap();
        let release = async {
            tokio::time::sleep(PAUSE).await;
            assert!(kept.files().is_empty() && !folder.path().join(MANIFEST).exists());
            drop(lock);
        };
        let (changed, ()) = tokio::join!(kept.change(add_state), release);
        assert!(changed.is_ok(), "{changed:?}");
        assert_eq!(kept.files(), ["a.tftest.hcl"]);
        assert!(folder.path().join(MANIFEST).exists() && !folder.path().join(MANIFEST_LOCK).exists());
    }

    #[tokio::test]
    async fn a_manifest_that_stays_in_use_is_an_error_of_its_own() {
        if !HAS_LOCKS_OF_HANDLES {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let kept = kept_in(folder.path());
        let _lock = HeldLock::take(&folder.path().join(MANIFEST_LOCK)).unwrap().unwrap();
        let problems = kept.change(add_state).await.unwrap_err();
        let summaries: Vec<_> = problems.iter().map(|problem| problem.summary.as_str()).collect();
        assert_eq!(summaries, ["Manifest of test states in use"]);
        assert!(kept.files().is_empty() && !folder.path().join(MANIFEST).exists());
    }

    #[test]
    fn older_manifests_have_no_variables() {
        let text = r#"{"version":0,"files":{"a":{"states":{"":{"id":"x","reason":"error"}}}}}"#;
        let manifest: Manifest = serde_json::from_str(text).unwrap();
        assert!(manifest.files["a"].variables.is_empty());
        assert_eq!(serde_json::to_string(&manifest).unwrap(), text);
    }
}
