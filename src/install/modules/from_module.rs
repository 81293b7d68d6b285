//! `init -from-module`: copies a module to a new folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::env;
use base::files::{Disk, Memory, WrittenIn};
use base::name::PROGRAM;
use base::secret::redacted;
use model::addr;
use model::config::module_source::{self, ModuleSource, SourceError};
use model::config::{Module, NoInputs, load_module, load_root};
use model::deps::ModuleLock;
use model::deps::module_manifest::ModuleManifest;

use super::checksum::{Checksums, Installed};
use super::folders::{self, CopyScope};
use super::walk::{Input, install};
use super::{Fetcher, checksum};
use crate::event::ModuleEvent;
use crate::registry::discovery::Hosts;

/// The name of the only call of the module that stands for the caller.
const ROOT: &str = "root";

/// Events while copying.
pub enum Copying {
    Module(ModuleEvent),
    /// A module that the copied one calls is there.
    Child(addr::Module),
}

/// Fills the working directory with the module at a source address; what that calls goes below `modules_dir`.
pub async fn copy_module(
    dialect: Dialect,
    hosts: Arc<Hosts>,
    fetcher: Arc<Fetcher>,
    source: &str,
    modules_dir: &Path,
    tell: &mut (dyn FnMut(Copying) + Send),
) -> Diagnostics {
    if let Err(problem) = check_empty() {
        return problem.into();
    }
    let staging = modules_dir.parent().unwrap_or(Path::new(".")).join("init-from-module");
    let made = folders::remove(&staging).and_then(|()| std::fs::create_dir_all(&staging));
    if let Err(e) = made {
        let detail = format!("Failed to create temporary directory {}: {e}.", staging.display());
        return Diagnostic::error("Failed to create temporary directory", detail).into();
    }
    let caller = match caller(dialect, source) {
        Ok(caller) => caller,
        Err(problem) => return problem.into(),
    };
    let input = Input {
        root: &caller,
        test_calls: Vec::new(),
        modules_dir: &staging,
        manifest: ModuleManifest::default(),
        lock: ModuleLock::default(),
        upgrade: true,
        checksums: Checksums::Record,
        guard: None,
    };
    let mut hear = |event: ModuleEvent| {
        if let ModuleEvent::Downloading { path, package, version } = event
            && path.0.len() > 1
        {
            tell(Copying::Module(ModuleEvent::Downloading { path: below_root(&path), package, version }));
        }
    };
    let outcome = install(hosts, fetcher, input, &mut hear).await;
    let mut diagnostics: Diagnostics =
        outcome.diagnostics.into_iter().map(|d| Diagnostic { subject: None, ..d }).collect();
    if !diagnostics.has_errors() {
        let moved = move_into_place(dialect, source, &outcome.manifest, &staging, modules_dir, tell);
        diagnostics.extend(moved);
    }
    // A remaining folder does no harm.
    let _ = folders::remove(&staging);
    diagnostics
}

fn check_empty() -> Result<(), Diagnostic> {
    let entries = std::fs::read_dir(".").map_err(|e| {
        Diagnostic::error("Failed to read target directory", format!("Error reading . to ensure it is empty: {e}."))
    })?;
    if entries.flatten().all(|entry| entry.file_name() == ".terraform") {
        return Ok(());
    }
    Err(Diagnostic::error(
        "Can't populate non-empty directory",
        "The target directory . is not empty, so it cannot be initialized with the -from-module=... option.",
    ))
}

/// A module that calls the source and nothing else.
fn caller(dialect: Dialect, source: &str) -> Result<Module, Diagnostic> {
    // Relative to the current folder, but a separate package.
    let relative = [".", "./", "../"].iter().any(|start| source.starts_with(start));
    let source = match env::working_dir().ok().filter(|_| relative) {
        Some(here) => module_source::clean(&here.join(source).display().to_string().replace('\\', "/")),
        None => source.to_owned(),
    };
    let invalid = |why: String| {
        let detail = format!("Failed to parse module source address: {why}");
        Diagnostic::error(module_source::INVALID_SOURCE, detail)
    };
    match module_source::parse(&source) {
        Ok(_) => {}
        Err(SourceError::MaybeRelative) => {
            return Err(invalid(format!(
                "{PROGRAM} cannot detect a supported external module source type for {source}"
            )));
        }
        Err(SourceError::Invalid(why)) => return Err(invalid(why)),
    }
    let quoted = source.replace('\\', "\\\\").replace('"', "\\\"").replace("${", "$${").replace("%{", "%%{");
    let text = format!("module \"{ROOT}\" {{\n  source = \"{quoted}\"\n}}\n");
    let files = WrittenIn(dialect, Memory::of([("main.tf", text)]));
    let (module, mut diagnostics) = load_root(Path::new("."), &files, Arc::new(NoInputs));
    match module {
        Some(module) if !diagnostics.has_errors() => Ok(module),
        _ => Err(diagnostics.iter_mut().next().cloned().unwrap_or_else(|| invalid(redacted(&source)))),
    }
}

/// Brings what was installed aside to its place.
fn move_into_place(
    dialect: Dialect,
    source: &str,
    manifest: &ModuleManifest,
    staging: &Path,
    modules_dir: &Path,
    tell: &mut (dyn FnMut(Copying) + Send),
) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let mut settled = ModuleManifest::default();
    settled.insert(addr::Module::root(), "", None, Path::new("."));
    let aside = Installed::load(staging);
    let mut installed = Installed::default();
    for (path, record) in manifest.iter().filter(|(path, _)| !path.is_root()) {
        let new = below_root(path);
        if new.is_root() {
            if let Err(e) = folders::copy(&record.dir, Path::new("."), CopyScope::Visible) {
                let from = record.dir.display();
                let detail = format!("Error copying root module {:?} from {from} to .: {e}.", redacted(source));
                diagnostics.error("Failed to copy root module", detail);
                return diagnostics;
            }
            diagnostics.extend(parent_references(dialect, source));
            continue;
        }
        tell(Copying::Child(new.clone()));
        let (old_place, place) = (staging.join(path.0.join(".")), modules_dir.join(new.0.join(".")));
        // Local modules came with their callers, and are found again there.
        let Ok(folder) = record.dir.strip_prefix(&old_place) else { continue };
        let moved = std::fs::create_dir_all(modules_dir)
            .and_then(|()| folders::replace(&old_place, &place, &staging.join(format!("old-{}", new.0.join(".")))));
        if let Err(e) = moved {
            diagnostics.error("Failed to copy descendant module", format!("Error copying module {new}: {e}."));
            continue;
        }
        let dir = if folder.as_os_str().is_empty() { place } else { place.join(folder) };
        settled.insert(new.clone(), &record.source, record.version.clone(), &dir);
        if let Some(package) = aside.packages.get(&path.0.join(".")) {
            installed.packages.insert(new.0.join("."), package.clone());
        }
    }
    if let Err(e) = keep(&settled, &installed, modules_dir) {
        diagnostics.error("Failed to write module manifest", format!("Error writing module manifest: {e}."));
    }
    diagnostics
}

fn keep(manifest: &ModuleManifest, installed: &checksum::Installed, modules_dir: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(modules_dir)?;
    installed.save(modules_dir)?;
    base::atomic::write(&modules_dir.join("modules.json"), manifest.to_json().as_bytes())
}

fn below_root(path: &addr::Module) -> addr::Module {
    path.0.iter().skip(1).cloned().collect::<Vec<_>>().into()
}

/// A module that reaches above itself cannot do so from its new place.
fn parent_references(dialect: Dialect, source: &str) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let (module, _) = load_module(Path::new("."), addr::Module::root(), &WrittenIn(dialect, Disk));
    for call in module.iter().flat_map(|module| module.calls.values()) {
        let Ok(ModuleSource::Local(path)) = module_source::parse(&call.source) else { continue };
        let (package, folder) = module_source::split_folder(source);
        let folder = module_source::clean(PathBuf::from(folder).join(&path).to_string_lossy().as_ref());
        if !call.source.starts_with("../") || module_source::leads_outside(&folder) {
            continue;
        }
        let address = if folder == "." { package } else { format!("{package}//{folder}") };
        diagnostics.error(
            "Root module references parent directory",
            format!(
                "The requested module {:?} refers to a module via its parent directory. To use this as a new root module this source \
                 string must be rewritten as a remote source address, such as {:?}.",
                redacted(source),
                redacted(&address)
            ),
        );
    }
    diagnostics
}
