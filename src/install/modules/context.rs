//! What all tasks of one installation share, and what they say.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::Diagnostic;
use base::process::ProcessId;
use base::stop::Stop;
use model::addr;
use model::config::module_source::ModuleSource;
use model::config::{ModuleCall, StaticContext};
use model::deps::module_manifest::{ModuleManifest, ModuleRecord};
use model::deps::{ModuleLock, PackageId};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::checksum::{Checksums, Content, Installed};
use super::fetch::Fetcher;
use super::guard::ModuleGuard;
use super::packages::Packages;
use super::resolutions::Resolutions;
use crate::event::ModuleEvent;
use crate::registry::discovery::Hosts;

/// One installation.
pub struct Context {
    pub hosts: Arc<Hosts>,
    pub fetcher: Arc<Fetcher>,
    pub modules_dir: PathBuf,
    /// What was installed before.
    pub manifest: ModuleManifest,
    pub installed: Installed,
    pub lock: ModuleLock,
    pub upgrade: bool,
    pub checksums: Checksums,
    pub guard: Option<Arc<dyn ModuleGuard>>,
    pub packages: Packages,
    pub resolutions: Resolutions,
    /// Work on the disk, which is not worth more threads than there are processors.
    pub work: Semaphore,
    /// Gets how far downloads are, which does not wait for the turn of the module.
    pub downloads: UnboundedSender<ModuleEvent>,
}

impl Context {
    pub fn stop(&self) -> &Stop {
        self.fetcher.http.stop()
    }

    pub fn report(&self, progress: ModuleEvent) {
        // The receiver is only gone if the whole installation was abandoned.
        let _ = self.downloads.send(progress);
    }

    /// Where a module's package belongs.
    pub fn place(&self, path: &addr::Module) -> PathBuf {
        self.modules_dir.join(path.0.join("."))
    }

    /// Runs work on the disk away from the tasks that wait for the network.
    pub async fn on_disk<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
        let _permit = self.work.acquire().await.map_err(io::Error::other)?;
        tokio::task::spawn_blocking(work).await.map_err(io::Error::other)
    }
}

/// A module that calls others, and those that lead to it.
pub struct Caller {
    pub path: addr::Module,
    pub dir: PathBuf,
    /// None for the root.
    pub source: Option<ModuleSource>,
    pub parent: Option<Arc<Caller>>,
    /// What the module's own sources and versions are evaluated with; None if it is not sound.
    pub early: Option<StaticContext>,
    /// It is new here: nothing that was recorded of what it calls counts.
    pub fresh: bool,
}

/// What a task says of its module; children are said last.
pub enum Item {
    Event(ModuleEvent),
    Record(addr::Module, ModuleRecord),
    /// A package that is in use, and what it holds if that is known.
    Package(addr::Module, PackageId, Option<Content>),
    Problem(Diagnostic),
    Children(Vec<UnboundedReceiver<Item>>),
}

/// A call that is being installed.
pub struct Task {
    pub context: Arc<Context>,
    pub caller: Arc<Caller>,
    pub call: ModuleCall,
    pub path: addr::Module,
    pub source: ModuleSource,
    pub items: UnboundedSender<Item>,
}

impl Task {
    pub fn send(&self, item: Item) {
        // The receiver is only gone if the whole installation was abandoned.
        let _ = self.items.send(item);
    }

    /// `"name" (file:line)`
    pub fn label(&self) -> String {
        format!("{:?} ({})", &*self.call.name, self.spot())
    }

    /// `file:line`
    pub fn spot(&self) -> String {
        format!("{}:{}", self.call.range.filename(), self.call.range.start().line)
    }

    pub fn problem(&self, summary: &str, detail: impl Into<String>) -> Diagnostic {
        Diagnostic::error(summary, detail).at(self.call.range.clone())
    }
}

/// Temporary folders begin so; the number of their process and when it started follow.
const STAGING: &str = ".fetching-";

/// A folder for what is not whole yet, on the disk where modules stay. What processes that are gone have left is removed.
pub fn staging(modules_dir: &Path) -> io::Result<tempfile::TempDir> {
    for entry in std::fs::read_dir(modules_dir)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix(STAGING).and_then(|rest| {
            let mut parts = rest.split('-').map(str::parse::<u64>);
            let (number, started) = (parts.next()?.ok()?, parts.next()?.ok()?);
            Some(ProcessId { number: u32::try_from(number).ok()?, started })
        });
        if owner.is_some_and(|owner| !owner.is_alive()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    let own = ProcessId::current();
    let prefix = format!("{STAGING}{}-{}-", own.number, own.started);
    tempfile::Builder::new().prefix(&prefix).tempdir_in(modules_dir)
}
