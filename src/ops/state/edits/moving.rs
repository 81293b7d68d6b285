//! `state mv`

use std::path::{Path, PathBuf};

use backend::{StateSession, StateStore};
use base::diag::{Diagnostic, Diagnostics};

use super::route::{Move, Moved, OPERATION, move_in_memory};
use super::{
    EditRefusal, Edited, Editing, MoveEnd, between, check_backend, check_configuration, file_store, plain_file_store,
};
use crate::backends::read_state;
use crate::interface::listen::Listener;
use crate::setup::Setup;

/// Gives objects another address. `moved` hears of each move before the states are written; gives how many there were.
pub async fn mv(
    setup: &Setup,
    wanted: &Move,
    listener: &dyn Listener,
    moved: impl Fn(Moved),
) -> Result<Edited<usize>, EditRefusal> {
    check_configuration(setup)?;
    check_legacy_options(setup, wanted).await?;
    if let Some(other) = &wanted.other {
        return between::mv(setup, wanted, other, listener, moved).await;
    }
    let mut from = Editing::open(setup, &wanted.options, OPERATION, listener).await?;
    let result = match &wanted.state_out {
        Some(path) if !is_at(&from.held.store, path) => match open_other(setup, wanted, path, listener).await {
            Ok(mut to) => {
                let result = move_and_save(setup, wanted, &mut from, Some(&mut to), moved).await;
                to.done(result).await.map(|edited| edited.outcome)
            }
            Err(refusal) => Err(refusal),
        },
        _ => move_and_save(setup, wanted, &mut from, None, moved).await,
    };
    from.done(result).await
}

async fn open_other(
    setup: &Setup,
    wanted: &Move,
    path: &Path,
    listener: &dyn Listener,
) -> Result<Editing, EditRefusal> {
    let store = file_store(setup, path, wanted.backup_out.clone()).await?;
    Editing::of_store(setup, wanted.options.locking, store, OPERATION, MoveEnd::Destination, listener).await
}

/// Whether a store is that of a state file: their journals have the same place.
fn is_at(store: &StateSession, path: &Path) -> bool {
    let place = |journal: PathBuf| {
        let folder = journal.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some((folder.canonicalize().ok()?, journal.file_name()?.to_owned()))
    };
    let (ours, theirs) = (place(store.facts().journal), place(plain_file_store(path, None).facts().journal));
    ours.is_some() && ours == theirs
}

async fn move_and_save(
    setup: &Setup,
    wanted: &Move,
    from: &mut Editing,
    mut to: Option<&mut Editing>,
    moved: impl Fn(Moved),
) -> Result<usize, EditRefusal> {
    let to_state = to.as_deref_mut().map(|to| &mut to.state);
    let count = move_in_memory(wanted, &mut from.state, to_state, moved)?;
    if wanted.dry_run {
        return Ok(count);
    }
    check_backend(setup, &wanted.options).await?;
    // If only one of two can be written, the objects are in both.
    if let Some(to) = to {
        to.save().await?;
    }
    from.save().await?;
    Ok(count)
}

/// Backups can be placed by hand only where the state is a file.
async fn check_legacy_options(setup: &Setup, wanted: &Move) -> Result<(), Diagnostics> {
    let options = &wanted.options;
    let given = [("-backup", options.backup.is_some()), ("-backup-out", wanted.backup_out.is_some())];
    let given: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    if given.is_empty() || options.state.is_some() {
        return Ok(());
    }
    match read_state::record(setup).await? {
        Some(record) if record.kind != "local" => Err(Diagnostic::error(
            format!("Invalid command line options: {}", given.join(", ")),
            "Command line options -backup and -backup-out are legacy options that operate on a local state file only. You must \
             specify a local state file with the -state option or switch to the local backend.",
        )
        .into()),
        _ => Ok(()),
    }
}
