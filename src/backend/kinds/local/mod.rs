//! The local backend: states in files of the working directory.
//!
//! Owns the paths of the files of workspaces; operations on one file are in `store`. Never knows the content of states.

mod store;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use base::files::{Disk, Files, named};
pub use store::{LocalStore, next_of};
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::{Path as ValuePath, PathStep, Type, Value};

use crate::contract::schema::{block, optional};
use crate::contract::{Backend, Context, DEFAULT_WORKSPACE, FirstState, StateStore, StoreError};
use crate::kinds::{Kind, Opened};

/// The default name of the state file, and of the folder with those of other workspaces.
pub const DEFAULT_STATE_FILE: &str = "terraform.tfstate";
pub const DEFAULT_WORKSPACE_DIR: &str = "terraform.tfstate.d";

/// The kind that opens [`LocalBackend`].
pub struct Local;

const SETTINGS: [(&str, &str); 2] =
    [("path", "Invalid local state file path"), ("workspace_dir", "Invalid local workspace directory path")];

#[async_trait]
impl Kind for Local {
    fn name(&self) -> &'static str {
        "local"
    }

    fn schema(&self) -> Block {
        block(&[
            ("path", optional(Type::String, "The state file of the default workspace.")),
            ("workspace_dir", optional(Type::String, "The folder with the states of other workspaces.")),
        ])
    }

    fn check(&self, config: &Value, _context: &Context) -> Vec<ProviderDiagnostic> {
        let is_empty = |name: &str| config.get(name).and_then(Value::as_str) == Some("");
        let problem = |(name, summary): &(&str, &str)| {
            ProviderDiagnostic::error(*summary, format!("The {name:?} attribute value must not be empty."))
                .at(ValuePath(vec![PathStep::Attr((*name).into())]))
        };
        SETTINGS.iter().filter(|(name, _)| is_empty(name)).map(problem).collect()
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>> {
        let set = |name: &str| config.get(name).and_then(Value::as_str);
        // Messages name the files as the settings do, unless these start in another folder.
        let place = |name: &str, default: &str| match context.folder.as_os_str().is_empty() {
            true => set(name).map(PathBuf::from),
            false => Some(context.folder.join(set(name).unwrap_or(default))),
        };
        let files = context.files.clone();
        Ok(Opened::States(Arc::new(LocalBackend {
            path: place("path", DEFAULT_STATE_FILE),
            workspace_dir: place("workspace_dir", DEFAULT_WORKSPACE_DIR),
            state_override: files.state,
            state_out_override: files.state_out,
            backup_override: files.backup,
        })))
    }
}

/// Where files are; paths are relative to the working directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalBackend {
    /// The backend's own settings: the state file of the default workspace, and the folder of the others.
    pub path: Option<PathBuf>,
    pub workspace_dir: Option<PathBuf>,
    /// `-state`, `-state-out` and `-backup` of the command line; they win, in every workspace.
    pub state_override: Option<PathBuf>,
    pub state_out_override: Option<PathBuf>,
    pub backup_override: Option<String>,
}

/// The files of one workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePaths {
    pub read: PathBuf,
    pub write: PathBuf,
    /// None: no backups.
    pub backup: Option<PathBuf>,
}

impl LocalBackend {
    fn workspace_dir(&self) -> &Path {
        self.workspace_dir.as_deref().unwrap_or(Path::new(DEFAULT_WORKSPACE_DIR))
    }

    pub fn paths(&self, workspace: &str) -> StatePaths {
        let own = if workspace == DEFAULT_WORKSPACE {
            self.path.clone().unwrap_or_else(|| DEFAULT_STATE_FILE.into())
        } else {
            self.workspace_dir().join(workspace).join(DEFAULT_STATE_FILE)
        };
        let read = self.state_override.clone().unwrap_or(own);
        let write = self.state_out_override.clone().unwrap_or_else(|| read.clone());
        let backup = match self.backup_override.as_deref() {
            Some("-") => None,
            Some(path) if !path.is_empty() => Some(path.into()),
            _ => Some(beside(&write, "", ".backup")),
        };
        StatePaths { read, write, backup }
    }
}

/// A path in the same folder: the file's name with something before and after it.
pub(super) fn beside(path: &Path, before: &str, after: &str) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    path.with_file_name(format!("{before}{name}{after}"))
}

#[async_trait]
impl Backend for LocalBackend {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        let mut names = vec![DEFAULT_WORKSPACE.to_string()];
        match Disk.list(self.workspace_dir()) {
            Ok(entries) => names.extend(entries.into_iter().filter(|e| e.is_dir).map(|e| e.name)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(e.into()),
        }
        Ok(names)
    }

    async fn delete_workspace(&self, name: &str, _force: bool) -> Result<(), StoreError> {
        if name.is_empty() {
            return Err(StoreError::new("empty state name"));
        }
        if name == DEFAULT_WORKSPACE {
            return Err(StoreError::new("cannot delete default state"));
        }
        let dir = self.workspace_dir().join(name);
        match std::fs::remove_dir_all(&dir) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(named(e, "remove", &dir).into()),
            _ => Ok(()),
        }
    }

    async fn open_store(&self, workspace: &str, _first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        if workspace != DEFAULT_WORKSPACE {
            let dir = self.workspace_dir().join(workspace);
            std::fs::create_dir_all(&dir).map_err(|e| named(e, "mkdir", &dir))?;
        }
        Ok(Arc::new(LocalStore::new(self.paths(workspace))))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, first).await
    }
}

#[cfg(test)]
mod tests {
    use base::env::Environment;

    use super::*;

    #[test]
    fn paths_follow_the_workspace_and_the_command_line() {
        let show = |backend: &LocalBackend, workspace: &str| {
            let paths = backend.paths(workspace);
            let backup = paths.backup.map_or("-".into(), |b| b.display().to_string());
            format!("{} {} {backup}", paths.read.display(), paths.write.display())
        };
        let plain = LocalBackend::default();
        assert_eq!(show(&plain, "default"), "terraform.tfstate terraform.tfstate terraform.tfstate.backup");
        let w = "terraform.tfstate.d/w/terraform.tfstate";
        assert_eq!(show(&plain, "w"), format!("{w} {w} {w}.backup"));
        let out = LocalBackend { state_out_override: Some("o".into()), ..LocalBackend::default() };
        assert_eq!(show(&out, "default"), "terraform.tfstate o o.backup");
        let all = LocalBackend {
            path: Some("p".into()),
            state_override: Some("s".into()),
            backup_override: Some("-".into()),
            ..LocalBackend::default()
        };
        assert_eq!(show(&all, "w"), "s s -");
    }

    #[test]
    fn settings_must_not_be_empty() {
        let context = Context::new(Environment::of([("", ""); 0]), ".terraform");
        let check = |path: Value| {
            Local.check(&Value::object([("path", path), ("workspace_dir", Value::null(Type::String))]), &context)
        };
        assert!(check(Value::null(Type::String)).is_empty());
        assert_eq!(check(Value::string(""))[0].summary, "Invalid local state file path");
    }

    #[tokio::test]
    async fn workspaces_are_folders() {
        let dir = tempfile::tempdir().unwrap();
        let backend = LocalBackend { workspace_dir: Some(dir.path().join("d")), ..LocalBackend::default() };
        assert_eq!(backend.workspaces().await.unwrap(), ["default"]);
        for name in ["b", "a"] {
            backend.open_store(name, &crate::contract::FirstState::default()).await.unwrap();
        }
        assert_eq!(backend.workspaces().await.unwrap(), ["default", "a", "b"]);
        backend.delete_workspace("a", false).await.unwrap();
        backend.delete_workspace("gone", false).await.unwrap();
        assert!(backend.delete_workspace("default", false).await.is_err());
        assert_eq!(backend.workspaces().await.unwrap(), ["default", "b"]);
    }

    #[tokio::test]
    async fn files_are_in_the_folder_of_the_command() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("d/w")).unwrap();
        let mut context = Context::new(Environment::of([("", ""); 0]), ".terraform");
        context.folder = dir.path().to_owned();
        let null = || Value::null(Type::String);
        for (settings, expected) in
            [([null(), null()], &["default"][..]), ([null(), Value::string("d")], &["default", "w"][..])]
        {
            let config = Value::object(["path", "workspace_dir"].into_iter().zip(settings));
            let opened = Local.open(&config, &context).await.unwrap();
            assert_eq!(opened.states().workspaces().await.unwrap(), expected);
        }
        let config = Value::object([("path", Value::string("s/x")), ("workspace_dir", null())]);
        let opened = Local.open(&config, &context).await.unwrap();
        let store = opened.states().open_store(DEFAULT_WORKSPACE, &FirstState::default()).await.unwrap();
        assert_eq!(store.facts().state_file, Some(dir.path().join("s/x")));
    }
}
