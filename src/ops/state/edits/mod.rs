//! Manual changes of a state: `state mv`, `rm`, `replace-provider` and `push`, `taint` and `untaint`.
//!
//! Owns opening, locking, reading and writing such a state. The changes themselves are in
//! [`model::state`]; nothing here calls a provider.

mod between;
mod moving;
mod push;
mod removal;
mod replace_provider;
mod route;
mod taint;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use backend::kinds::local::{LocalBackend, LocalStore, StatePaths};
use backend::{FinishError, JournaledState, Loaded, StateSession};
use base::diag::{Diagnostics, Kind};
use model::state::State;
use model::state::file::problems_text;
pub use moving::mv;
pub use push::push;
pub use removal::remove;
pub use replace_provider::{ReplaceProvider, replace_provider};
pub use route::{Move, Moved, OtherDir, ROOT};
pub use taint::{Mark, Marked, Marking, Selector, mark};

use crate::backends::held::{self, HeldAccess, HeldState};
use crate::backends::{encryption, read_state};
use crate::configuration::load;
use crate::interface::listen::Listener;
use crate::interface::options::StateOptions;
use crate::setup::Setup;

/// Where a state is, and how it is kept from being lost.
#[derive(Clone, Debug)]
pub struct EditOptions {
    pub locking: Locking,
    /// A state file to change instead of the state of the backend.
    pub state: Option<PathBuf>,
    /// Where to keep the previous state; none: beside it, under a name with the time.
    pub backup: Option<PathBuf>,
}

/// How a state is reached and locked.
#[derive(Clone, Copy, Debug)]
pub struct Locking {
    pub lock: bool,
    /// How long to wait for a lock that is held elsewhere.
    pub lock_timeout: Duration,
    /// Changes the state although the workspace of HCP Terraform is for another version.
    pub ignore_remote_version: bool,
}

/// Why a state was not changed.
#[derive(Debug)]
pub enum EditRefusal {
    /// The backend has no state to give.
    Unopened(String),
    /// The state, `which` of those concerned, cannot be read; it is not locked.
    Unread {
        which: MoveEnd,
        reason: String,
    },
    NoState,
    /// Objects were to move to a module instance that the state has.
    ModuleExists,
    /// The state cannot be written.
    NotSaved(String),
    /// The file that is to be pushed cannot be opened.
    NoSource(String),
    /// What is to be pushed is not a state.
    BadSource {
        path: String,
        reason: String,
    },
    /// There is no answer to a question.
    NoAnswer(String),
    Diagnostics(Diagnostics),
}

/// Where objects come from, or where they go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveEnd {
    Source,
    Destination,
}

impl EditRefusal {
    /// The backend has no state to give. What is wrong with its encryption is no matter of the backend.
    pub(super) fn unopened(problems: Diagnostics) -> EditRefusal {
        match is_of_encryption(&problems) {
            true => EditRefusal::Diagnostics(problems),
            false => EditRefusal::Unopened(problems_text(&problems)),
        }
    }
}

fn is_of_encryption(problems: &Diagnostics) -> bool {
    problems.iter().any(|problem| problem.kind == Kind::Encryption)
}

impl From<Diagnostics> for EditRefusal {
    fn from(diagnostics: Diagnostics) -> EditRefusal {
        EditRefusal::Diagnostics(diagnostics)
    }
}

/// The configuration, if there is one, must be sound and for this version.
pub(super) fn check_configuration(setup: &Setup) -> Result<(), Diagnostics> {
    let (_, diagnostics) = load::config(&setup.root.dir(), setup, &setup.root);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// The backend must be the one that `init` opened, also where a state file is changed that it knows nothing of.
async fn check_backend(setup: &Setup, options: &EditOptions) -> Result<(), Diagnostics> {
    if options.state.is_some() { read_state::record(setup).await.map(|_| ()) } else { Ok(()) }
}

/// A state that is locked and read, to be changed and written once.
pub(super) struct Editing {
    held: HeldState,
    writer: JournaledState,
    /// As it was read.
    state: State,
    /// What is to be said of the backend's settings once all is done.
    warnings: Diagnostics,
}

/// What became of an edit, and what there is to warn of.
#[derive(Debug)]
pub struct Edited<T> {
    pub outcome: T,
    pub warnings: Diagnostics,
}

impl Editing {
    /// Opens the state that the options name.
    async fn open(
        setup: &Setup,
        options: &EditOptions,
        operation: &str,
        listener: &dyn Listener,
    ) -> Result<Editing, EditRefusal> {
        let editing = Editing::open_any(setup, options, operation, listener).await?;
        if editing.held.loaded.file.is_none() {
            let released = editing.held.release().await;
            return Err(if released.has_errors() { released.into() } else { EditRefusal::NoState });
        }
        Ok(editing)
    }

    /// As [`Self::open`]; the state may not be there.
    pub(super) async fn open_any(
        setup: &Setup,
        options: &EditOptions,
        operation: &str,
        listener: &dyn Listener,
    ) -> Result<Editing, EditRefusal> {
        let (store, warnings) = store(setup, options).await.map_err(EditRefusal::unopened)?;
        let mut editing =
            Editing::of_store(setup, options.locking, store, operation, MoveEnd::Source, listener).await?;
        editing.warnings = warnings;
        Ok(editing)
    }

    pub(super) fn store(&self) -> &StateSession {
        &self.held.store
    }

    pub(super) fn loaded(&self) -> &Loaded {
        &self.held.loaded
    }

    /// Locks and reads a state, which may not be there.
    async fn of_store(
        setup: &Setup,
        locking: Locking,
        store: Arc<StateSession>,
        operation: &str,
        which: MoveEnd,
        listener: &dyn Listener,
    ) -> Result<Editing, EditRefusal> {
        let mut held = hold(setup, locking, store, operation, which, listener).await?;
        if let Err(mut problems) = held.take_up_journal(listener).await {
            problems.extend(held.release().await);
            return Err(problems.into());
        }
        match JournaledState::new(held.store.clone(), &held.loaded) {
            Ok(writer) => {
                let state = held.loaded.file.as_ref().map(|file| file.state.clone()).unwrap_or_default();
                Ok(Editing { held, writer, state, warnings: Diagnostics::new() })
            }
            Err(mut problems) => {
                problems.extend(held.release().await);
                Err(problems.into())
            }
        }
    }

    /// Writes the state as it is now, if it differs from what is stored.
    async fn save(&self) -> Result<(), EditRefusal> {
        self.writer.finish(Some(&self.state)).await.map(|_| ()).map_err(|error| {
            EditRefusal::NotSaved(match error {
                FinishError::Refused { reason, .. } => reason,
                FinishError::NotRendered(reason) | FinishError::JournalLeft(reason) => reason,
            })
        })
    }

    /// Gives the lock back, and what came of the work meanwhile.
    pub(super) async fn done<T>(self, result: Result<T, EditRefusal>) -> Result<Edited<T>, EditRefusal> {
        let released = self.held.release().await;
        match result {
            Err(EditRefusal::Diagnostics(mut diagnostics)) => {
                diagnostics.extend(released);
                Err(EditRefusal::Diagnostics(diagnostics))
            }
            Ok(_) if released.has_errors() => Err(released.into()),
            Ok(outcome) => Ok(Edited { outcome, warnings: self.warnings }),
            Err(refusal) => Err(refusal),
        }
    }
}

/// Locks and reads what is in a store. What an interrupted run left open is shown before.
async fn hold(
    setup: &Setup,
    locking: Locking,
    store: Arc<StateSession>,
    operation: &str,
    which: MoveEnd,
    listener: &dyn Listener,
) -> Result<HeldState, EditRefusal> {
    let Locking { lock, lock_timeout, .. } = locking;
    let options = StateOptions { lock, lock_timeout, ..StateOptions::default() };
    let held = held::hold(&store, operation, &options, setup, HeldAccess::Change(listener)).await;
    held.map_err(|problems| match lock {
        true => problems.into(),
        false if is_of_encryption(&problems) => problems.into(),
        false => EditRefusal::Unread { which, reason: problems_text(&problems) },
    })
}

/// The store of a state file, or of the backend's workspace with what there is to say of its settings.
async fn store(setup: &Setup, options: &EditOptions) -> Result<(Arc<StateSession>, Diagnostics), Diagnostics> {
    if let Some(path) = &options.state {
        return Ok((file_store(setup, path, options.backup.clone()).await?, Diagnostics::new()));
    }
    // Backups of all backends are named after the file of the local one.
    let own = LocalBackend::default().paths(&setup.workdir.workspace).write;
    let backup = options.backup.clone().unwrap_or_else(|| dated(&own));
    let ignore_remote_version = options.locking.ignore_remote_version;
    let backup = Some(backup.to_string_lossy().into_owned());
    let options = StateOptions { backup, ignore_remote_version, ..StateOptions::default() };
    read_state::open_to_change(setup, &options).await
}

/// The store of a state file, which is encrypted as the backend's states are.
async fn file_store(setup: &Setup, path: &Path, backup: Option<PathBuf>) -> Result<Arc<StateSession>, Diagnostics> {
    let cipher = encryption::of(setup).await?.state.clone();
    Ok(Arc::new(StateSession::new(Arc::new(plain_file_store(path, backup)), cipher)))
}

fn plain_file_store(path: &Path, backup: Option<PathBuf>) -> LocalStore {
    let backup = Some(backup.unwrap_or_else(|| dated(path)));
    LocalStore::new(StatePaths { read: path.to_path_buf(), write: path.to_path_buf(), backup })
}

/// The name of a backup that is made now. As with the reference, one of the same second is overwritten; the history has both.
fn dated(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.backup", jiff::Timestamp::now().as_second()));
    name.into()
}
