//! The working directory: its data folder and its selected workspace.

use std::io;
use std::path::{Path, PathBuf};

use backend::DEFAULT_WORKSPACE;
use base::atomic;
use base::diag::{Diagnostic, Diagnostics};
use base::env::{self, Environment};
use base::files::named;
use base::name::{COMMAND, PROGRAM};

use super::root::Root;

/// Paths start in the root folder unless the user gave an absolute one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkDir {
    pub data_dir: PathBuf,
    pub workspace: String,
    /// The workspace was chosen by a variable, not by the selected one.
    pub workspace_overridden: bool,
}

impl WorkDir {
    pub fn open(root: &Root, environment: &Environment) -> Result<WorkDir, Diagnostics> {
        let data_dir = root.path(Path::new(environment.non_empty(env::TF_DATA_DIR).unwrap_or(".terraform")));
        if let Some(name) = environment.non_empty(env::TF_WORKSPACE) {
            return Ok(WorkDir { data_dir, workspace: name.to_string(), workspace_overridden: true });
        }
        let workspace = selected_workspace(&data_dir).map_err(|e| {
            Diagnostics::from(Diagnostic::error("Failed to read the selected workspace", e.to_string()))
        })?;
        Ok(WorkDir { data_dir, workspace, workspace_overridden: false })
    }

    /// The workspace must have a name that workspaces can have; commands that use no state do not check it.
    pub fn check_workspace(&self) -> Result<(), Diagnostics> {
        self.check_override()?;
        match self.workspace_overridden || is_workspace_name(&self.workspace) {
            true => Ok(()),
            false => Err(Diagnostic::error(self.invalid_selection(), "").into()),
        }
    }

    /// As [`Self::check_workspace`], for commands that select another workspace.
    pub fn check_override(&self) -> Result<(), Diagnostics> {
        match self.workspace_overridden && !is_workspace_name(&self.workspace) {
            true => Err(Diagnostic::error(INVALID_OVERRIDE, "").into()),
            false => Ok(()),
        }
    }

    fn invalid_selection(&self) -> String {
        let file = self.data_dir.join(ENVIRONMENT);
        format!(
            "Invalid workspace name: The selected workspace described in {file:?} has an invalid name. This suggests that the file \
             contents were edited by something other than {PROGRAM}. To select a different, valid workspace name use commands \
             `{COMMAND} workspace select` or `{COMMAND} workspace select -or-create`."
        )
    }

    /// Where installed providers are linked.
    pub fn providers_dir(&self) -> PathBuf {
        self.data_dir.join("providers")
    }

    pub fn modules_dir(&self) -> PathBuf {
        self.data_dir.join("modules")
    }

    /// The folders that `init -plugin-dir` was given.
    pub fn plugin_path_file(&self) -> PathBuf {
        self.data_dir.join("plugin_path")
    }
}

/// Whether a workspace may be called so: what a URL's path segment holds without escapes, and no folder around it.
pub fn is_workspace_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..")
        && name.chars().all(|c| {
            c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '$' | '&' | '+' | '=' | ':' | '@')
        })
}

/// What is said of a name in the environment that no workspace can have.
const INVALID_OVERRIDE: &str = "Invalid workspace name set using TF_WORKSPACE";

/// The file with the name of the selected workspace, in the data directory.
const ENVIRONMENT: &str = "environment";

/// The selected workspace of a working directory.
pub fn selected_workspace(data_dir: &Path) -> io::Result<String> {
    let path = data_dir.join(ENVIRONMENT);
    match std::fs::read_to_string(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(DEFAULT_WORKSPACE.into()),
        Err(e) => Err(named(e, "open", &path)),
        Ok(text) if text.trim().is_empty() => Ok(DEFAULT_WORKSPACE.into()),
        Ok(text) => Ok(text.trim().to_string()),
    }
}

/// Selects a workspace: its name, without a line ending.
pub fn select_workspace(data_dir: &Path, name: &str) -> io::Result<()> {
    std::fs::create_dir_all(data_dir).map_err(|e| named(e, "mkdir", data_dir))?;
    atomic::write(&data_dir.join(ENVIRONMENT), name.as_bytes())
}

#[cfg(test)]
mod tests {
    use base::dialect::Dialect;

    use super::*;

    #[test]
    fn variables_say_where_and_which() {
        let environment = Environment::of([("TF_DATA_DIR", "d"), ("TF_WORKSPACE", "w-1")]);
        let workdir = WorkDir::open(&Root::here(Dialect::default()), &environment).unwrap();
        assert_eq!((workdir.workspace.as_str(), workdir.providers_dir()), ("w-1", "d/providers".into()));
        for name in ["a/b", "ä", ".", ".."] {
            let workdir =
                WorkDir::open(&Root::here(Dialect::default()), &Environment::of([("TF_WORKSPACE", name)])).unwrap();
            assert!(workdir.check_workspace().is_err(), "{name}");
        }
    }

    #[test]
    fn an_invalid_name_in_the_file_is_refused_by_commands_that_use_the_workspace() {
        let workdir = WorkDir { data_dir: ".terraform".into(), workspace: "../x".into(), workspace_overridden: false };
        let problems = workdir.check_workspace().unwrap_err().into_vec();
        let start = "Invalid workspace name: The selected workspace described in \".terraform/environment\" has";
        assert!(problems[0].summary.starts_with(start), "{}", problems[0].summary);
        assert!(workdir.check_override().is_ok());
    }

    #[test]
    fn the_workspace_is_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join(".terraform");
        assert_eq!(selected_workspace(&data).unwrap(), "default");
        select_workspace(&data, "q").unwrap();
        assert_eq!(std::fs::read(data.join("environment")).unwrap(), b"q");
        assert_eq!(selected_workspace(&data).unwrap(), "q");
    }
}
