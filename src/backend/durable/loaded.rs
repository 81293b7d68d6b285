//! A state as it was read, and whether it may be written over.

use std::path::Path;

use base::diag::{Diagnostic, Diagnostics};
use model::state::file::StateFile;

use super::session::StateSession;

/// Whether the caller holds the store's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateAccess {
    Locked,
    /// Locked by a command that changes nothing and replays nothing.
    LockedToRead,
    ReadOnly,
}

/// A state as read.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// None: there is no state yet.
    pub file: Option<StateFile>,
    /// Of the stored snapshot, as the journal knows it.
    pub fingerprint: String,
    /// The state is more than the store holds: a journal was laid over it. Nothing may be written on top of that.
    pub includes_journal: bool,
    /// The store now holds what the journal held, which is still there: [`super::recovery::finish_replay`] removes it.
    pub replayed: bool,
    /// What the user should know of an interrupted run.
    pub warnings: Diagnostics,
}

impl Loaded {
    /// A state that is more than its store holds must not be written over.
    pub fn refuse_pending_journal(&self, session: &StateSession) -> Result<(), Diagnostics> {
        if self.includes_journal { Err(another_run(&session.facts().journal).into()) } else { Ok(()) }
    }
}

/// The error for a journal of a run that goes on, or may go on.
pub fn another_run(path: &Path) -> Diagnostic {
    let detail = format!(
        "The journal {} exists: another run is changing this state. Run the command again when that run has ended, without \"-lock=false\".",
        path.display(),
    );
    Diagnostic::error("State is being changed by another run", detail)
}
