//! `init`: configures the backend (`backend`, `cloud`) and installs modules (`modules`) and providers (`install`); `get` is a part
//! of it.
//!
//! Starts no provider but that of a state store.

mod backend;
mod cloud;
mod install;
mod interface;
mod modules;
mod moved_states;

use std::path::Path;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::env::TF_ENCRYPTION;
use base::name::PROGRAM;
use base::telemetry::{self, Description, Detail};
use model::config::module_source::{INVALID_REGISTRY_SOURCE, INVALID_SOURCE};
use model::config::{self, Config, Module, test_file};
use model::model_errors::INVALID_IMPORT_PROVIDER;

use self::backend::is_cloud;
use self::install::ProviderNeeds;
pub use self::interface::{InitEvent, InitOutcome, InitRequest, StatePlace, TellInit, upgrade_of_readonly_lock};
use self::modules::ModuleRequest;
use crate::backends::encryption;
use crate::configuration::{load, variables};
use crate::opentofu;
use crate::policies::install_gate::InstallGate;
use crate::providers::ProviderEvent;
use crate::providers::store_provider::{self, Purpose, Upgrade};
use crate::setup::Setup;
use crate::setup::network::Network;

/// Makes the working directory ready.
pub async fn run(setup: &Setup, request: &InitRequest, tell: TellInit<'_>) -> InitOutcome {
    let network = Network::new(setup);
    let (gate, problems) = InstallGate::read(setup, &request.policies);
    if problems.has_errors() {
        return InitOutcome::NotReady(problems);
    }
    let copied = match &request.from_module {
        Some(source) => joined(problems, modules::copy(setup, &network, source, tell).await),
        None => problems,
    };
    if copied.has_errors() {
        return InitOutcome::NotReady(copied);
    }
    if !load::has_something_to_install(setup, request.test_dir.as_deref()) {
        tell(InitEvent::Empty);
        return InitOutcome::NotReady(copied);
    }
    match prepare(setup, &network, request, (copied, gate.map(Arc::new)), tell).await {
        Ok((place, warnings)) => InitOutcome::Ready { place, warnings },
        Err(problems) => InitOutcome::NotReady(problems),
    }
}

/// Backend, modules and providers, one after the other. Gives all that there is to show, `earlier` included: warnings, or errors
/// and what came before them. `gate`: the policies, if there are any.
async fn prepare(
    setup: &Setup,
    network: &Network,
    request: &InitRequest,
    (earlier, gate): (Diagnostics, Option<Arc<InstallGate>>),
    tell: TellInit<'_>,
) -> Result<(StatePlace, Diagnostics), Diagnostics> {
    let (root, early, of_settings) = load::root_and_backend(setup);
    let Some(root) = root else { return Err(not_sound(setup, early, tell)) };
    if opentofu::checks_root_before_init(setup.dialect()) {
        let problems = version_problems(root.clone()).unwrap_or_else(|| early.clone());
        if problems.has_errors() {
            return Err(joined(earlier, not_sound(setup, problems, tell)));
        }
    }
    if let Err(problems) = check_encryption(setup, request, &early, tell).await {
        return Err(joined(earlier, problems));
    }
    let store = root.conflicting_store.as_ref().or(root.backend.as_ref());
    let store = store.and_then(|block| Some((block, block.store.as_ref()?)));
    let earlier = match store.filter(|(_, store)| store.is_resolved()) {
        Some((block, store)) => match install_store_provider(setup, network, (block, store), request, tell).await {
            Ok(warnings) => joined(earlier, warnings),
            Err(problems) => return Err(joined(earlier, problems)),
        },
        None => {
            if store.is_some() {
                tell(InitEvent::StoreProviderInstalled);
            }
            earlier
        }
    };
    let (in_use, of_backend) = backend_in_use(setup, request, (&root, of_settings), tell).await;
    let state = match backend::state(in_use.as_ref()).await {
        Ok(state) => state,
        Err(problems) => return Err(joined(earlier, problems)),
    };
    let called = match called_modules(setup, network, request, (&root, &early, gate.as_ref()), tell).await {
        Ok(called) => called,
        Err(problems) => return Err(joined(earlier, problems)),
    };
    let mut diagnostics = joined(earlier, called.warnings);
    let (loaded, found) = load::config_to_install(Path::new("."), request.test_dir.as_deref(), setup);
    let loaded = match loaded {
        Some(loaded) if !found.has_errors() => loaded,
        loaded => {
            let config = loaded.map(|loaded| loaded.config);
            if let Some(problems) = config.as_ref().and_then(|config| version_problems(Module::clone(&config.root))) {
                return Err(problems);
            }
            let only_backend = of_backend.has_errors() && !early.has_errors();
            diagnostics.extend(of_backend.into_iter().filter(|problem| only_backend || !is_among(problem, &found)));
            if !only_backend {
                // What shows once modules are installed needs no word on why that matters.
                let is_installed = called.installed && (config.is_some() || called.has_unsound_tests);
                let is_late = is_installed || only(&found, &[INVALID_IMPORT_PROVIDER]);
                diagnostics.extend(if is_late { found } else { not_sound(setup, found, tell) });
            }
            return Err(diagnostics);
        }
    };
    diagnostics.extend(of_backend);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    add_new(&mut diagnostics, found);
    let reports = opentofu::early_reports_of_init(setup.dialect(), request.get && !root.calls.is_empty());
    (0..reports).for_each(|_| diagnostics.extend(early.clone()));
    let store = store.map(|(_, store)| store.source());
    let policies = gate.as_deref();
    let needs = ProviderNeeds { loaded: &loaded, state: state.as_ref(), store: store.as_ref(), policies };
    let place = place(in_use.as_ref());
    let describe = || Description::new(opentofu::spans_of_init(setup.dialect()).providers);
    let work = || install::run(setup, network, needs, request, tell);
    match telemetry::phase(Detail::Command, describe, work, Result::is_err).await {
        Ok(warnings) => Ok((place, joined(diagnostics, warnings))),
        Err(problems) => Err(joined(diagnostics, problems)),
    }
}

fn place(in_use: Option<&backend::InUse>) -> StatePlace {
    match in_use.is_some_and(|in_use| is_cloud(&in_use.backend)) {
        true => StatePlace::Cloud,
        false => StatePlace::Backend,
    }
}

/// Installs the provider of the state store, which has to be there when the states are read.
async fn install_store_provider(
    setup: &Setup,
    network: &Network,
    (block, store): (&config::Backend, &config::StoreProvider),
    request: &InitRequest,
    tell: TellInit<'_>,
) -> Result<Diagnostics, Diagnostics> {
    let upgrade = match (request.upgrade, request.reconfigure) {
        (false, _) => Upgrade::No,
        (true, true) => Upgrade::Yes,
        (true, false) => Upgrade::AllButStore,
    };
    let lock_file = request.state_provider_lock_file.as_deref();
    let purpose = Purpose { plugin_dirs: &request.plugin_dirs, lock_file, place: None };
    let hear = &mut |event: ProviderEvent| tell(event.into());
    store_provider::run(setup, network, block, store, (upgrade, purpose), hear).await
}

/// Makes the keys before any state is touched. If the root module has errors, its `encryption` block may be among what could not
/// be read, so that states could be written in clear.
async fn check_encryption(
    setup: &Setup,
    request: &InitRequest,
    early: &Diagnostics,
    tell: TellInit<'_>,
) -> Result<(), Diagnostics> {
    if !request.backend {
        return Ok(());
    }
    match early.has_errors() && load::may_encrypt(setup) {
        true => Err(not_sound(setup, early.clone(), tell)),
        false if early.has_errors() => Ok(()),
        false => encryption::of(setup).await.map(|_| ()),
    }
}

/// What became of the modules that the configuration calls.
struct CalledModules {
    /// There are calls, and their modules were installed.
    installed: bool,
    /// Test files have errors of their own.
    has_unsound_tests: bool,
    warnings: Diagnostics,
}

/// Installs the modules that the root module and tests call, unless the request leaves them out.
async fn called_modules(
    setup: &Setup,
    network: &Network,
    request: &InitRequest,
    (root, early, gate): (&Module, &Diagnostics, Option<&Arc<InstallGate>>),
    tell: TellInit<'_>,
) -> Result<CalledModules, Diagnostics> {
    // Errors of the root module wait: its modules may say better what is wrong, such as that they need another version.
    let (tests, of_tests) = load::tests(setup, Path::new("."), request.test_dir.as_deref());
    let has_unsound_tests = of_tests.has_errors();
    let besides = test_file::load::calls(&tests);
    // Addresses of modules are reported where modules are installed.
    if request.get && only(early, &[INVALID_SOURCE, INVALID_REGISTRY_SOURCE]) {
        tell(InitEvent::Modules { upgrade: request.upgrade });
        return Err(early.clone());
    }
    let lacks_source = early.iter().any(|found| found.kind == Kind::MissingSource);
    let calls = lacks_source || !(root.calls.is_empty() && besides.is_empty());
    // Modules without a call are removed from the manifest, unless an error may hide calls.
    if !request.get || !calls && early.has_errors() {
        return Ok(CalledModules { installed: false, has_unsound_tests, warnings: Diagnostics::new() });
    }
    if calls {
        tell(InitEvent::Modules { upgrade: request.upgrade });
    }
    let (upgrade, readonly) = (request.upgrade, request.lockfile_readonly);
    let wanted = ModuleRequest { upgrade, readonly, gate: gate.cloned() };
    let describe = || {
        Description::new(opentofu::spans_of_init(setup.dialect()).modules)
            .with("opentofu.modules.upgrade", request.upgrade)
    };
    let install = || modules::run(setup, network, root, besides, wanted, tell);
    let found = telemetry::phase(Detail::Command, describe, install, Diagnostics::has_errors).await;
    let own = version_problems(root.clone()).filter(|_| calls).unwrap_or_else(|| early.clone());
    match found.has_errors() || own.has_errors() {
        true => {
            let between = if found.has_errors() { Diagnostics::new() } else { load::warnings_between_modules(setup) };
            Err(joined(between, joined(own, found)))
        }
        false => Ok(CalledModules { installed: calls, has_unsound_tests, warnings: found }),
    }
}

/// True if there are errors, and all have one of these summaries.
fn only(found: &Diagnostics, summaries: &[&str]) -> bool {
    found.has_errors()
        && found.iter().filter(|found| found.is_error()).all(|error| summaries.contains(&&*error.summary))
}

/// Both, in this order.
fn joined(mut first: Diagnostics, then: Diagnostics) -> Diagnostics {
    first.extend(then);
    first
}

/// The backend, made ready; with -backend=false the one that was made ready before.
async fn backend_in_use(
    setup: &Setup,
    request: &InitRequest,
    (root, of_settings): (&Module, Diagnostics),
    tell: TellInit<'_>,
) -> (Option<backend::InUse>, Diagnostics) {
    let is_cloud = root.backend.as_ref().is_some_and(|block| block.is_cloud_block);
    let describe = || {
        let names = opentofu::spans_of_init(setup.dialect());
        Description::new(if is_cloud { names.cloud } else { names.backend })
    };
    let work = || init_backend(setup, request, (root, of_settings), tell);
    telemetry::phase(Detail::Command, describe, work, |(_, found)| found.has_errors()).await
}

async fn init_backend(
    setup: &Setup,
    request: &InitRequest,
    (root, of_settings): (&Module, Diagnostics),
    tell: TellInit<'_>,
) -> (Option<backend::InUse>, Diagnostics) {
    let is_sealed = root.encryption.is_some() || setup.environment.non_empty(TF_ENCRYPTION).is_some();
    if !request.backend && !opentofu::reads_state_without_backend(setup.dialect(), is_sealed) {
        return (None, Diagnostics::new());
    }
    if !request.backend {
        return match backend::saved(setup).await {
            Ok(in_use) => (Some(in_use), Diagnostics::new()),
            Err(problems) => (None, problems),
        };
    }
    let is_cloud = root.backend.as_ref().is_some_and(|block| block.is_cloud_block);
    let store = root.conflicting_store.as_ref().or(root.backend.as_ref().filter(|block| block.store.is_some()));
    tell(match store {
        _ if is_cloud => InitEvent::Cloud,
        Some(block) => InitEvent::StateStore(block.kind.to_string()),
        None => InitEvent::Backend,
    });
    // What is wrong with the block itself is said of the configuration.
    if !is_cloud && root.conflicting_store.is_some() {
        return (None, Diagnostics::new());
    }
    if store.and_then(|block| block.store.as_ref()).is_some_and(|store| !store.is_resolved()) {
        return (None, Diagnostics::new());
    }
    if is_cloud && !request.backend_config.is_empty() {
        return (None, cloud::no_backend_config().into());
    }
    if of_settings.has_errors() {
        return (None, of_settings);
    }
    backend::run(setup, root, request, tell).await
}

/// What is wrong with the versions that modules ask for, if anything: everything else may follow from that.
fn version_problems(root: Module) -> Option<Diagnostics> {
    let found = config::check_versions(&Config { root: Arc::new(root) });
    found.has_errors().then_some(found)
}

/// Adds what was not said before: installing a module and loading it find the same.
fn add_new(diagnostics: &mut Diagnostics, found: Diagnostics) {
    for diagnostic in found {
        if !is_among(&diagnostic, diagnostics) {
            diagnostics.push(diagnostic);
        }
    }
}

fn is_among(diagnostic: &Diagnostic, others: &Diagnostics) -> bool {
    others.iter().any(|other| other.repeats(diagnostic))
}

/// What is wrong with the configuration, with a word on why that matters here.
fn not_sound(setup: &Setup, mut found: Diagnostics, tell: TellInit<'_>) -> Diagnostics {
    let initialization = opentofu::initialization(setup.dialect());
    let text = format!(
        "{PROGRAM} encountered problems during {initialization}, including problems\nwith the configuration, described below.\n\n\
         The {PROGRAM} configuration must be valid before initialization so that\n{PROGRAM} can determine which modules and \
         providers need to be installed."
    );
    if opentofu::announces_invalid_configuration(setup.dialect()) {
        tell(InitEvent::NotSound(text));
        return found;
    }
    let mut word = Diagnostic::error(text, "");
    word.prose_summary = true;
    found.push(word);
    found
}

/// `get`: the modules alone.
pub async fn get(setup: &Setup, upgrade: bool, tell: TellInit<'_>) -> Diagnostics {
    let (root, early) = load::root_module(setup);
    let Some(root) = root else { return early };
    let undeclared = variables::undeclared_arguments(setup, &root.variables);
    if undeclared.has_errors() {
        return undeclared;
    }
    let network = Network::new(setup);
    let request = ModuleRequest { upgrade, ..ModuleRequest::default() };
    let (tests, _) = load::tests(setup, Path::new("."), Some(test_file::DEFAULT_DIR));
    let besides = test_file::load::calls(&tests);
    let mut diagnostics = modules::run(setup, &network, &root, besides, request, tell).await;
    // Everything else may follow from versions that do not fit.
    if let Some(problems) = version_problems(root) {
        return problems;
    }
    if early.has_errors() {
        diagnostics.extend(early);
    } else if !diagnostics.has_errors() {
        let (loaded, found) = load::config(Path::new("."), setup, &setup.root);
        let problems = loaded.and_then(|loaded| version_problems(Module::clone(&loaded.config.root)));
        add_new(&mut diagnostics, problems.unwrap_or(found));
    }
    diagnostics
}
