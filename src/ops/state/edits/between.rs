//! `state mv` between the states of two working directories.

use std::path::Path;

use backend::durable::transfer::{Side, TransferError, transfer};
use base::diag::Diagnostic;
use base::name::COMMAND;
use model::state::State;

use super::moving::{OPERATION, move_in_memory};
use super::{Edited, Editing, Move, Moved, OtherDir, Refusal, Which, dated, store};
use crate::backends::elsewhere::{self, Elsewhere};
use crate::backends::{Opened, read_state};
use crate::interface::listen::Listener;
use crate::setup::Setup;

/// Moves objects from this directory's state to the other's, or the other way round: both states are written, or neither.
pub async fn mv(
    setup: &Setup,
    wanted: &Move,
    other: &OtherDir,
    listener: &dyn Listener,
    moved: impl Fn(Moved),
) -> Result<Edited<usize>, Refusal> {
    let dir = match other {
        OtherDir::To(dir) | OtherDir::From(dir) => dir,
    };
    if !dir.is_dir() {
        let detail = format!("There is no directory {}.", dir.display());
        return Err(Refusal::Diagnostics(Diagnostic::error("Directory not found", detail).into()));
    }
    let (here_first, opened) = order(setup, dir).await?;
    let (here, there) = match here_first {
        true => {
            let here = hold_here(setup, wanted, listener).await?;
            match hold_there(setup, wanted, opened, listener).await {
                Ok(there) => (here, there),
                Err(refusal) => return here.done(Err(refusal)).await,
            }
        }
        false => {
            let there = hold_there(setup, wanted, opened, listener).await?;
            match hold_here(setup, wanted, listener).await {
                Ok(here) => (here, there),
                Err(refusal) => return there.done(Err(refusal)).await,
            }
        }
    };
    let result = match other {
        OtherDir::To(_) => carry(wanted, &here, &there, dir, moved).await,
        OtherDir::From(_) => carry(wanted, &there, &here, dir, moved).await,
    };
    let result = there.done(result).await.map(|edited| edited.outcome);
    here.done(result).await
}

/// Whether this directory's state is locked first, and the other one: the order depends only on the two states, so that two moves
/// never wait for each other.
async fn order(setup: &Setup, dir: &Path) -> Result<(bool, Opened), Refusal> {
    let here = elsewhere::identity_here(setup, read_state::record(setup).await?.as_ref()).await?;
    let Elsewhere { identity: there, opened } = elsewhere::open(setup, dir, dated)
        .await
        .map_err(|problems| of_other_state(Refusal::unopened(problems), dir))?;
    if here == there {
        let detail = format!("{} has the same state as this directory.", dir.display());
        return Err(Refusal::Diagnostics(Diagnostic::error("Source and destination are the same", detail).into()));
    }
    Ok((here < there, opened))
}

async fn hold_here(setup: &Setup, wanted: &Move, listener: &dyn Listener) -> Result<Editing, Refusal> {
    let (store, warnings) = store(setup, &wanted.options).await.map_err(Refusal::unopened)?;
    let which = if matches!(wanted.other, Some(OtherDir::From(_))) { Which::Destination } else { Which::Source };
    let mut editing = Editing::of_store(setup, wanted.options.locking, store, OPERATION, which, listener).await?;
    editing.warnings = warnings;
    Ok(editing)
}

async fn hold_there(setup: &Setup, wanted: &Move, opened: Opened, listener: &dyn Listener) -> Result<Editing, Refusal> {
    let (which, dir) = match &wanted.other {
        Some(OtherDir::From(dir)) => (Which::Source, dir),
        Some(OtherDir::To(dir)) => (Which::Destination, dir),
        None => return Err(Refusal::NoState),
    };
    let held = Editing::of_store(setup, wanted.options.locking, opened.store, OPERATION, which, listener).await;
    held.map_err(|refusal| of_other_state(refusal, dir))
}

/// Says in errors whose state they are about: two states are locked and read.
fn of_other_state(refusal: Refusal, dir: &Path) -> Refusal {
    let Refusal::Diagnostics(problems) = refusal else { return refusal };
    let named = problems.into_iter().map(|mut problem| {
        let detail = problem.detail.trim_end();
        problem.detail = format!("{detail}\n\nThis is about the state of {}.", dir.display()).trim_start().to_owned();
        problem
    });
    Refusal::Diagnostics(named.collect())
}

async fn carry(
    wanted: &Move,
    from: &Editing,
    to: &Editing,
    other: &Path,
    moved: impl Fn(Moved),
) -> Result<usize, Refusal> {
    if from.loaded().file.is_none() {
        return Err(Refusal::NoState);
    }
    let (mut given, mut taken): (State, State) = (from.state.clone(), to.state.clone());
    let count = move_in_memory(wanted, &mut given, Some(&mut taken), moved)?;
    if wanted.dry_run {
        return Ok(count);
    }
    let gives = Side { store: from.store(), loaded: from.loaded(), state: &given };
    let takes = Side { store: to.store(), loaded: to.loaded(), state: &taken };
    match transfer(gives, takes).await {
        Ok(()) => Ok(count),
        Err(TransferError::Nothing(reason)) => Err(Refusal::NotSaved(reason)),
        Err(TransferError::Unfinished(reason)) => {
            let detail = format!(
                "A state could not be written: {reason}.\n\nThe other one may have been. Nothing is lost: the next command that \
                 locks the state of this directory or that of {}, such as \"{COMMAND} plan\", writes what is not written yet.",
                other.display()
            );
            Err(Refusal::Diagnostics(Diagnostic::error("The move is not completed", detail).into()))
        }
    }
}
