//! The working directory: where its data lives and which workspace is selected.

use std::path::PathBuf;

use super::backend_record as record;
use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::env::{self, Environment};

/// Paths are relative to the working directory unless the user gave an absolute one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkDir {
    pub data_dir: PathBuf,
    pub workspace: String,
    /// The workspace was chosen by a variable, not by the selected one.
    pub workspace_overridden: bool,
}

impl WorkDir {
    pub fn open(environment: &Environment) -> Result<WorkDir, Diagnostics> {
        let data_dir = PathBuf::from(environment.non_empty(env::TF_DATA_DIR).unwrap_or(".terraform"));
        if let Some(name) = environment.non_empty(env::TF_WORKSPACE) {
            if !is_workspace_name(name) {
                return Err(invalid_workspace(name));
            }
            return Ok(WorkDir { data_dir, workspace: name.to_string(), workspace_overridden: true });
        }
        let workspace = record::selected_workspace(&data_dir).map_err(|e| {
            Diagnostics::from(Diagnostic::error("Failed to read the selected workspace", e.to_string()))
        })?;
        Ok(WorkDir { data_dir, workspace, workspace_overridden: false })
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

fn invalid_workspace(name: &str) -> Diagnostics {
    Diagnostic::error(
        format!("The workspace name {name:?} is not allowed. The name must contain only URL safe\ncharacters, and no path separators.\n"),
        "",
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_say_where_and_which() {
        let environment = Environment::of([("TF_DATA_DIR", "d"), ("TF_WORKSPACE", "w-1")]);
        let workdir = WorkDir::open(&environment).unwrap();
        assert_eq!((workdir.workspace.as_str(), workdir.providers_dir()), ("w-1", "d/providers".into()));
        for name in ["a/b", "ä", ".", ".."] {
            assert!(WorkDir::open(&Environment::of([("TF_WORKSPACE", name)])).is_err(), "{name}");
        }
    }
}
