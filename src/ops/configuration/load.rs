//! Loading the configuration of the working directory.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::files::{ConfigFiles, Disk, Entry, Files, Metadata, WrittenIn};
use base::name::COMMAND;
use model::config::test_file::{self, TestFile};
use model::config::{self, Config, Module, RootFiles, StaticInputs};
use model::deps::module_manifest::ModuleManifest;
use model::plan::file::ConfigSnapshot;
use model::version::at_least;
use terrane_value::Value;

use super::{data_stores, early_values};
use crate::setup::workdir::WorkDir;
use crate::setup::{DeclaredEncryption, Setup};

/// The record of installed modules; empty if there is none.
pub fn manifest(workdir: &WorkDir, files: &dyn Files) -> Result<ModuleManifest, Diagnostics> {
    let path = manifest_path(workdir);
    if !files.exists(&path) {
        return Ok(ModuleManifest::default());
    }
    let text = files.read_to_string(&path).map_err(|e| manifest_problem(&e.to_string()))?;
    ModuleManifest::parse(&text).map_err(|e| manifest_problem(&format!("{}: {e}", path.display())))
}

pub fn manifest_path(workdir: &WorkDir) -> PathBuf {
    workdir.modules_dir().join("modules.json")
}

fn manifest_problem(why: &str) -> Diagnostics {
    let detail =
        format!("Cannot read the record of installed modules: {why}. Run \"{COMMAND} init\" to write it again.");
    Diagnostic::error("Failed to read module manifest", detail).into()
}

/// A configuration with its files as they were read.
#[derive(Clone)]
pub struct LoadedConfig {
    pub config: Arc<Config>,
    pub snapshot: ConfigSnapshot,
}

/// The whole configuration under a root folder, with the modules that `init` installed. None if there is no such folder.
pub fn config(root: &Path, setup: &Setup, files: &dyn ConfigFiles) -> (Option<LoadedConfig>, Diagnostics) {
    config_of(RootFiles::Configuration, root, setup, files)
}

/// As [`config()`], for whichever version it is written.
pub fn any_config(root: &Path, setup: &Setup, files: &dyn ConfigFiles) -> (Option<LoadedConfig>, Diagnostics) {
    let loaded =
        config_with(RootFiles::Configuration, root, &setup.workdir, files, early_values::GivenValues::of(setup));
    note(setup, &loaded);
    loaded
}

/// As [`config()`], with the query files of the root folder.
pub fn config_with_queries(root: &Path, setup: &Setup, files: &dyn ConfigFiles) -> (Option<LoadedConfig>, Diagnostics) {
    config_of(RootFiles::WithQueries, root, setup, files)
}

fn config_of(
    which: RootFiles,
    root: &Path,
    setup: &Setup,
    files: &dyn ConfigFiles,
) -> (Option<LoadedConfig>, Diagnostics) {
    let loaded = config_with(which, root, &setup.workdir, files, early_values::GivenValues::of(setup));
    note(setup, &loaded);
    for_this_version(loaded)
}

/// Remembers what later steps need.
fn note(setup: &Setup, (loaded, _): &(Option<LoadedConfig>, Diagnostics)) {
    if let Some(loaded) = loaded {
        declare(setup, &loaded.config.root);
        data_stores::note(setup, &loaded.config);
        config::note_versions(setup.dialect(), loaded.config.modules().into_iter().map(|module| &**module));
    }
}

/// As [`config()`], with the values of a saved plan where the configuration needs some to be loaded.
pub fn planned_config(
    setup: &Setup,
    files: &dyn ConfigFiles,
    variables: &BTreeMap<Arc<str>, Value>,
) -> (Option<LoadedConfig>, Diagnostics) {
    let outside = early_values::PlannedValues::of(setup, variables);
    let loaded = config_with(RootFiles::Configuration, Path::new("."), &setup.workdir, files, outside);
    if let Some(loaded) = &loaded.0 {
        data_stores::note(setup, &loaded.config);
    }
    for_this_version(loaded)
}

/// A sound configuration must be written for this version too.
fn for_this_version(
    (loaded, mut diagnostics): (Option<LoadedConfig>, Diagnostics),
) -> (Option<LoadedConfig>, Diagnostics) {
    if let Some(loaded) = loaded.as_ref().filter(|_| !diagnostics.has_errors()) {
        diagnostics.extend(config::check_versions(&loaded.config));
    }
    (loaded, diagnostics)
}

fn config_with(
    which: RootFiles,
    root: &Path,
    workdir: &WorkDir,
    files: &dyn ConfigFiles,
    outside: Arc<dyn StaticInputs>,
) -> (Option<LoadedConfig>, Diagnostics) {
    let recorder = Recorder { files, read: Mutex::default() };
    let manifest = match manifest(workdir, &recorder) {
        Ok(manifest) => manifest,
        Err(diagnostics) => return (None, diagnostics),
    };
    let resolver = config::manifest_resolver(&manifest);
    let (config, diagnostics) = config::load_with(which, root, &recorder, &resolver, outside);
    let snapshot = recorder.snapshot();
    if let Some(config) = &config {
        tracing::debug!("configuration loaded: {} modules, {} files", config.modules().len(), snapshot.files.len());
    }
    for (path, content) in &snapshot.files {
        tracing::trace!("configuration read: {} ({} bytes)", path.display(), content.len());
    }
    (config.map(|config| LoadedConfig { config: Arc::new(config), snapshot }), diagnostics)
}

/// A configuration with its test files.
pub struct LoadedTests {
    pub config: Arc<Config>,
    pub tests: Vec<TestFile>,
}

/// The whole configuration under a root folder with its test files and what their runs test. None if nothing was loaded.
/// No test folder: test files are not looked at.
pub fn config_with_tests(root: &Path, test_dir: Option<&str>, setup: &Setup) -> (Option<LoadedTests>, Diagnostics) {
    let (loaded, mut diagnostics) = any_config_with_tests(RootFiles::Configuration, root, test_dir, setup);
    if let Some(loaded) = loaded.as_ref().filter(|_| !diagnostics.has_errors()) {
        diagnostics.extend(config::check_versions(&loaded.config));
    }
    (loaded, diagnostics)
}

/// As [`config_with_tests`], for what has to be installed: with query files, if nothing is wrong with them.
pub fn config_to_install(root: &Path, test_dir: Option<&str>, setup: &Setup) -> (Option<LoadedTests>, Diagnostics) {
    if config::has_query_files(root, &setup.root) {
        let (loaded, mut diagnostics) = any_config_with_tests(RootFiles::WithQueries, root, test_dir, setup);
        if let Some(loaded) = loaded.filter(|_| !diagnostics.has_errors()) {
            diagnostics.extend(config::check_versions(&loaded.config));
            return (Some(loaded), diagnostics);
        }
    }
    config_with_tests(root, test_dir, setup)
}

/// As [`config_with_tests`], for whichever version it is written.
pub fn any_config_with_tests(
    which: RootFiles,
    root: &Path,
    test_dir: Option<&str>,
    setup: &Setup,
) -> (Option<LoadedTests>, Diagnostics) {
    let (mut tests, found) = tests(setup, root, test_dir);
    let outside = early_values::GivenValues::of(setup);
    if found.has_errors() {
        let (_, mut diagnostics) = config::load_root(root, &setup.root, outside);
        diagnostics.extend(found);
        return (None, diagnostics);
    }
    let (loaded, mut diagnostics) = config_with(which, root, &setup.workdir, &setup.root, outside.clone());
    diagnostics.extend(found);
    let Some(config) = loaded.map(|loaded| loaded.config) else { return (None, diagnostics) };
    data_stores::note(setup, &config);
    let sound = || !config::load_root(root, &setup.root, outside.clone()).1.has_errors();
    if !tests.is_empty() && (!diagnostics.has_errors() || sound()) {
        let manifest = manifest(&setup.workdir, &setup.root).unwrap_or_default();
        let resolver = config::manifest_resolver(&manifest);
        let loader =
            |dir: &Path, resolver: &config::Resolver<'_>| config::load(dir, &setup.root, resolver, outside.clone());
        diagnostics.extend(test_file::load::link(&mut tests, &config, &setup.root, &resolver, &loader));
    }
    (Some(LoadedTests { config, tests }), diagnostics)
}

/// A configuration with its test files, each with what is wrong with it.
pub struct LoadedSuite {
    pub config: Arc<Config>,
    pub files: test_file::load::ReadFiles,
}

/// The configuration of the working directory with its test files, for whichever version it is written. What is wrong with a test file
/// stands beside it: it does not concern the others. None if there are errors in the configuration. `below`: also the test files in the
/// folders below the test folder.
pub fn suite(test_dir: &str, below: bool, setup: &Setup) -> (Option<LoadedSuite>, Diagnostics) {
    let root = Path::new(".");
    let (mut files, found) = match below {
        true => test_file::load::read_below(root, test_dir, &setup.root),
        false => test_file::load::read_each(root, test_dir, &setup.root),
    };
    let outside = early_values::GivenValues::of(setup);
    let (loaded, mut diagnostics) =
        config_with(RootFiles::Configuration, root, &setup.workdir, &setup.root, outside.clone());
    diagnostics.extend(found);
    let config = match loaded {
        Some(loaded) if !diagnostics.has_errors() => loaded.config,
        // As the reference shows it: with what is wrong with the test files.
        _ => return (None, any_config_with_tests(RootFiles::Configuration, root, Some(test_dir), setup).1),
    };
    data_stores::note(setup, &config);
    // Which runs there are in a file that cannot be read is not known.
    files.iter_mut().filter(|(_, problems)| problems.has_errors()).for_each(|(file, _)| file.runs.clear());
    let manifest = manifest(&setup.workdir, &setup.root).unwrap_or_default();
    let resolver = config::manifest_resolver(&manifest);
    let loader =
        |dir: &Path, resolver: &config::Resolver<'_>| config::load(dir, &setup.root, resolver, outside.clone());
    test_file::load::link_each(&mut files, &config, &setup.root, &resolver, &loader);
    (Some(LoadedSuite { config, files }), diagnostics)
}

/// The test files of a root module as they stand. No test folder: none.
pub fn tests(setup: &Setup, root: &Path, test_dir: Option<&str>) -> (Vec<TestFile>, Diagnostics) {
    test_dir.map(|dir| test_file::load::read(root, dir, &setup.root)).unwrap_or_default()
}

/// Whether the working directory holds any configuration.
pub fn has_configuration(setup: &Setup) -> bool {
    config::has_configuration(Path::new("."), &setup.root)
}

/// Whether there is anything to install: configuration, or since Terraform 1.12 tests alone.
pub fn has_something_to_install(setup: &Setup, test_dir: Option<&str>) -> bool {
    let has_tests = || test_dir.is_some_and(|dir| test_file::load::exist(Path::new("."), dir, &setup.root));
    has_configuration(setup) || at_least(12) && has_tests()
}

/// The root module alone, without what it calls. None if there is no configuration.
pub fn root_module(setup: &Setup) -> (Option<Module>, Diagnostics) {
    if !has_configuration(setup) {
        return (None, Diagnostics::new());
    }
    let (module, diagnostics) = config::load_root(Path::new("."), &setup.root, early_values::GivenValues::of(setup));
    if let Some(module) = &module {
        declare(setup, module);
        config::note_versions(setup.dialect(), [module]);
    }
    (module, diagnostics)
}

/// As [`root_module`]; what is wrong with the values in the backend's block comes by itself.
pub fn root_and_backend(setup: &Setup) -> (Option<Module>, Diagnostics, Diagnostics) {
    let found = config::load_root_and_backend(Path::new("."), &setup.root, early_values::GivenValues::of(setup));
    config::note_versions(setup.dialect(), &found.0);
    found
}

/// The warnings about what the root module passes to the installed modules, whatever else is wrong with it.
pub fn warnings_between_modules(setup: &Setup) -> Diagnostics {
    let manifest = manifest(&setup.workdir, &setup.root).unwrap_or_default();
    let resolver = config::manifest_resolver(&manifest);
    config::warnings_between_modules(Path::new("."), &setup.root, &resolver, early_values::GivenValues::of(setup))
}

/// The root module as far as its backend needs it. None if there is no configuration.
pub fn backend_module(setup: &Setup) -> (Option<Module>, Diagnostics) {
    if !has_configuration(setup) {
        return (None, Diagnostics::new());
    }
    let (module, diagnostics) =
        config::load_for_backend(Path::new("."), &setup.root, early_values::GivenValues::of(setup));
    if let Some(module) = module.as_ref().filter(|_| !diagnostics.has_errors()) {
        declare(setup, module);
        config::note_versions(setup.dialect(), [module]);
    }
    (module, diagnostics)
}

/// Remembers what the root module says of encryption.
fn declare(setup: &Setup, root: &Module) {
    let early = config::StaticContext::root(root.static_names(), early_values::GivenValues::of(setup));
    setup.encryption.declare(DeclaredEncryption { block: root.encryption.clone(), early });
}

/// What the root module says of encryption.
pub fn encryption(setup: &Setup) -> Result<DeclaredEncryption, Diagnostics> {
    let module = match has_configuration(setup) {
        true => {
            let (module, diagnostics) = config::load_module(Path::new("."), Default::default(), &setup.root);
            module.filter(|_| !diagnostics.has_errors()).ok_or(diagnostics)?
        }
        false => config::no_module(setup.dialect(), Path::new(".")),
    };
    declare(setup, &module);
    let early = config::StaticContext::root(module.static_names(), early_values::GivenValues::of(setup));
    Ok(DeclaredEncryption { block: module.encryption, early })
}

/// Settles the release that the run is compatible with, as far as the root module says something of it, for commands that read no
/// configuration.
pub fn note_root_version(dialect: Dialect) {
    if config::files_mention(Path::new("."), &WrittenIn(dialect, Disk), "required_version")
        && let (Some(module), _) = module_alone(dialect, Path::new("."))
    {
        config::note_versions(dialect, [&module]);
    }
}

/// The module in a folder, without the modules that it calls.
pub fn module_alone(dialect: Dialect, dir: &Path) -> (Option<Module>, Diagnostics) {
    config::load_module(dir, Default::default(), &WrittenIn(dialect, Disk))
}

/// False if no file of the root module speaks of encryption, which is found out without reading any as a configuration.
pub fn may_encrypt(setup: &Setup) -> bool {
    config::files_mention(Path::new("."), &setup.root, "encryption")
}

/// Remembers what is read through it.
struct Recorder<'a> {
    files: &'a dyn ConfigFiles,
    read: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
}

impl Recorder<'_> {
    fn snapshot(&self) -> ConfigSnapshot {
        let read = std::mem::take(&mut *self.read.lock().unwrap_or_else(|e| e.into_inner()));
        ConfigSnapshot { files: read.into_iter().collect() }
    }
}

impl Files for Recorder<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let content = self.files.read(path)?;
        self.read.lock().unwrap_or_else(|e| e.into_inner()).insert(path.to_path_buf(), content.clone());
        Ok(content)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.files.metadata(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        self.files.list(path)
    }
}

impl ConfigFiles for Recorder<'_> {
    fn dialect(&self) -> Dialect {
        self.files.dialect()
    }
}
