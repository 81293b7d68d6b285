//! The backend of another working directory. The process stays where it is: paths start in the other [`Root`].

use std::io;
use std::path::{Path, PathBuf};

use backend::DEFAULT_WORKSPACE;
use backend::kinds::local::{DEFAULT_STATE_FILE, DEFAULT_WORKSPACE_DIR};
use base::diag::{Diagnostic, Diagnostics};
use terrane_value::Value;

use super::open::{self, BackendInUse};
use super::record::BackendRecord;
use super::settings::{self, BackendSettings, KindRef};
use crate::backends::read_state;
use crate::interface::options::StateOptions;
use crate::setup::Setup;
use crate::setup::root::Root;

/// A working directory with the store of its workspace.
pub struct OtherRoot {
    pub opened: BackendInUse,
    /// What tells its state from all others, in every process on this machine.
    pub identity: String,
}

/// Opens the backend that the configuration in `dir` asks for, with the workspace that is selected there. `backup`: where the local
/// backend keeps what it replaces, given the state's path.
pub async fn open(setup: &Setup, dir: &Path, backup: impl Fn(&Path) -> PathBuf) -> Result<OtherRoot, Diagnostics> {
    let root = Root::of(setup.dialect(), dir).map_err(|e| unreadable(dir, &e))?;
    let setup = setup.in_root(root)?;
    setup.workdir.check_workspace()?;
    let record = read_state::record(&setup).await?;
    let mut wanted = open::settings_of(&setup, record.as_ref()).await?;
    make_absolute(&mut wanted, &setup.root);
    let state = identity(&setup, &wanted, &setup.workdir.workspace);
    let options = StateOptions {
        backup: Some(backup(&local_path(&wanted, &setup.workdir.workspace)).to_string_lossy().into_owned()),
        ..StateOptions::default()
    };
    let opened = open::open_store(&setup, &wanted, &options, &setup.workdir.workspace).await?;
    Ok(OtherRoot { opened, identity: state })
}

/// What tells the state of the working directory's workspace from all others.
pub async fn identity_here(setup: &Setup, record: Option<&BackendRecord>) -> Result<String, Diagnostics> {
    let mut wanted = open::settings_of(setup, record).await?;
    make_absolute(&mut wanted, &setup.root);
    Ok(identity(setup, &wanted, &setup.workdir.workspace))
}

/// What tells the state of a workspace in a backend, as the working directory opens it, from all others.
pub fn identity_of(setup: &Setup, settings: &BackendSettings, workspace: &str) -> String {
    let mut settings = settings.clone();
    make_absolute(&mut settings, &setup.root);
    identity(setup, &settings, workspace)
}

fn identity(setup: &Setup, settings: &BackendSettings, workspace: &str) -> String {
    let record = settings.record();
    match (record.kind.as_str(), &record.provider) {
        (LOCAL, None) => {
            let path = local_path(settings, workspace);
            format!("{LOCAL} {}", real_path(path).display())
        }
        (kind, None) => format!("{kind} {} {workspace}", record.config),
        // Only the provider knows which of its settings are paths.
        (kind, Some(provider)) => {
            let folder = setup.root.real_dir();
            let settings = format!("{} {} {}", provider.source, provider.config, record.config);
            format!("{kind} {settings} {} {workspace}", folder.display())
        }
    }
}

/// The path without links, as far as it exists.
fn real_path(path: PathBuf) -> PathBuf {
    let whole = path.canonicalize().ok();
    let of_folder = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    whole.or_else(of_folder).unwrap_or(path)
}

/// Settings that say where a backend keeps its states, of all kinds.
const PLACES: [&str; 16] = [
    "address",
    "bucket",
    "conn_str",
    "container_name",
    "endpoint",
    "host",
    "key",
    "namespace",
    "path",
    "prefix",
    "region",
    "schema_name",
    "secret_suffix",
    "storage_account_name",
    "tablestore_table",
    "workspace_key_prefix",
];

/// Whether the default workspace of `other` is a state of a project with the settings `own`: of any of its workspaces in folders, and of
/// the selected one and those in the same place elsewhere.
pub fn has_state_of(setup: &Setup, own: &BackendSettings, other: &BackendSettings, selected: &str) -> bool {
    let wanted = identity_of(setup, other, DEFAULT_WORKSPACE);
    if [DEFAULT_WORKSPACE, selected].iter().any(|workspace| identity_of(setup, own, workspace) == wanted) {
        return true;
    }
    if is_local(own) && is_local(other) {
        let (mut own, mut other) = (own.clone(), other.clone());
        make_absolute(&mut own, &setup.root);
        make_absolute(&mut other, &setup.root);
        let folder = own.config.get("workspace_dir").and_then(Value::as_str).map(PathBuf::from).map(real_path);
        let state = real_path(local_path(&other, DEFAULT_WORKSPACE));
        return folder.is_some_and(|folder| state.starts_with(folder));
    }
    let is_same = |name: &&str| own.config.get(name) == other.config.get(name);
    own.kind.name() == other.kind.name() && !is_local(own) && PLACES.iter().all(is_same)
}

const LOCAL: &str = "local";

fn is_local(settings: &BackendSettings) -> bool {
    matches!(settings.kind, KindRef::Own(_)) && settings.kind.name() == LOCAL
}

/// The settings of the local backend that are paths, from a root folder.
fn make_absolute(wanted: &mut BackendSettings, root: &Root) {
    if !is_local(wanted) {
        return;
    }
    for (name, default) in [("path", DEFAULT_STATE_FILE), ("workspace_dir", DEFAULT_WORKSPACE_DIR)] {
        let path = wanted.config.get(name).and_then(Value::as_str).unwrap_or(default);
        let path = root.real_dir().join(path).to_string_lossy().into_owned();
        settings::with_setting(wanted, name, Value::string(path));
    }
}

/// Where the local backend with these settings keeps a state; of other backends nothing that means anything.
fn local_path(wanted: &BackendSettings, workspace: &str) -> PathBuf {
    let path = |name: &str| wanted.config.get(name).and_then(Value::as_str).map(PathBuf::from);
    let backend = backend::kinds::local::LocalBackend {
        path: path("path").filter(|_| is_local(wanted)),
        workspace_dir: path("workspace_dir").filter(|_| is_local(wanted)),
        ..Default::default()
    };
    backend.paths(workspace).write
}

fn unreadable(dir: &Path, error: &io::Error) -> Diagnostics {
    Diagnostic::error("Failed to open the working directory", format!("{}: {error}", dir.display())).into()
}
