//! Where candidates come from that depend on the project.

use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::env::{self, Environment};
use base::stop::Stop;
use ops::backends::read_state;
use ops::interface::options::StateOptions;
use ops::setup::root::Root;
use ops::setup::{Setup, settings};
use ops::state::instances;
use ops::state::snapshots::{self, Snapshot};
use ops::state::workspaces;

use super::line::Line;
use crate::view::history::{operation_name, written};

/// Longer, and the user has typed on.
const PATIENCE: Duration = Duration::from_secs(2);

/// Candidates that depend on the project. What cannot be found out is left out.
pub trait Sources {
    /// Files and folders whose paths begin so; folders end in a slash.
    fn paths(&self, typed: &str) -> Vec<String>;
    /// The addresses of what the state holds.
    fn addresses(&self) -> Vec<String>;
    fn workspaces(&self) -> Vec<String>;
    /// The names of the root outputs in the state.
    fn outputs(&self) -> Vec<String>;
    /// The serials in the state's history with what wrote them and when, the newest first.
    fn snapshots(&self) -> Vec<(String, String)>;
}

/// The project in the working directory, or in that of the line's `-chdir`.
pub struct Project {
    environment: Environment,
    /// That of `-chdir`. None: the project is in the folder of the process.
    folder: Option<PathBuf>,
}

impl Project {
    pub fn new(environment: &Environment, line: &Line) -> Project {
        let folder = line.before.iter().find_map(|word| word.strip_prefix("-chdir=")).map(PathBuf::from);
        Project { environment: environment.clone(), folder }
    }

    /// What an operation in the project gives, unless something is wrong.
    fn ask<T, F: Future<Output = Option<T>>>(&self, work: impl FnOnce(Setup) -> F) -> Option<T> {
        let here = env::working_dir().ok()?;
        let (settings, _) = settings::load(&self.environment);
        let setup = Setup::new(&self.environment, settings, here, Stop::new(), None).ok()?;
        let setup = match &self.folder {
            Some(folder) => setup.in_root(Root::of(setup.dialect(), folder).ok()?).ok()?,
            None => setup,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        let done = runtime.block_on(async { tokio::time::timeout(PATIENCE, work(setup)).await.ok().flatten() });
        // What still waits must not hold up the shell.
        runtime.shutdown_background();
        done
    }
}

impl Sources for Project {
    fn paths(&self, typed: &str) -> Vec<String> {
        let (folder, _) = typed.rsplit_once('/').map_or(("", typed), |(folder, name)| (&typed[..=folder.len()], name));
        let base = self.folder.as_deref().unwrap_or(Path::new("."));
        let Ok(entries) = fs::read_dir(base.join(folder)) else { return Vec::new() };
        let mut found: Vec<String> = entries
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let slash = if entry.path().is_dir() { "/" } else { "" };
                Some(format!("{folder}{name}{slash}"))
            })
            // Hidden files are offered once the dot is typed.
            .filter(|path| !path[folder.len()..].starts_with('.') || typed[folder.len()..].starts_with('.'))
            .collect();
        found.sort_unstable();
        found
    }

    fn addresses(&self) -> Vec<String> {
        let found = self.ask(|setup| async move {
            let (found, _) = instances::list(&setup, &StateOptions::default(), &[], None).await.ok()?;
            Some(found.iter().map(ToString::to_string).collect())
        });
        found.unwrap_or_default()
    }

    fn workspaces(&self) -> Vec<String> {
        self.ask(|setup| async move { workspaces::list(&setup).await.ok() }).unwrap_or_default()
    }

    fn outputs(&self) -> Vec<String> {
        let found = self.ask(|setup| async move {
            let (_, loaded) = read_state::current(&setup, &StateOptions::default()).await.ok()?;
            Some(loaded.file?.state.outputs.keys().map(ToString::to_string).collect())
        });
        found.unwrap_or_default()
    }

    fn snapshots(&self) -> Vec<(String, String)> {
        let found = self.ask(|setup| async move { snapshots::list_of_machine(&setup).await.ok() });
        let mut snapshots = found.unwrap_or_default();
        // Of several with one serial, `state restore` takes the newest, which comes first.
        snapshots.dedup_by_key(|snapshot| snapshot.serial);
        let about = |one: &Snapshot| format!("{}, {}", operation_name(one), written(one));
        snapshots.iter().map(|one| (one.serial.to_string(), about(one))).collect()
    }
}
