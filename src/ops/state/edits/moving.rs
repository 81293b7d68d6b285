//! `state mv`

use std::path::{Path, PathBuf};

use backend::{StateSession, StateStore};
use base::diag::{Diagnostic, Diagnostics};
use model::addr::{ModuleInstance, Target, command_line};
use model::state::State;
use model::state::moving::{MoveError, move_into, move_objects};

use super::{
    EditOptions, Edited, Editing, Refusal, Which, between, check_backend, check_configuration, file_store,
    plain_file_store,
};
use crate::backends::read_state;
use crate::interface::listen::Listener;
use crate::setup::Setup;

/// What is to move where.
#[derive(Clone, Debug)]
pub struct Move {
    /// One address, or several that go into a module.
    pub sources: Vec<String>,
    pub destination: String,
    /// Only say what would be moved.
    pub dry_run: bool,
    pub options: EditOptions,
    /// The state file to move to, if not within one state.
    pub state_out: Option<PathBuf>,
    /// Where to keep what that file held before.
    pub backup_out: Option<PathBuf>,
    pub other: Option<OtherDir>,
}

/// Another working directory whose state takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherDir {
    To(PathBuf),
    From(PathBuf),
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
) -> Result<Edited<usize>, Refusal> {
    check_configuration(setup)?;
    check_legacy_options(setup, wanted).await?;
    if let Some(other) = &wanted.other {
        return between::mv(setup, wanted, other, listener, moved).await;
    }
    let mut from = Editing::open(setup, &wanted.options, OPERATION, listener).await?;
    let result = match &wanted.state_out {
        Some(path) if !is_at(&*from.held.store, path) => match open_other(setup, wanted, path, listener).await {
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

pub(super) const OPERATION: &str = "state-mv";

async fn open_other(setup: &Setup, wanted: &Move, path: &Path, listener: &dyn Listener) -> Result<Editing, Refusal> {
    let store = file_store(setup, path, wanted.backup_out.clone()).await?;
    Editing::of_store(setup, wanted.options.locking, store, OPERATION, Which::Destination, listener).await
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
) -> Result<usize, Refusal> {
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

/// Gives objects their new addresses, in the same state or in another one; nothing is written.
pub(super) fn move_in_memory(
    wanted: &Move,
    from: &mut State,
    to: Option<&mut State>,
    moved: impl Fn(Moved),
) -> Result<usize, Refusal> {
    let route = Route::of(&wanted.sources, &wanted.destination)?;
    let hear = |from: &Target, to: &Target| moved(Moved { from: from.clone(), to: to.clone() });
    let count = match &route {
        Route::Rename(source, destination) => move_objects(from, to, source, destination, hear),
        Route::Into(sources, module) => move_into(from, to, sources, module, hear),
    };
    count.map_err(|error| match error {
        MoveError::Invalid(problems) => Refusal::Diagnostics(problems),
        MoveError::ModuleExists => Refusal::ModuleExists,
    })
}

/// What moves where.
enum Route {
    /// What has one address gets another one.
    Rename(Target, Target),
    /// Several go into a module, each under its own name.
    Into(Vec<Target>, ModuleInstance),
}

/// How the root module is called as a destination.
pub const ROOT: &str = ".";

impl Route {
    /// What is wrong with any of the addresses otherwise.
    fn of(sources: &[String], destination: &str) -> Result<Route, Diagnostics> {
        let mut problems = Diagnostics::new();
        let sources: Vec<_> =
            sources.iter().filter_map(|text| sound(command_line::target(text), &mut problems)).collect();
        let several = sources.len() > 1 || sources.iter().any(|source| matches!(source, Target::Pattern(_)));
        let destination = match destination {
            ROOT => Some(Target::Module(ModuleInstance::root())),
            text => sound(command_line::target(text), &mut problems),
        };
        let Some(destination) = destination.filter(|_| !problems.has_errors()) else { return Err(problems) };
        match (<[Target; 1]>::try_from(sources), destination) {
            (_, Target::Pattern(_)) => Err(no_pattern().into()),
            (Ok([source]), destination) if !several && !is_root(&destination) => Ok(Route::Rename(source, destination)),
            (sources, Target::Module(module)) => {
                Ok(Route::Into(sources.map_or_else(|sources| sources, Vec::from), module))
            }
            (_, destination) => Err(no_module(&destination).into()),
        }
    }
}

fn sound<T>(parsed: Result<T, Diagnostics>, problems: &mut Diagnostics) -> Option<T> {
    parsed.map_err(|found| problems.extend(found)).ok()
}

fn is_root(target: &Target) -> bool {
    matches!(target, Target::Module(module) if module.is_root())
}

const INVALID_DESTINATION: &str = "Invalid destination address";

fn no_pattern() -> Diagnostic {
    Diagnostic::error(INVALID_DESTINATION, "The address to move to must not be a pattern.")
}

fn no_module(destination: &Target) -> Diagnostic {
    Diagnostic::error(
        INVALID_DESTINATION,
        format!(
            "Cannot move several objects to {destination}: the target must be a module, such as module.example, or {ROOT:?} for \
             the root module."
        ),
    )
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
