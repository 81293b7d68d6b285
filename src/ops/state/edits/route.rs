//! Which objects move where: addresses of the command line become moves within a state, or from one to another.

use std::path::PathBuf;

use base::diag::{Diagnostic, Diagnostics};
use model::addr::{ModuleInstance, Target, command_line};
use model::state::State;
use model::state::moving::{MoveError, move_into, move_objects};

use super::{EditOptions, EditRefusal};

pub(super) const OPERATION: &str = "state-mv";

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

/// Gives objects their new addresses, in the same state or in another one; nothing is written.
pub(super) fn move_in_memory(
    wanted: &Move,
    from: &mut State,
    to: Option<&mut State>,
    moved: impl Fn(Moved),
) -> Result<usize, EditRefusal> {
    let route = Route::of(&wanted.sources, &wanted.destination)?;
    let hear = |from: &Target, to: &Target| moved(Moved { from: from.clone(), to: to.clone() });
    let count = match &route {
        Route::Rename(source, destination) => move_objects(from, to, source, destination, hear),
        Route::Into(sources, module) => move_into(from, to, sources, module, hear),
    };
    count.map_err(|error| match error {
        MoveError::Invalid(problems) => EditRefusal::Diagnostics(problems),
        MoveError::ModuleExists => EditRefusal::ModuleExists,
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
