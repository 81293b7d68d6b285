//! `state mv` between the states of two working directories.

use std::path::Path;

use backend::durable::transfer::{Side, TransferError, transfer};
use base::diag::Diagnostic;
use base::name::COMMAND;
use model::state::State;

use super::route::{Move, Moved, OPERATION, OtherDir, move_in_memory};
use super::{EditRefusal, Edited, Editing, MoveEnd, dated, store};
use crate::backends::open::BackendInUse;
use crate::backends::other_root::{self, OtherRoot};
use crate::backends::read_state;
use crate::interface::listen::Listener;
use crate::setup::Setup;

/// Moves objects from this directory's state to the other's, or the other way round: both states are written, or neither.
pub async fn mv(
    setup: &Setup,
    wanted: &Move,
    other: &OtherDir,
    listener: &dyn Listener,
    moved: impl Fn(Moved),
) -> Result<Edited<usize>, EditRefusal> {
    let dir = match other {
        OtherDir::To(dir) | OtherDir::From(dir) => dir,
    };
    if !dir.is_dir() {
        let detail = format!("There is no directory {}.", dir.display());
        return Err(EditRefusal::Diagnostics(Diagnostic::error("Directory not found", detail).into()));
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
async fn order(setup: &Setup, dir: &Path) -> Result<(bool, BackendInUse), EditRefusal> {
    let here = other_root::identity_here(setup, read_state::record(setup).await?.as_ref()).await?;
    let OtherRoot { identity: there, opened } = other_root::open(setup, dir, dated)
        .await
        .map_err(|problems| of_other_state(EditRefusal::unopened(problems), dir))?;
    if here == there {
        let detail = format!("{} has the same state as this directory.", dir.display());
        return Err(EditRefusal::Diagnostics(Diagnostic::error("Source and destination are the same", detail).into()));
    }
    Ok((here < there, opened))
}

async fn hold_here(setup: &Setup, wanted: &Move, listener: &dyn Listener) -> Result<Editing, EditRefusal> {
    let (store, warnings) = store(setup, &wanted.options).await.map_err(EditRefusal::unopened)?;
    let which = if matches!(wanted.other, Some(OtherDir::From(_))) { MoveEnd::Destination } else { MoveEnd::Source };
    let mut editing = Editing::of_store(setup, wanted.options.locking, store, OPERATION, which, listener).await?;
    editing.warnings = warnings;
    Ok(editing)
}

async fn hold_there(
    setup: &Setup,
    wanted: &Move,
    opened: BackendInUse,
    listener: &dyn Listener,
) -> Result<Editing, EditRefusal> {
    let (which, dir) = match &wanted.other {
        Some(OtherDir::From(dir)) => (MoveEnd::Source, dir),
        Some(OtherDir::To(dir)) => (MoveEnd::Destination, dir),
        None => return Err(EditRefusal::NoState),
    };
    let held = Editing::of_store(setup, wanted.options.locking, opened.store, OPERATION, which, listener).await;
    held.map_err(|refusal| of_other_state(refusal, dir))
}

/// Says in errors whose state they are about: two states are locked and read.
fn of_other_state(refusal: EditRefusal, dir: &Path) -> EditRefusal {
    let EditRefusal::Diagnostics(problems) = refusal else { return refusal };
    let named = problems.into_iter().map(|mut problem| {
        let detail = problem.detail.trim_end();
        problem.detail = format!("{detail}\n\nThis is about the state of {}.", dir.display()).trim_start().to_owned();
        problem
    });
    EditRefusal::Diagnostics(named.collect())
}

async fn carry(
    wanted: &Move,
    from: &Editing,
    to: &Editing,
    other: &Path,
    moved: impl Fn(Moved),
) -> Result<usize, EditRefusal> {
    if from.loaded().file.is_none() {
        return Err(EditRefusal::NoState);
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
        Err(TransferError::Nothing(reason)) => Err(EditRefusal::NotSaved(reason)),
        Err(TransferError::Unfinished(reason)) => {
            let detail = format!(
                "A state could not be written: {reason}.\n\nThe other one may have been. Nothing is lost: the next command that \
                 locks the state of this directory or that of {}, such as \"{COMMAND} plan\", writes what is not written yet.",
                other.display()
            );
            Err(EditRefusal::Diagnostics(Diagnostic::error("The move is not completed", detail).into()))
        }
    }
}
