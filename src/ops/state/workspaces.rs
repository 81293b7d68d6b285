//! `workspace`: the named states of a backend, and the selected one.

use std::path::Path;

use backend::StateSession;
use base::diag::{Diagnostic, Diagnostics};
use base::files::{Disk, Files};
use base::name::PROGRAM;
use base::suggest;
use encryption::is_sealed;
use model::state::{State, StateMeta, file as state_file};
use model::version::compatible_version;
use terrane_protocol::schema::ResourceMode;

use crate::backends::held::{self, HeldAccess};
use crate::backends::read_state;
use crate::interface::listen::Listener;
use crate::interface::options::StateOptions;
use crate::setup::Setup;
use crate::setup::workdir::{is_workspace_name, select_workspace};

/// Why a command about workspaces did nothing.
#[derive(Debug)]
pub enum WorkspaceRefusal {
    Invalid(String),
    Exists(String),
    /// There is none of that name; a question about the one that was probably meant, or nothing.
    Missing(String, String),
    Active(String),
    /// A variable says which workspace is used.
    Overridden,
    /// What the backend or the disk says.
    Failed(String),
    Diagnostics(Diagnostics),
}

impl From<Diagnostics> for WorkspaceRefusal {
    fn from(diagnostics: Diagnostics) -> WorkspaceRefusal {
        WorkspaceRefusal::Diagnostics(diagnostics)
    }
}

fn failed(error: impl ToString) -> WorkspaceRefusal {
    WorkspaceRefusal::Failed(error.to_string())
}

/// Every workspace of the backend, the default one first.
pub async fn list(setup: &Setup) -> Result<Vec<String>, WorkspaceRefusal> {
    let backend = read_state::backend(setup).await?;
    backend.workspaces().await.map_err(failed)
}

/// Makes a workspace and selects it. `from`: a state file whose objects it begins with; `created` is called before
/// that is read.
pub async fn create(
    setup: &Setup,
    name: &str,
    from: Option<&Path>,
    options: &StateOptions,
    listener: &dyn Listener,
    created: impl FnOnce(),
) -> Result<(), WorkspaceRefusal> {
    if !is_workspace_name(name) {
        return Err(WorkspaceRefusal::Invalid(name.into()));
    }
    if setup.workdir.workspace_overridden && setup.workdir.workspace != name {
        return Err(WorkspaceRefusal::Overridden);
    }
    let backend = read_state::backend(setup).await?;
    let names = backend.workspaces().await;
    let names = names.map_err(|e| failed(format!("Failed to get configured named states: {e}")))?;
    if names.iter().any(|other| other == name) {
        return Err(WorkspaceRefusal::Exists(name.into()));
    }
    let store = backend.create(name).await.map_err(failed)?;
    select_workspace(&setup.workdir.data_dir, name).map_err(failed)?;
    created();
    let Some(from) = from else { return Ok(()) };
    let held = held::hold(&store, "workspace-new", options, setup, HeldAccess::Change(listener)).await?;
    let copied = copy(from, &held.store).await;
    let unlocked = held.release().await;
    copied?;
    if unlocked.has_errors() { Err(unlocked.into()) } else { Ok(()) }
}

/// Writes the objects and outputs of a state file into a store that has no state, as the first state of a new history.
async fn copy(from: &Path, store: &StateSession) -> Result<(), WorkspaceRefusal> {
    let content = Disk.read(from).map_err(failed)?;
    if is_sealed(&content) {
        let problems = state_file::read(&content).err().map(|problems| state_file::problems_text(&problems));
        let detail = format!("Failed reading the given state {:?}: {}", from.display(), problems.unwrap_or_default());
        return Err(WorkspaceRefusal::Diagnostics(Diagnostic::error("Error reading the given state", detail).into()));
    }
    let read = state_file::read(&content).map_err(|problems| failed(state_file::problems_text(&problems)))?;
    let state = read.map(|file| file.state).unwrap_or_default();
    let lineage = uuid::Uuid::new_v4().to_string();
    let meta = StateMeta { terraform_version: compatible_version().into(), serial: 1, lineage };
    let snapshot = state_file::write(&meta, &state)?;
    store.write(snapshot.into()).await.map_err(failed)
}

/// What became of a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selected {
    Already,
    Switched,
    Created,
}

/// Selects a workspace, which is made first if it may be and does not exist.
pub async fn select(setup: &Setup, name: &str, or_create: bool) -> Result<Selected, WorkspaceRefusal> {
    if setup.workdir.workspace_overridden {
        return Err(WorkspaceRefusal::Overridden);
    }
    let backend = read_state::backend(setup).await?;
    if !is_workspace_name(name) {
        return Err(WorkspaceRefusal::Invalid(name.into()));
    }
    let names = backend.workspaces().await.map_err(failed)?;
    if name == setup.workdir.workspace {
        return Ok(Selected::Already);
    }
    let exists = names.iter().any(|other| other == name);
    if !exists && !or_create {
        return Err(missing(name, &names));
    }
    if !exists {
        backend.store(name).await.map_err(failed)?;
    }
    select_workspace(&setup.workdir.data_dir, name).map_err(failed)?;
    Ok(if exists { Selected::Switched } else { Selected::Created })
}

fn missing(name: &str, names: &[String]) -> WorkspaceRefusal {
    WorkspaceRefusal::Missing(name.into(), suggest::question(name, names.iter().map(String::as_str)))
}

/// Removes a workspace with its state. Gives whether objects were forgotten by that, which only `force` allows.
pub async fn delete(
    setup: &Setup,
    name: &str,
    force: bool,
    options: &StateOptions,
    listener: &dyn Listener,
) -> Result<bool, WorkspaceRefusal> {
    let backend = read_state::backend(setup).await?;
    let names = backend.workspaces().await.map_err(failed)?;
    if !names.iter().any(|other| other == name) {
        return Err(missing(name, &names));
    }
    if name == setup.workdir.workspace {
        return Err(WorkspaceRefusal::Active(name.into()));
    }
    let store = backend.store(name).await.map_err(failed)?;
    let held = held::hold(&store, "workspace-delete", options, setup, HeldAccess::Change(listener)).await?;
    let objects = held.loaded.file.as_ref().map(|file| managed(&file.state)).unwrap_or_default();
    // Not all stores can be removed while they are locked.
    let unlocked = held.release().await;
    if !objects.is_empty() && !force {
        return Err(WorkspaceRefusal::Diagnostics(not_empty(name, &objects).into()));
    }
    if unlocked.has_errors() {
        return Err(unlocked.into());
    }
    backend.delete_workspace(name, force).await.map_err(failed)?;
    Ok(!objects.is_empty())
}

/// The managed objects of a state, deposed ones included, as people read them.
fn managed(state: &State) -> Vec<String> {
    let mut instances: Vec<_> = state.instances().filter(|(addr, ..)| addr.mode() == ResourceMode::Managed).collect();
    instances.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    let mut objects = Vec::new();
    for (addr, _, instance) in instances {
        objects.extend(instance.current.as_ref().map(|_| addr.to_string()));
        objects.extend(instance.deposed.keys().map(|key| format!("{addr} (deposed object {key})")));
    }
    objects
}

fn not_empty(name: &str, objects: &[String]) -> Diagnostic {
    let list: String = objects.iter().map(|object| format!("\n  - {object}")).collect();
    Diagnostic::error(
        "Workspace is not empty",
        format!(
            "Workspace {name:?} is currently tracking the following resource instances:{list}\n\nDeleting this workspace would \
             cause {PROGRAM} to lose track of any associated remote objects, which would then require you to delete them \
             manually outside of {PROGRAM}. You should destroy these objects with {PROGRAM} before deleting the \
             workspace.\n\nIf you want to delete this workspace anyway, and have {PROGRAM} forget about these managed objects, \
             use the -force option to disable this safety check."
        ),
    )
}
