//! Installing the required providers of a working directory, and updating its lock file.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::atomic;
use base::diag::{Diagnostic, Diagnostics};
use base::env::{self, Environment};
use base::files::{Disk, Files};
use base::name::{COMMAND, PROGRAM};
use install::authenticate::THIRD_PARTY_SIGNERS;
use install::authenticate::demand::Demand;
use install::event::InstallEvent;
use install::package::cache::Cache;
use install::package::contents::Limits;
use install::package::platform;
use install::package::stamp::Stamps;
use install::providers::install::{InstallInput, install as install_providers, present};
use install::providers::resolve::{ResolveInput, resolve};
use install::source::demanding::Demanding;
use install::source::multi::Multi;
use model::addr;
use model::deps::Requirements;
use model::deps::lock::{LOCK_FILE, Lock};
use model::model_errors::UNWRITABLE_LOCK;
use model::state::State;

use super::{InitEvent, InitRequest, Tell, store_provider, upgrade_of_readonly_lock};
use crate::configuration::load::LoadedTests;
use crate::plugins::{lock_file, packages, stand_ins};
use crate::setup::Setup;
use crate::setup::built_in::built_in_names;
use crate::setup::network::Network;

/// What needs providers.
pub struct Needs<'a> {
    pub loaded: &'a LoadedTests,
    pub state: Option<&'a State>,
    /// The provider of the state store.
    pub store: Option<&'a addr::Provider>,
}

/// Installs what the configuration and the state need. Gives warnings, or errors with the warnings besides.
pub async fn run(
    setup: &Setup,
    network: &Network,
    needs: Needs<'_>,
    request: &InitRequest,
    tell: Tell<'_>,
) -> Result<Diagnostics, Diagnostics> {
    let (requirements, mut diagnostics) = requirements(&needs);
    let lock = diagnostics.take(packages::lock_file());
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    if request.upgrade && request.lockfile_readonly {
        diagnostics.push(upgrade_of_readonly_lock());
        return Err(diagnostics);
    }
    tell(InitEvent::Providers);
    let unmanaged = match packages::unmanaged(setup) {
        Ok(unmanaged) => unmanaged,
        Err(problems) => {
            diagnostics.extend(problems);
            return Err(diagnostics);
        }
    };
    let selected = store_provider::with_selections(setup, &lock);
    let keep = needs.store.filter(|_| !request.reconfigure);
    let wanted =
        Wanted { requirements: &requirements, lock: &selected, unmanaged, request, upgrade: request.upgrade, keep };
    let installed = install(setup, network, &wanted, tell).await;
    diagnostics.extend(packages::overrides_warning(setup));
    let of_store = |problem: Diagnostic| match needs.store {
        Some(provider) => store_provider::conflicting_version(provider, &problem).unwrap_or(problem),
        None => problem,
    };
    diagnostics.extend(installed.diagnostics.into_iter().map(of_store));
    if diagnostics.has_errors() {
        // After an interrupt, complete packages are kept: the next run does not download them again.
        let complete = lock.clone().with(installed.lock);
        if setup.stop.is_stopping() && !request.lockfile_readonly && !lock.same_packages(&complete) {
            diagnostics.extend(keep_lock(&complete, tell).err());
        }
        return Err(diagnostics);
    }
    let changed = !lock.same_packages(&installed.lock);
    if changed && request.lockfile_readonly {
        diagnostics.push(unkept_lock(&lock, &installed.lock));
    } else if changed {
        let only_here = setup.stores.only_here().into_iter().chain(installed.only_here).collect();
        let kept = keep_lock(&installed.lock, tell);
        diagnostics.extend(incomplete_lock(only_here));
        diagnostics.extend(kept.err());
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    diagnostics.extend(stand_ins::write(setup, &requirements, &wanted.unmanaged));
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(diagnostics) }
}

/// The providers that configuration, tests and state need.
fn requirements(needs: &Needs<'_>) -> (Requirements, Diagnostics) {
    let Needs { loaded, state, .. } = needs;
    let mut diagnostics = Diagnostics::new();
    let mut requirements = diagnostics.take(Requirements::of_config(&loaded.config));
    for tested in loaded.tests.iter().flat_map(|file| &file.runs).filter_map(|run| run.under_test.as_ref()) {
        requirements = requirements.merge(diagnostics.take(Requirements::of_config(tested)));
    }
    if let Some(state) = state {
        requirements = requirements.merge(Requirements::of_state(state));
    }
    diagnostics.extend(requirements.0.keys().filter(|provider| provider.is_legacy()).map(legacy));
    // Other registries have no legacy providers.
    requirements.0.retain(|provider, _| &*provider.namespace != "-");
    (requirements, diagnostics)
}

/// The error for a provider with a type only: no registry can be queried for it.
fn legacy(provider: &addr::Provider) -> Diagnostic {
    let kind = &*provider.kind;
    let detail = format!(
        "This configuration or its associated state refers to the unqualified provider {kind:?}.\n\nYou must complete the Terraform \
         0.13 upgrade process before upgrading to later versions."
    );
    Diagnostic::error("Invalid legacy provider address", detail)
}

pub struct Wanted<'a> {
    pub requirements: &'a Requirements,
    pub lock: &'a Lock,
    /// Providers that are not installed; true: overridden for development.
    pub unmanaged: BTreeMap<addr::Provider, bool>,
    pub request: &'a InitRequest,
    /// Newer versions than those in the lock file are selected.
    pub upgrade: bool,
    /// The provider that stays in the version in the lock file.
    pub keep: Option<&'a addr::Provider>,
}

pub struct Installed {
    pub lock: Lock,
    pub diagnostics: Diagnostics,
    /// Providers for which the lock file has hashes of this platform's packages only.
    pub only_here: Vec<addr::Provider>,
}

/// Decides on versions, then brings the packages to their places.
pub async fn install(setup: &Setup, network: &Network, wanted: &Wanted<'_>, tell: Tell<'_>) -> Installed {
    let stamps = Arc::new(Stamps::load(&setup.workdir.data_dir));
    let present = present(wanted.lock, &setup.workdir.data_dir, &stamps).await.into_keys().collect();
    let source = source(setup, network, &wanted.request.plugin_dirs);
    let kept = keep_plugin_dirs(setup, &wanted.request.plugin_dirs);
    let builtins: Vec<&str> = built_in_names().collect();
    let stand_ins = setup.settings.built_in();
    let input = ResolveInput {
        requirements: wanted.requirements,
        lock: wanted.lock,
        source: &source,
        upgrade: wanted.upgrade,
        keep: wanted.keep,
        builtins: &builtins,
        stand_ins: &stand_ins,
        unmanaged: &wanted.unmanaged,
        present: &present,
    };
    let mut warnings = Diagnostics::new();
    let mut only_here = Vec::new();
    let mut strangers = false;
    let mut hear = |event: InstallEvent| {
        match &event {
            InstallEvent::Warned { provider, warnings: texts } => {
                let detail = format!(
                    "The remote registry returned warnings for {}:\n{}",
                    provider.for_display(),
                    texts.iter().map(|text| format!("- {text}")).collect::<Vec<_>>().join("\n")
                );
                warnings.push(Diagnostic::warning("Additional provider information from registry", detail));
            }
            // A lock that already had other hashes was completed by a user.
            InstallEvent::Locked { provider, local, signed, prior, .. }
                if signed.is_empty() && (prior.is_empty() || prior == local) =>
            {
                only_here.push(provider.clone());
            }
            InstallEvent::Fetched { authentication, .. } => strangers |= authentication.stranger().is_some(),
            _ => {}
        }
        tell(InitEvent::Install(event));
    };
    let (plan, mut diagnostics) = resolve(&input, &mut hear).await;
    diagnostics.extend(kept.err());
    let mut lock = Lock::default();
    let cache = setup.settings.plugin_cache_dir.as_ref().map(|dir| Cache::open(dir, &setup.workdir.providers_dir()));
    let cache = cache.transpose().map_err(|e| {
        diagnostics.push(Diagnostic::error("Invalid plugin cache", e.to_string()));
    });
    if let Ok(cache) = cache
        && !setup.stop.is_stopping()
    {
        let input = InstallInput {
            plan: &plan,
            source: &source,
            http: &network.hosts.http,
            data_dir: &setup.workdir.data_dir,
            cache: cache.as_ref(),
            // What is in the cache may not be signed, and the lock file does not vouch for it.
            cache_may_break_lock: setup.settings.plugin_cache_may_break_lock_file
                && setup.settings.signatures == Demand::None,
            stamps,
            limits: Limits::of(&setup.environment),
        };
        lock = diagnostics.take(install_providers(&input, &mut hear).await);
    }
    if strangers {
        tell(InitEvent::Strangers(THIRD_PARTY_SIGNERS));
    }
    if setup.stop.is_stopping() {
        diagnostics.push(Diagnostic::error("Provider installation was canceled by an interrupt signal.", ""));
    }
    warnings.extend(diagnostics);
    Installed { lock, diagnostics: warnings, only_here }
}

/// Where packages come from, signed as the settings demand.
pub fn source(setup: &Setup, network: &Network, plugin_dirs: &[PathBuf]) -> Demanding<Multi> {
    Demanding { source: sources(setup, network, plugin_dirs), demand: setup.settings.signatures }
}

/// The folders of the command line, the methods of the settings, or the implied ones.
fn sources(setup: &Setup, network: &Network, plugin_dirs: &[PathBuf]) -> Multi {
    if !plugin_dirs.is_empty() {
        return Multi::folders(plugin_dirs);
    }
    match &setup.settings.installation {
        Some(installation) => Multi::configured(installation, &network.hosts, &network.oci),
        None => Multi::implied(&implied_mirrors(setup), &network.hosts),
    }
}

/// What `-plugin-dir` says is kept for provisioners that are programs of their own: later commands look for them there, and
/// nowhere else. An empty name takes that back.
fn keep_plugin_dirs(setup: &Setup, dirs: &[PathBuf]) -> Result<(), Diagnostic> {
    let path = setup.workdir.plugin_path_file();
    let done = match dirs {
        [] => return Ok(()),
        [one] if one.as_os_str().is_empty() => match std::fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        },
        dirs => {
            let names: Vec<_> = dirs.iter().map(|dir| dir.to_string_lossy()).collect();
            let text = serde_json::to_vec_pretty(&names).unwrap_or_default();
            std::fs::create_dir_all(&setup.workdir.data_dir).and_then(|()| atomic::write(&path, &text))
        }
    };
    done.map_err(|e| Diagnostic::error("Failed to save the plugin folders", format!("Error: {e}.")))
}

/// The folders that are mirrors by convention, in the order in which they count.
fn implied_mirrors(setup: &Setup) -> Vec<PathBuf> {
    let own = Path::new("terraform.d/plugins");
    let moved = env::working_dir().is_ok_and(|here| here != setup.original_dir);
    let mut folders = vec![if moved { setup.original_dir.join(own) } else { own.to_path_buf() }];
    folders.extend(setup.settings.config_dir.as_ref().map(|dir| dir.join("plugins")));
    folders.extend(data_folders(&setup.environment).into_iter().map(|dir| dir.join("plugins")));
    folders
}

/// Where systems keep data of programs: the user's, then everybody's.
#[cfg(target_os = "macos")]
fn data_folders(environment: &Environment) -> Vec<PathBuf> {
    let home = environment.non_empty(env::HOME).map(|home| PathBuf::from(home).join("Library"));
    let libraries = home.into_iter().chain([PathBuf::from("/Library")]);
    libraries.map(|library| library.join("Application Support/io.terraform")).collect()
}

#[cfg(windows)]
fn data_folders(environment: &Environment) -> Vec<PathBuf> {
    let folder = environment.non_empty(env::APPDATA).map(PathBuf::from);
    folder.map(|dir| dir.join("HashiCorp").join("Terraform")).into_iter().collect()
}

#[cfg(not(any(target_os = "macos", windows)))]
fn data_folders(environment: &Environment) -> Vec<PathBuf> {
    let absolute = |dir: &str| Some(PathBuf::from(dir)).filter(|dir| dir.is_absolute());
    let home = environment.non_empty(env::HOME).map(|home| PathBuf::from(home).join(".local/share"));
    let mine = environment.non_empty(env::XDG_DATA_HOME).and_then(absolute).or(home);
    let all = environment.non_empty(env::XDG_DATA_DIRS).unwrap_or("/usr/local/share:/usr/share");
    let shared = all.split(':').filter_map(absolute);
    mine.into_iter().chain(shared).map(|dir| dir.join("terraform")).collect()
}

/// The error for a lock file that cannot be written.
pub fn unwritable_lock(error: &io::Error) -> Diagnostic {
    let detail = format!("Error while writing new dependency lock information to {LOCK_FILE}: {error}.");
    Diagnostic::error(UNWRITABLE_LOCK, detail)
}

pub fn keep_lock(lock: &Lock, tell: Tell<'_>) -> Result<(), Diagnostic> {
    let exists = Disk.exists(Path::new(LOCK_FILE));
    lock_file::write(lock).map_err(|e| unwritable_lock(&e))?;
    tell(if exists { InitEvent::LockChanged } else { InitEvent::LockCreated });
    Ok(())
}

/// What is said where the lock file may not be changed: other hashes for the same providers do no harm.
fn unkept_lock(old: &Lock, new: &Lock) -> Diagnostic {
    if old.same_providers(new) {
        return Diagnostic::warning(
            "Provider lock file not updated",
            format!(
                "Changes to the provider selections were detected, but not saved in the .terraform.lock.hcl file. To record these \
             selections, run \"{COMMAND} init\" without the \"-lockfile=readonly\" flag."
            ),
        );
    }
    Diagnostic::error(
        "Provider dependency changes detected",
        format!(
            "Changes to the required provider dependencies were detected, but the lock file is read-only. To use and record these \
         requirements, run \"{COMMAND} init\" without the \"-lockfile=readonly\" flag."
        ),
    )
}

/// Packages that do not come from a registry have no checksums for other platforms: the lock file is of use only here.
pub fn incomplete_lock(providers: Vec<addr::Provider>) -> Option<Diagnostic> {
    let mut names: Vec<String> = providers.iter().map(addr::Provider::for_display).collect();
    if names.is_empty() {
        return None;
    }
    names.sort();
    names.dedup();
    let (names, platform) = (names.join("\n  - "), platform());
    Some(Diagnostic::warning(
        "Incomplete lock file information for providers",
        format!(
            "Due to your customized provider installation methods, {PROGRAM} was forced to calculate lock file checksums locally for the \
             following providers:\n  - {names}\n\nThe current .terraform.lock.hcl file only includes checksums for {platform}, so \
             {PROGRAM} running on another platform will fail to install these providers.\n\nTo calculate additional checksums for another \
             platform, run:\n  {COMMAND} providers lock -platform=linux_amd64\n(where linux_amd64 is the platform to generate)",
        ),
    ))
}
