//! `force-unlock`: removes a stale lock on the state.

use base::diag::Diagnostics;
use base::name::PROGRAM;

use crate::backends::read_state;
use crate::interface::ask::{NoAnswer, Question};
use crate::interface::options::StateOptions;
use crate::setup::Setup;

/// What became of the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnlockOutcome {
    Unlocked,
    /// Only the process that holds it can release it.
    OfProcess,
    Refused,
    NoAnswer(NoAnswer),
    Failed(String),
}

/// Removes the lock of that id from the state of the current workspace; asks before, unless `force`.
pub async fn run(setup: &Setup, id: &str, force: bool) -> Result<UnlockOutcome, Diagnostics> {
    let store = read_state::open(setup, &StateOptions::default()).await?.store;
    if !force {
        if store.facts().locks_are_of_processes {
            return Ok(UnlockOutcome::OfProcess);
        }
        match confirm(setup).await {
            Ok(answer) if answer == "yes" => {}
            Ok(_) => return Ok(UnlockOutcome::Refused),
            Err(error) => return Ok(UnlockOutcome::NoAnswer(error)),
        }
    }
    Ok(store.unlock(id).await.map_or_else(|error| UnlockOutcome::Failed(error.text), |()| UnlockOutcome::Unlocked))
}

async fn confirm(setup: &Setup) -> Result<String, NoAnswer> {
    let question = Question {
        title: "Do you really want to force-unlock?".into(),
        text: format!(
            "{PROGRAM} will remove the lock on the remote state.\nThis will allow local {PROGRAM} commands to modify this state, \
             even though it\nmay still be in use. Only 'yes' will be accepted to confirm."
        ),
        ..Question::default()
    };
    match &setup.ask {
        Some(ask) => ask.ask(&question).await,
        None => Err(NoAnswer::Failed("input is disabled".into())),
    }
}
