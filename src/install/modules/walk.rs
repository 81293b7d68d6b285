//! The walk: from a module's calls to what they call, a task per call, reported in the order of the tree.

use std::collections::BTreeSet;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::files::{Disk, WrittenIn};
use base::name::COMMAND;
use base::secret::{redacted, without_secrets};
use model::addr;
use model::config::module_source::{self, ModuleSource, RegistrySource, RemoteSource};
use model::config::{Module, ModuleCall, StaticContext, evaluate_static_arguments, load_module};
use model::deps::module_manifest::{ModuleManifest, ModuleRecord};
use model::deps::{ModuleLock, PackageId, Version};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::checksum::{self, Checksums, Installed, InstalledModule};
use super::context::{Caller, Context, Item, Task, staging};
use super::fetch::{FetchError, Fetcher};
use super::folders;
use super::guard::{ModuleGuard, ResolvedModule};
use super::packages::{ModulePackageError, Packages};
use super::resolutions::Resolutions;
use crate::event::ModuleEvent;
use crate::opentofu;
use crate::registry::discovery::Hosts;

/// What to install, and over what.
pub struct Input<'a> {
    pub root: &'a Module,
    /// Calls beside those of the root, each with the path of what calls it: the modules that tests bring.
    pub test_calls: Vec<(addr::Module, ModuleCall)>,
    /// `.terraform/modules`; it exists.
    pub modules_dir: &'a Path,
    /// What is recorded as installed.
    pub manifest: ModuleManifest,
    /// The packages whose content is known.
    pub lock: ModuleLock,
    /// Fetch all packages again, in the newest allowed version, and accept changed content.
    pub upgrade: bool,
    pub checksums: Checksums,
    /// Asked before each module.
    pub guard: Option<Arc<dyn ModuleGuard>>,
}

/// What is installed in the end, problems or not.
pub struct Outcome {
    pub manifest: ModuleManifest,
    /// Complete only if there are no errors.
    pub lock: ModuleLock,
    pub diagnostics: Diagnostics,
}

/// Calls are not followed deeper; loading reports the error.
const MAX_DEPTH: usize = 64;

/// Brings every module that the root needs to its folder. What was installed before stays if it is what the calls ask for.
pub async fn install(
    hosts: Arc<Hosts>,
    fetcher: Arc<Fetcher>,
    input: Input<'_>,
    tell: &mut (dyn FnMut(ModuleEvent) + Send),
) -> Outcome {
    let mut outcome =
        Outcome { manifest: ModuleManifest::default(), lock: input.lock.clone(), diagnostics: Diagnostics::new() };
    outcome.manifest.insert(addr::Module::root(), "", None, &input.root.dir);
    let staging = match staging(input.modules_dir) {
        Ok(staging) => staging,
        Err(e) => {
            let detail = format!("A temporary folder in {} could not be created: {e}.", input.modules_dir.display());
            outcome.diagnostics.error("Failed to install modules", detail);
            return outcome;
        }
    };
    let (downloads, progress) = unbounded_channel();
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    let context = Arc::new(Context {
        hosts,
        fetcher,
        modules_dir: input.modules_dir.to_owned(),
        manifest: input.manifest,
        installed: Installed::load(input.modules_dir),
        lock: input.lock,
        upgrade: input.upgrade,
        checksums: input.checksums,
        guard: input.guard,
        packages: Packages::new(staging.path()),
        resolutions: Resolutions::default(),
        work: Semaphore::new(processors * 2),
        downloads,
    });
    let caller = |path: addr::Module, early| {
        Arc::new(Caller { path, dir: input.root.dir.clone(), source: None, parent: None, early, fresh: false })
    };
    let calls = input.root.calls.values().cloned().collect();
    let mut tree = spawn(&context, &caller(addr::Module::root(), input.root.static_context.clone()), calls);
    for (path, call) in input.test_calls {
        tree.extend(spawn(&context, &caller(path, None), vec![call]));
    }
    let collected = collect(tree, progress, &mut outcome, tell).await;
    collected.finish(&context, &mut outcome);
    outcome
}

/// A task for each call, sorted by name.
fn spawn(context: &Arc<Context>, caller: &Arc<Caller>, mut calls: Vec<ModuleCall>) -> Vec<UnboundedReceiver<Item>> {
    calls.sort_by(|a, b| a.name.cmp(&b.name));
    let mut tree = Vec::with_capacity(calls.len());
    // A source that could not be evaluated is reported when the whole is loaded.
    for call in calls.into_iter().filter(|call| call.unevaluated.is_none()) {
        let Ok(source) = module_source::parse(&call.source) else { continue };
        let path = caller.path.child(&call.name);
        if path.0.len() > MAX_DEPTH {
            continue;
        }
        let (items, receiver) = unbounded_channel();
        let task = Task { context: context.clone(), caller: caller.clone(), call, path, source, items };
        tokio::spawn(run(task));
        tree.push(receiver);
    }
    tree
}

/// Results of the tasks, without events and problems.
#[derive(Default)]
struct Collected {
    used: BTreeSet<PackageId>,
    installed: Installed,
    hashes: Vec<(PackageId, model::deps::Hash)>,
}

/// Receives from every task to its end, in the order of the tree: a module, then what it calls, then its next sibling. Reports
/// at once how far downloads are.
async fn collect(
    mut tree: Vec<UnboundedReceiver<Item>>,
    mut downloads: UnboundedReceiver<ModuleEvent>,
    outcome: &mut Outcome,
    tell: &mut (dyn FnMut(ModuleEvent) + Send),
) -> Collected {
    let mut collected = Collected::default();
    let mut interrupted = false;
    tree.reverse();
    while let Some(task) = tree.last_mut() {
        let item = tokio::select! {
            biased;
            Some(progress) = downloads.recv() => {
                tell(progress);
                continue;
            }
            item = task.recv() => item,
        };
        match item {
            None => drop(tree.pop()),
            Some(Item::Event(event)) => tell(event),
            // All of them were interrupted; that is said once.
            Some(Item::Problem(problem)) if problem.kind == Kind::Interrupted && interrupted => {}
            Some(Item::Problem(problem)) => {
                interrupted |= problem.kind == Kind::Interrupted;
                outcome.diagnostics.push(problem);
            }
            Some(Item::Record(path, record)) => {
                outcome.manifest.insert(path, &record.source, record.version, &record.dir);
            }
            Some(Item::Package(path, id, content)) => {
                if let Some(content) = content {
                    let package = InstalledModule { hash: content.hash.to_string(), files: content.files };
                    collected.installed.packages.insert(path.0.join("."), package);
                    collected.hashes.push((id.clone(), content.hash));
                }
                collected.used.insert(id);
            }
            Some(Item::Children(children)) => tree.extend(children.into_iter().rev()),
        }
    }
    collected
}

impl Collected {
    /// Writes down what installed packages are made of, and what the lock is to hold.
    fn finish(self, context: &Context, outcome: &mut Outcome) {
        if context.checksums == Checksums::Off {
            return;
        }
        if self.installed != context.installed
            && let Err(e) = self.installed.save(&context.modules_dir)
        {
            outcome.diagnostics.warning("Failed to record the content of modules", e.to_string());
        }
        let lock = &mut outcome.lock;
        lock.packages.retain(|id, _| self.used.contains(id));
        for (id, hash) in self.hashes {
            let known = lock.packages.entry(id).or_default();
            if !known.contains(&hash) {
                *known = BTreeSet::from([hash]);
            }
        }
    }
}

/// What a task has found: where its module is, and whether that is new.
struct LocatedModule {
    dir: PathBuf,
    fresh: bool,
}

fn run(task: Task) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let found = match task.find().await {
            Ok(found) => found,
            Err(problems) => return problems.into_iter().for_each(|problem| task.send(Item::Problem(problem))),
        };
        let (dir, path) = (found.dir.clone(), task.path.clone());
        let (early, call) = (task.caller.early.clone(), task.call.clone());
        let loaded = task.context.on_disk(move || load_sound(&dir, path, early, &call)).await;
        let Some(module) = loaded.ok().flatten() else { return };
        let Task { context, caller, path, source, .. } = &task;
        let caller = Caller {
            path: path.clone(),
            dir: found.dir,
            source: Some(source.clone()),
            parent: Some(caller.clone()),
            early: module.static_context.clone(),
            fresh: found.fresh,
        };
        let children = spawn(context, &Arc::new(caller), module.calls.into_values().collect());
        task.send(Item::Children(children));
    })
}

/// A module with its calls' sources evaluated. What is wrong inside is said when the whole is loaded.
fn load_sound(dir: &Path, path: addr::Module, early: Option<StaticContext>, call: &ModuleCall) -> Option<Module> {
    let (module, problems) = load_module(dir, path, &WrittenIn(call.range.dialect(), Disk));
    let mut module = module?;
    if let Some(early) = early.filter(|_| !problems.has_errors()) {
        let early = early.child(&call.body, module.static_names());
        evaluate_static_arguments(&mut module, early, &mut Diagnostics::new());
    }
    Some(module)
}

impl Task {
    async fn find(&self) -> Result<LocatedModule, Diagnostics> {
        if self.context.stop().is_stopping() {
            return Err(self.interrupted().into());
        }
        if let Some(record) = self.recorded()
            && self.is_intact(record).await?
        {
            self.send(Item::Record(self.path.clone(), record.clone()));
            self.permit(record.version.as_ref())?;
            return Ok(LocatedModule { dir: record.dir.clone(), fresh: false });
        }
        let (dir, version) = match &self.source {
            ModuleSource::Local(path) => {
                self.permit(None)?;
                (self.local(path).inspect_err(|_| self.announce_unreadable())?, None)
            }
            ModuleSource::Registry(module) => {
                let (dir, version) = self.by_registry(module).await?;
                (dir, Some(version))
            }
            ModuleSource::Remote(remote) => (self.by_address(remote).await?, None),
        };
        let record = ModuleRecord { source: self.source.to_string(), version, dir: dir.clone() };
        self.send(Item::Record(self.path.clone(), record));
        self.send(Item::Event(ModuleEvent::Installed { path: self.path.clone(), dir: dir.clone() }));
        Ok(LocatedModule { dir, fresh: true })
    }

    /// Asks the guard for a module; what it says without errors is passed on.
    fn permit(&self, version: Option<&Version>) -> Result<(), Diagnostics> {
        let Some(guard) = &self.context.guard else { return Ok(()) };
        let found = guard.check(&ResolvedModule { path: &self.path, call: &self.call, version });
        if found.has_errors() {
            return Err(found);
        }
        found.into_iter().for_each(|warning| self.send(Item::Problem(warning)));
        Ok(())
    }

    /// Announces a module whose folder could not be found.
    fn announce_unreadable(&self) {
        if opentofu::announces_unreadable_modules(self.call.range.dialect()) {
            self.send(Item::Event(ModuleEvent::Installed { path: self.path.clone(), dir: PathBuf::new() }));
        }
    }

    /// What is installed already, if it is what the call asks for.
    fn recorded(&self) -> Option<&ModuleRecord> {
        if self.context.upgrade || self.caller.fresh {
            return None;
        }
        let record = self.context.manifest.get(&self.path)?;
        let constraints = self.constraints();
        let allowed = record.version.as_ref().is_none_or(|version| constraints.accepts_installed(version));
        (record.source == self.source.to_string() && allowed && record.dir.is_dir()).then_some(record)
    }

    fn id(&self, version: Option<&Version>) -> Option<PackageId> {
        let version = version.map(Version::to_string).unwrap_or_default();
        match &self.source {
            ModuleSource::Local(_) => None,
            ModuleSource::Registry(module) => Some(PackageId { source: module.package(), version }),
            ModuleSource::Remote(remote) => Some(PackageId { source: without_secrets(&remote.package), version }),
        }
    }

    /// Whether an installed package is unchanged. False: unknown, it has to be fetched again.
    async fn is_intact(&self, record: &ModuleRecord) -> Result<bool, Diagnostics> {
        let context = &self.context;
        let place = context.place(&self.path);
        let Some(id) = self.id(record.version.as_ref()) else { return Ok(true) };
        if context.checksums == Checksums::Off || place.is_symlink() {
            return Ok(true);
        }
        let known = context.lock.packages.get(&id).cloned();
        let made_of = context.installed.packages.get(&self.path.0.join(".")).cloned();
        let Some(made_of) = made_of else {
            // Another program installed it. It may have left out files, so it is only believed if it has all of them.
            let Some(known) = known else { return Ok(true) };
            let summed = context.on_disk(move || checksum::of_folder(&place)).await;
            let content = summed.ok().and_then(Result::ok).filter(|content| known.contains(&content.hash));
            let intact = content.is_some();
            if intact {
                self.send(Item::Package(self.path.clone(), id, content));
            }
            return Ok(intact);
        };
        let files = made_of.files.clone();
        let shown = place.clone();
        let now = context.on_disk(move || checksum::of_installed(&place, &files)).await;
        let now = now.and_then(|sum| sum).map_err(|e| e.to_string());
        let wanted = known.map_or_else(
            || made_of.hash.clone(),
            |known| known.iter().map(|hash| hash.as_str()).collect::<Vec<_>>().join(", "),
        );
        match now {
            Ok(hash) if wanted.split(", ").any(|known| known == hash.as_str()) => {
                let content = checksum::Content { hash, files: made_of.files };
                self.send(Item::Package(self.path.clone(), id, Some(content)));
                Ok(true)
            }
            now => {
                let came = now.map_or_else(|e| e, |hash| hash.to_string());
                Err(self.changed(&format!("The module in {}", shown.display()), &wanted, &came).into())
            }
        }
    }

    async fn by_registry(&self, module: &RegistrySource) -> Result<(PathBuf, Version), Diagnostics> {
        let version = self.select(module).await?;
        self.permit(Some(&version))?;
        self.send(Item::Event(ModuleEvent::Downloading {
            path: self.path.clone(),
            package: module.package(),
            version: Some(version.clone()),
        }));
        let remote = self.locate(module, &version).await?;
        let (place, shown) = (self.context.place(&self.path), redacted(&remote.to_string()));
        self.install_package(&remote, Some(&version)).await.map_err(|why| match why {
            Failed::Worded(problem) => *problem,
            Failed::Why(why) => self.problem(
                "Failed to download module",
                format!("Could not download module {} source code from {shown:?}: {why}.", self.label()),
            ),
        })?;
        let dir = match remote.folder.contains(['*', '?', '[']) {
            true => folders::sub_folder(&place, &remote.folder)
                .map_err(|e| self.problem("Failed to expand subdir globs", e.to_string()))?,
            false if remote.folder.is_empty() => place,
            false => place.join(&remote.folder),
        };
        if dir.is_dir() {
            return Ok((dir, version));
        }
        let (dir, folder) = (dir.display(), &remote.folder);
        Err(match remote.folder.is_empty() {
            true => self.problem(module_source::UNREADABLE_FOLDER, format!("The directory {dir} could not be read.")),
            false => self.problem(
                "Unreadable module subdirectory",
                format!("The directory {dir} does not exist. The target submodule {folder} does not exist within the target module."),
            ),
        }
        .into())
    }

    async fn by_address(&self, remote: &RemoteSource) -> Result<PathBuf, Diagnostics> {
        self.permit(None)?;
        let package = redacted(&remote.package);
        let path = self.path.clone();
        self.send(Item::Event(ModuleEvent::Downloading { path, package: package.clone(), version: None }));
        let place = self.context.place(&self.path);
        self.install_package(remote, None).await.map_err(|why| match why {
            Failed::Worded(problem) => *problem,
            Failed::Why(why) => self.problem(
                "Failed to download module",
                format!("Could not download module {} source code from {package:?}: {why}", self.label()),
            ),
        })?;
        let found = folders::sub_folder(&place, &remote.folder);
        let dir = found.map_err(|e| self.problem("Failed to expand subdir globs", e.to_string()))?;
        if dir.is_dir() {
            return Ok(dir);
        }
        let detail = format!("The directory {} could not be read.", dir.display());
        Err(self.problem(module_source::UNREADABLE_FOLDER, detail).into())
    }

    async fn install_package(&self, remote: &RemoteSource, version: Option<&Version>) -> Result<(), Failed> {
        let id = self.id(version).unwrap_or_else(|| PackageId { source: String::new(), version: String::new() });
        match self.context.install_package(&remote.package, &id, &self.path).await {
            Ok(package) => {
                if package.content.is_some() {
                    self.send(Item::Package(self.path.clone(), id, package.content.clone()));
                }
                Ok(())
            }
            Err(ModulePackageError::Fetch(FetchError::Interrupted)) => {
                Err(Failed::Worded(Box::new(self.interrupted())))
            }
            Err(ModulePackageError::Fetch(FetchError::Failed(why))) => Err(Failed::Why(why)),
            Err(ModulePackageError::Changed { known, came }) => {
                let what = format!("What came from {:?}", id.source);
                Err(Failed::Worded(Box::new(self.changed(&what, &known, &came))))
            }
        }
    }

    fn changed(&self, what: &str, known: &str, came: &str) -> Diagnostic {
        let file = model::deps::module_lock::MODULE_LOCK_FILE;
        self.problem(
            "Module package has changed",
            format!(
                "{what} has the checksum {came}, but {file} has {known}.\n\nIf \
                 you know the reason and want to use the current package of the source, run \"{COMMAND} init -upgrade\". Sources with a branch, \
                 or without a reference, change: use a tag or a commit (\"?ref=...\"). To work without checksums, set \
                 TERRANE_MODULE_CHECKSUMS=off."
            ),
        )
    }

    pub fn interrupted(&self) -> Diagnostic {
        let detail =
            format!("Interrupt signal received when downloading module {}.", redacted(&self.source.to_string()));
        self.problem("Module download was interrupted", detail).of_kind(Kind::Interrupted)
    }
}

enum Failed {
    /// It is worded already.
    Worded(Box<Diagnostic>),
    Why(String),
}
