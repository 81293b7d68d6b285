//! Installing modules: for `init`, for `get`, and the copy of `init -from-module`.

use std::io;
use std::path::Path;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::files::{Disk, Files};
use base::source::SourceFile;
use base::{atomic, env};
use install::event::ModuleEvent;
use install::modules::from_module::{self, Copying};
use install::modules::{Checksums, Input, ModuleGuard, install};
use model::addr;
use model::config::{Module, ModuleCall};
use model::deps::ModuleLock;
use model::deps::module_lock::MODULE_LOCK_FILE;

use super::interface::{InitEvent, TellInit};
use crate::configuration::load;
use crate::policies::install_gate::InstallGate;
use crate::setup::Setup;
use crate::setup::network::Network;

/// How modules are to be installed.
#[derive(Clone, Default)]
pub struct ModuleRequest {
    /// Fetch everything anew.
    pub upgrade: bool,
    /// Write down no checksums that are not known yet.
    pub readonly: bool,
    /// Policies that decide on the modules.
    pub gate: Option<Arc<InstallGate>>,
}

/// Installs everything that the root module calls, however indirectly, and records it.
pub async fn run(
    setup: &Setup,
    network: &Network,
    root: &Module,
    test_calls: Vec<(addr::Module, ModuleCall)>,
    request: ModuleRequest,
    tell: TellInit<'_>,
) -> Diagnostics {
    let modules_dir = setup.workdir.modules_dir();
    let manifest = match load::manifest(&setup.workdir, &setup.root) {
        Ok(manifest) => manifest,
        Err(problems) => return problems,
    };
    if root.calls.is_empty() && test_calls.is_empty() && manifest.is_empty() {
        return Diagnostics::new();
    }
    let mut checksums = Checksums::parse(setup.environment.get(env::TERRANE_MODULE_CHECKSUMS).unwrap_or_default());
    if request.readonly && checksums == Checksums::Record {
        checksums = Checksums::Verify;
    }
    let (known, mut diagnostics) = lock_file();
    if diagnostics.has_errors() {
        return diagnostics;
    }
    if let Err(e) = std::fs::create_dir_all(&modules_dir) {
        return not_written(&e).into();
    }
    let input = Input {
        root,
        test_calls,
        modules_dir: &modules_dir,
        manifest,
        lock: known.clone(),
        upgrade: request.upgrade,
        checksums,
        guard: request.gate.clone().map(|gate| gate as Arc<dyn ModuleGuard>),
    };
    let mut hear = |event: ModuleEvent| tell(InitEvent::Module(event));
    let outcome = install(network.hosts.clone(), network.fetcher.clone(), input, &mut hear).await;
    diagnostics.extend(outcome.diagnostics);
    let reports = request.gate.iter().flat_map(|gate| gate.take_reports());
    reports.for_each(|report| tell(InitEvent::Policy(report)));
    // Installed modules stay usable, also if others failed.
    let path = load::manifest_path(&setup.workdir);
    if let Err(e) = atomic::write(&path, outcome.manifest.to_json().as_bytes()) {
        diagnostics.push(not_written(&e));
    }
    if !diagnostics.has_errors() && checksums == Checksums::Record {
        diagnostics.extend(keep_lock(&known, &outcome.lock, tell).err());
    }
    diagnostics
}

fn not_written(e: &io::Error) -> Diagnostic {
    Diagnostic::error("Failed to update module manifest", format!("Unable to write the module manifest file: {e}"))
}

fn lock_file() -> (ModuleLock, Diagnostics) {
    let path = Path::new(MODULE_LOCK_FILE);
    match Disk.read_to_string(path) {
        Ok(text) => ModuleLock::parse(SourceFile::new(MODULE_LOCK_FILE, text)),
        Err(_) if !Disk.exists(path) => (ModuleLock::default(), Diagnostics::new()),
        Err(e) => {
            let detail = format!("The checksums of modules could not be read: {e}.");
            (ModuleLock::default(), Diagnostic::error("Failed to read module checksums", detail).into())
        }
    }
}

fn keep_lock(known: &ModuleLock, new: &ModuleLock, tell: TellInit<'_>) -> Result<(), Diagnostic> {
    let path = Path::new(MODULE_LOCK_FILE);
    let exists = Disk.exists(path);
    if known == new || (new.packages.is_empty() && !exists) {
        return Ok(());
    }
    atomic::write(path, new.to_text().as_bytes()).map_err(|e| {
        Diagnostic::error(
            "Failed to write module checksums",
            format!("The checksums of modules could not be written: {e}."),
        )
    })?;
    tell(if exists { InitEvent::ModuleLockChanged } else { InitEvent::ModuleLockCreated });
    Ok(())
}

/// Fills the working directory with a copy of a module.
pub async fn copy(setup: &Setup, network: &Network, source: &str, tell: TellInit<'_>) -> Diagnostics {
    if load::has_configuration(setup) {
        return Diagnostic::error(
            "The working directory already contains files. The -from-module option requires\nan empty directory into which a copy of \
             the referenced module will be placed.\n\nTo initialize the configuration already in this working directory, omit \
             the\n-from-module option.",
            "",
        )
        .into();
    }
    tell(InitEvent::Copying(base::secret::redacted(source)));
    let mut hear = |event: Copying| {
        tell(match event {
            Copying::Module(event) => InitEvent::Module(event),
            Copying::Child(path) => InitEvent::Copied(path),
        });
    };
    let modules_dir = setup.workdir.modules_dir();
    let (hosts, fetcher) = (network.hosts.clone(), network.fetcher.clone());
    let dialect = setup.environment.dialect();
    let diagnostics = from_module::copy_module(dialect, hosts, fetcher, source, &modules_dir, &mut hear).await;
    if !diagnostics.has_errors() {
        tell(InitEvent::CopyDone);
    }
    diagnostics
}
