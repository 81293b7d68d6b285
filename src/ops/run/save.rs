//! The end of a run: the last snapshot, and what becomes of a state that the store refuses.

use std::path::Path;

use backend::{FinishError, JournaledState, STATE_NOT_SAVED};
use base::diag::{Diagnostic, Diagnostics};
use base::name::{COMMAND, PROGRAM, TERRANE};
use model::state::State;

use super::session::Session;

/// Where a state goes that no store takes.
const ERRORED_STATE: &str = "errored.tfstate";

/// Writes a state that a walk found without any change outside.
pub async fn write_unapplied(session: &Session, state: &State) -> Diagnostics {
    let journal = match JournaledState::new(session.store(), &session.held.loaded) {
        Ok(journal) => journal,
        Err(problems) => return problems,
    };
    if let Err(problems) = journal.begin(state).await {
        return problems;
    }
    journal.checks(state.checks.as_deref());
    match journal.finish(Some(state)).await {
        Ok(_) => Diagnostics::new(),
        Err(error) => rescue(&journal, error).await,
    }
}

/// Reports a run that did not end well; keeps a state that the store refused, and says where.
pub(super) async fn rescue(journal: &JournaledState, error: FinishError) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let (reason, snapshot) = match error {
        FinishError::Refused { reason, snapshot } => (reason, snapshot),
        FinishError::NotRendered(reason) => {
            let detail = format!(
                "The final state cannot be written: {reason}.\n\nThe state holds what was recorded while the run went on. \
                 This is a bug in {TERRANE}; please report it."
            );
            return Diagnostic::error(STATE_NOT_SAVED, detail).into();
        }
        FinishError::JournalLeft(reason) => {
            let detail = format!(
                "The state is saved, but the journal beside it could not be removed: {reason}.\n\nThe next command that \
                 changes the state tries again."
            );
            return Diagnostic::error("Failed to remove the state journal", detail).into();
        }
    };
    diagnostics.error(STATE_NOT_SAVED, format!("Error saving state: {reason}"));
    match journal.write_errored_state(Path::new(ERRORED_STATE), &snapshot).await {
        Ok(()) if journal.keeps_journal() => diagnostics.error(NOT_PERSISTED, persist_later()),
        Ok(()) => {
            diagnostics.error(
                NOT_PERSISTED,
                format!(
                    "The error shown above has prevented {PROGRAM} from writing the updated state to the configured backend. To allow \
                     for recovery, the state has been written to the file {ERRORED_STATE:?} in the current working directory.\n\n\
                     Running \"{COMMAND} apply\" again at this point will create a forked state, making it harder to recover.\n\n\
                     To retry writing this state, use the following command:\n    {COMMAND} state push {ERRORED_STATE}\n",
                ),
            );
            if let Err(e) = journal.forget_journal_unless_open() {
                tracing::warn!("the journal could not be removed: {e}");
            }
        }
        Err(e) => diagnostics.error(
            "Failed to create local state file",
            format!(
                "Error creating local state file for recovery: {e}.\n\nThe journal that holds the changes of this run is kept beside \
                 the state; the next run that can write the state recovers them.",
            ),
        ),
    }
    diagnostics
}

const NOT_PERSISTED: &str = "Failed to persist state to backend";

/// What to do where the journal is kept beside the file.
fn persist_later() -> String {
    format!(
        "The error shown above has prevented {PROGRAM} from writing the updated state to the configured backend. To allow for recovery, \
         the state has been written to the file {ERRORED_STATE:?} in the current working directory, and the journal of this run was \
         kept in the data directory.\n\nThe next command in this directory that locks the state takes the journal up, unless \
         another process has written the state by then.\n\nTo retry writing this state, use the following command:\n    {COMMAND} state push \
         {ERRORED_STATE}\n"
    )
}
