//! `state mv`

use std::path::{Path, PathBuf};

use crate::backend::StateStore;
use crate::base::diag::{Diagnostic, Diagnostics};
use crate::model::addr::{Target, command_line};
use crate::model::state::moving::{MoveError, move_objects};

use super::{EditOptions, Editing, Refusal, Which, check_backend, check_configuration, file_store, plain_file_store};
use crate::ops::backends::read_state;
use crate::ops::interface::listen::Listener;
use crate::ops::setup::Setup;

/// What is to move where.
#[derive(Clone, Debug)]
pub struct Move {
    pub source: String,
    pub destination: String,
    /// Only say what would be moved.
    pub dry_run: bool,
    pub options: EditOptions,
    /// The state file to move to, if not within one state.
    pub state_out: Option<PathBuf>,
    /// Where to keep what that file held before.
    pub backup_out: Option<PathBuf>,
}

/// One thing that moved, by its old and its new address.
pub struct Moved {
    pub from: Target,
    pub to: Target,
}

/// Gives objects another address. `moved` hears of each move before the states are written; gives how many there were.
pub async fn mv(
    setup: &Setup,
    wanted: &Move,
    listener: &dyn Listener,
    moved: impl Fn(Moved),
) -> Result<usize, Refusal> {
    check_configuration(setup)?;
    check_legacy_options(setup, wanted)?;
    let mut from = Editing::open(setup, &wanted.options, OPERATION, listener).await?;
    let result = match &wanted.state_out {
        Some(path) if !is_at(&*from.held.store, path) => match open_other(setup, wanted, path, listener).await {
            Ok(mut to) => {
                let result = move_and_save(setup, wanted, &mut from, Some(&mut to), moved).await;
                to.done(result).await
            }
            Err(refusal) => Err(refusal),
        },
        _ => move_and_save(setup, wanted, &mut from, None, moved).await,
    };
    from.done(result).await
}

const OPERATION: &str = "state-mv";

async fn open_other(setup: &Setup, wanted: &Move, path: &Path, listener: &dyn Listener) -> Result<Editing, Refusal> {
    let store = file_store(setup, path, wanted.backup_out.clone()).await?;
    Editing::of_store(setup, wanted.options.locking, store, OPERATION, Which::Destination, listener).await
}

/// Whether a store is that of a state file: their journals have the same place.
fn is_at(store: &dyn StateStore, path: &Path) -> bool {
    let place = |journal: PathBuf| {
        let folder = journal.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some((folder.canonicalize().ok()?, journal.file_name()?.to_owned()))
    };
    let (ours, theirs) = (place(store.journal()), place(plain_file_store(path, None).journal()));
    ours.is_some() && ours == theirs
}

async fn move_and_save(
    setup: &Setup,
    wanted: &Move,
    from: &mut Editing,
    mut to: Option<&mut Editing>,
    moved: impl Fn(Moved),
) -> Result<usize, Refusal> {
    let (source, destination) = addresses(&wanted.source, &wanted.destination)?;
    let hear = |from: &Target, to: &Target| moved(Moved { from: from.clone(), to: to.clone() });
    let to_state = to.as_deref_mut().map(|to| &mut to.state);
    let count = move_objects(&mut from.state, to_state, &source, &destination, hear).map_err(|error| match error {
        MoveError::Invalid(problems) => Refusal::Diagnostics(problems),
        MoveError::ModuleExists => Refusal::ModuleExists,
    })?;
    if wanted.dry_run {
        return Ok(count);
    }
    check_backend(setup, &wanted.options)?;
    // If only one of two can be written, the objects are in both.
    if let Some(to) = to {
        to.save().await?;
    }
    from.save().await?;
    Ok(count)
}

/// Both addresses, or what is wrong with either.
fn addresses(source: &str, destination: &str) -> Result<(Target, Target), Diagnostics> {
    match (command_line::target(source), command_line::target(destination)) {
        (Ok(source), Ok(destination)) => Ok((source, destination)),
        (source, destination) => Err([source.err(), destination.err()].into_iter().flatten().flatten().collect()),
    }
}

/// Backups can be placed by hand only where the state is a file.
fn check_legacy_options(setup: &Setup, wanted: &Move) -> Result<(), Diagnostics> {
    let options = &wanted.options;
    let given = [("-backup", options.backup.is_some()), ("-backup-out", wanted.backup_out.is_some())];
    let given: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    if given.is_empty() || options.state.is_some() {
        return Ok(());
    }
    match read_state::record(setup)? {
        Some(record) if record.kind != "local" => Err(Diagnostic::error(
            format!("Invalid command line options: {}", given.join(", ")),
            "Command line options -backup and -backup-out are legacy options that operate on a local state file only. You must \
             specify a local state file with the -state option or switch to the local backend.",
        )
        .into()),
        _ => Ok(()),
    }
}
