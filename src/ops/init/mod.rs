//! `init`: modules (`modules`), backend and providers (`install`) made ready; `get`, `providers lock` and `providers mirror` are parts
//! of it. Never starts a provider.

mod install;
mod modules;
pub mod providers_lock;
pub mod providers_mirror;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use crate::backend::table;
use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::files::{Disk, Files};
use crate::base::name::{COMMAND, PROGRAM};
use crate::base::source::SourceFile;
use crate::install::event::{InstallEvent, ModuleEvent};
use crate::model::addr;
use crate::model::config::{self, Backend, Config, Module, test_file, values_file};
use crate::model::mistakes::{INVALID_BACKEND_TYPE, UNREADABLE_FILE};

use crate::ops::backends::record;
use crate::ops::backends::{self, same};
use crate::ops::configuration::load;
use crate::ops::interface::options::StateOptions;
use crate::ops::setup::Setup;
use crate::ops::setup::network::Network;
use modules::ModuleRequest;

#[derive(Clone, Debug, Default)]
pub struct InitRequest {
    /// A module to copy into the folder first.
    pub from_module: Option<String>,
    pub upgrade: bool,
    pub get: bool,
    pub backend: bool,
    /// `key=value`, or the path of a file of them.
    pub backend_config: Vec<String>,
    pub reconfigure: bool,
    pub migrate_state: bool,
    pub plugin_dirs: Vec<PathBuf>,
    pub lockfile_readonly: bool,
    /// The folder of test files; none: they are not looked at.
    pub test_dir: Option<String>,
}

/// What can be heard while a working directory is made ready.
pub enum InitEvent {
    /// There is no configuration: nothing was done.
    Empty,
    Backend,
    /// A backend was opened that was not in use before.
    BackendSet(String),
    /// There was a backend, and now there is none.
    BackendUnset(String),
    Modules {
        upgrade: bool,
    },
    Module(ModuleEvent),
    /// The folder is filled with a copy of the module at this address (which holds no secrets).
    Copying(String),
    /// A module that the copied one calls is there.
    Copied(addr::Module),
    CopyDone,
    /// The checksums of modules are new, or not what they were.
    ModuleLockCreated,
    ModuleLockChanged,
    Providers,
    Install(InstallEvent),
    /// Somebody else than the makers of the language signed one of the packages; what to know about that.
    Strangers(&'static str),
    /// The lock file is new, or not what it was.
    LockCreated,
    LockChanged,
    Done,
}

pub type Tell<'a> = &'a mut (dyn FnMut(InitEvent) + Send);

/// Makes the working directory ready.
pub async fn run(setup: &Setup, request: &InitRequest, tell: Tell<'_>) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let network = Network::new(setup);
    if let Some(source) = &request.from_module {
        diagnostics.extend(modules::copy(setup, &network, source, tell).await);
        if diagnostics.has_errors() {
            return diagnostics;
        }
    }
    if !load::has_configuration() {
        tell(InitEvent::Empty);
        return diagnostics;
    }
    let (root, early) = load::root_module(setup);
    let Some(root) = root else { return not_sound(early) };
    let mut of_backend = Diagnostics::new();
    if request.backend {
        tell(InitEvent::Backend);
        of_backend = backend(setup, root.backend.as_ref(), request, tell).await;
    }
    // Mistakes of the root module wait: its modules may say better what is wrong, such as that they need another version.
    let (tests, _) = load::tests(Path::new("."), request.test_dir.as_deref());
    let besides = test_file::load::calls(&tests);
    let calls = !(root.calls.is_empty() && besides.is_empty());
    // What is called no more is forgotten, unless the calls may only be hidden by a mistake.
    if request.get && (calls || !early.has_errors()) {
        if calls {
            tell(InitEvent::Modules { upgrade: request.upgrade });
        }
        let wanted = ModuleRequest { upgrade: request.upgrade, readonly: request.lockfile_readonly };
        let found = modules::run(setup, &network, &root, besides, wanted, tell).await;
        let own = version_problems(root.clone()).filter(|_| calls).unwrap_or_else(|| early.clone());
        if found.has_errors() || own.has_errors() {
            diagnostics.extend(own);
            diagnostics.extend(found);
            return diagnostics;
        }
        diagnostics.extend(found);
    }
    let (loaded, found) = load::config_with_tests(Path::new("."), request.test_dir.as_deref(), setup);
    let loaded = match loaded {
        Some(loaded) if !found.has_errors() => loaded,
        loaded => {
            let config = loaded.map(|loaded| loaded.config);
            let problems = config.as_ref().and_then(|config| version_problems(Module::clone(&config.root)));
            return problems.unwrap_or_else(|| {
                diagnostics.extend(of_backend);
                // What is wrong between modules that were just installed needs no word on why that matters.
                let installed = request.get && calls && config.is_some();
                diagnostics.extend(if installed { found } else { not_sound(found) });
                diagnostics
            });
        }
    };
    diagnostics.extend(of_backend);
    if diagnostics.has_errors() {
        return diagnostics;
    }
    add_new(&mut diagnostics, found);
    let failed = install::run(setup, &network, &loaded, request, tell, &mut diagnostics).await;
    if !failed {
        tell(InitEvent::Done);
    }
    diagnostics
}

/// What is wrong with the versions that modules ask for, if anything: everything else may follow from that.
fn version_problems(root: Module) -> Option<Diagnostics> {
    let found = config::check_versions(&Config { root: Arc::new(root) });
    found.has_errors().then_some(found)
}

/// Adds what was not said before: installing a module and loading it find the same.
fn add_new(diagnostics: &mut Diagnostics, found: Diagnostics) {
    for diagnostic in found {
        if !diagnostics.iter().any(|d| d.summary == diagnostic.summary && d.subject == diagnostic.subject) {
            diagnostics.push(diagnostic);
        }
    }
}

/// What is wrong with the configuration, with a word on why that matters here.
fn not_sound(mut found: Diagnostics) -> Diagnostics {
    let mut word = Diagnostic::error(
        format!(
            "{PROGRAM} encountered problems during initialisation, including problems\nwith the configuration, described below.\n\n\
         The {PROGRAM} configuration must be valid before initialization so that\n{PROGRAM} can determine which modules and \
         providers need to be installed."
        ),
        "",
    );
    word.prose_summary = true;
    found.push(word);
    found
}

/// Takes the backend of the configuration into use.
async fn backend(setup: &Setup, block: Option<&Backend>, request: &InitRequest, tell: Tell<'_>) -> Diagnostics {
    let mut warnings = Diagnostics::new();
    if block.is_none() && !request.backend_config.is_empty() {
        warnings.push(Diagnostic::warning(
            "Missing backend configuration",
            "-backend-config was used without a \"backend\" block in the configuration.\n\nIf you intended to override the \
             default local backend configuration,\nno action is required, but you may add an explicit backend block to \
             your\nconfiguration to clear this warning:\n\nterraform {\n  backend \"local\" {}\n}\n\nHowever, if you intended to \
             override a defined backend, please verify that\nthe backend configuration is present and valid.\n",
        ));
    }
    warnings.extend(configure(setup, block, request, tell).await.err().into_iter().flatten());
    warnings
}

async fn configure(
    setup: &Setup,
    block: Option<&Backend>,
    request: &InitRequest,
    tell: Tell<'_>,
) -> Result<(), Diagnostics> {
    let overlay = if block.is_some() { overlay(&request.backend_config)? } else { Map::new() };
    let (wanted, diagnostics) = backends::wanted(block, &overlay);
    let unknown = diagnostics.iter().any(|diagnostic| diagnostic.summary == INVALID_BACKEND_TYPE);
    if let Some(block) = block.filter(|_| unknown) {
        return Err(table::find(&block.kind)
            .map_or_else(|problem| problem.at(block.kind_range.clone()).into(), |_| diagnostics));
    }
    let recorded = backends::recorded(setup)?;
    let broken = diagnostics.has_errors();
    let changed = match (&wanted, &recorded) {
        _ if broken => true,
        (None, None) => return Ok(()),
        (Some(wanted), Some(recorded)) => !same(wanted, recorded),
        _ => true,
    };
    if changed && recorded.is_some() && !request.reconfigure && !request.migrate_state {
        return Err(Diagnostic::error(
            "Backend configuration changed",
            format!("A change in the backend configuration has been detected, which may require migrating existing state.\n\nIf you wish to attempt \
             automatic migration of the state, use \"{COMMAND} init -migrate-state\".\nIf you wish to store the current configuration with no \
             changes to the state, use \"{COMMAND} init -reconfigure\"."),
        )
        .into());
    }
    if broken {
        return Err(diagnostics);
    }
    if changed && !request.reconfigure {
        keep_state(setup, recorded.as_ref(), wanted.as_ref()).await?;
    }
    let write = record::write(&setup.workdir.data_dir, wanted.as_ref());
    write.map_err(|e| Diagnostics::from(Diagnostic::error("Failed to save the backend's settings", e.to_string())))?;
    match (changed || request.reconfigure, wanted, recorded) {
        (true, Some(wanted), _) => tell(InitEvent::BackendSet(wanted.kind)),
        (true, None, Some(recorded)) if !request.reconfigure => tell(InitEvent::BackendUnset(recorded.kind)),
        _ => {}
    }
    Ok(())
}

/// A state that would be left behind is a reason to stop: moving it is not built yet.
async fn keep_state(
    setup: &Setup,
    old: Option<&record::BackendRecord>,
    new: Option<&record::BackendRecord>,
) -> Result<(), Diagnostics> {
    let options = StateOptions::default();
    let workspace = &setup.workdir.workspace;
    let before = backends::open_record(setup, old, &options, workspace).await?;
    let after = backends::open_record(setup, new, &options, workspace).await?;
    let read =
        |e: crate::backend::StoreError| Diagnostics::from(Diagnostic::error("Failed to read the state", e.to_string()));
    let before = before.store.read().await.map_err(read)?;
    let after = after.store.read().await.map_err(read)?;
    if before.is_none() || before == after {
        return Ok(());
    }
    Err(Diagnostic::error(
        "Moving a state is not supported yet",
        format!("There is a state where the working directory kept it until now, and this version of {PROGRAM} cannot move it to the new place. Move \
         the file yourself and run \"{COMMAND} init -reconfigure\". Nothing was changed."),
    )
    .into())
}

fn overlay(given: &[String]) -> Result<Map<String, Json>, Diagnostics> {
    let mut overlay = Map::new();
    for text in given {
        if let Some((name, value)) = text.split_once('=') {
            overlay.insert(name.to_string(), value.into());
            continue;
        }
        let content = Disk.read_to_string(Path::new(text)).map_err(|e| {
            Diagnostics::from(Diagnostic::error(UNREADABLE_FILE, format!("The file {text:?} could not be read: {e}.")))
        })?;
        let (values, diagnostics) = values_file::parse_file(SourceFile::new(text.as_str(), content));
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        for (name, given) in values {
            overlay.insert(name.to_string(), given.value.as_str().map_or(Json::Null, Json::from));
        }
    }
    Ok(overlay)
}

/// `get`: the modules alone.
pub async fn get(setup: &Setup, upgrade: bool, tell: Tell<'_>) -> Diagnostics {
    let (root, early) = load::root_module(setup);
    let Some(root) = root else { return early };
    let network = Network::new(setup);
    let request = ModuleRequest { upgrade, readonly: false };
    let (tests, _) = load::tests(Path::new("."), Some(test_file::DEFAULT_DIR));
    let besides = test_file::load::calls(&tests);
    let mut diagnostics = modules::run(setup, &network, &root, besides, request, tell).await;
    // Everything else may follow from versions that do not fit.
    if let Some(problems) = version_problems(root) {
        return problems;
    }
    if early.has_errors() {
        diagnostics.extend(early);
    } else if !diagnostics.has_errors() {
        let (loaded, found) = load::config(Path::new("."), setup, &Disk);
        let problems = loaded.and_then(|loaded| version_problems(Module::clone(&loaded.config.root)));
        add_new(&mut diagnostics, problems.unwrap_or(found));
    }
    diagnostics
}
