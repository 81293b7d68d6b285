//! Selecting versions of providers, installing their packages, and writing the lock file.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::atomic;
use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
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
use install::providers::resolve::{InstallPlan, ResolveInput, resolve};
use install::source::demanding::Demanding;
use install::source::multi::Multi;
use model::addr;
use model::config::Module;
use model::deps::lock::{LOCK_FILE, Lock};
use model::deps::{Requirements, Version};
use model::model_errors::UNWRITABLE_LOCK;

use super::{ProviderEvent, TellProviders};
use crate::plugins::lock_file;
use crate::policies::install_gate::InstallGate;
use crate::setup::Setup;
use crate::setup::built_in::built_in_names;
use crate::setup::network::Network;

/// The providers to install.
pub struct InstallRequest<'a> {
    pub requirements: &'a Requirements,
    pub lock: &'a Lock,
    /// Providers that are not installed; true: overridden for development.
    pub unmanaged: BTreeMap<addr::Provider, bool>,
    /// The folders that the command line names as sources.
    pub plugin_dirs: &'a [PathBuf],
    /// Newer versions than those in the lock file are selected.
    pub upgrade: bool,
    /// The provider that stays in the version in the lock file.
    pub keep: Option<&'a addr::Provider>,
    /// The provider that keeps the states: errors about its version say how it is upgraded.
    pub store: Option<&'a addr::Provider>,
    /// Decide on the selected providers; with the module that configures them.
    pub policies: Option<(&'a InstallGate, &'a Module)>,
}

/// The result of an installation.
pub struct Installed {
    pub lock: Lock,
    pub diagnostics: Diagnostics,
    /// Providers for which the lock file has hashes of this platform's packages only.
    pub only_here: Vec<addr::Provider>,
}

/// Decides on versions, then brings the packages to their places.
pub async fn install(
    setup: &Setup,
    network: &Network,
    wanted: &InstallRequest<'_>,
    tell: TellProviders<'_>,
) -> Installed {
    let stamps = Arc::new(Stamps::load(&setup.workdir.data_dir));
    let present = present(wanted.lock, &setup.workdir.data_dir, &stamps).await.into_keys().collect();
    let source = source(setup, network, wanted.plugin_dirs);
    let kept = keep_plugin_dirs(setup, wanted.plugin_dirs);
    let builtins: Vec<&str> = built_in_names().collect();
    let stand_ins = setup.settings.built_in();
    let input = ResolveInput {
        requirements: wanted.requirements,
        lock: wanted.lock,
        source: &source,
        upgrade: wanted.upgrade,
        keep: wanted.keep,
        store: wanted.store,
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
                warnings.push(registry_warning(provider, texts));
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
        tell(ProviderEvent::Install(event));
    };
    let (mut plan, mut diagnostics) = resolve(&input, &mut hear).await;
    diagnostics.extend(kept.err());
    diagnostics.extend(take_out_denied(wanted, &stand_ins, &mut plan));
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
    if let Some((gate, _)) = wanted.policies {
        gate.take_reports().into_iter().for_each(|report| tell(ProviderEvent::Policy(report)));
    }
    if strangers {
        tell(ProviderEvent::Strangers(THIRD_PARTY_SIGNERS));
    }
    if setup.stop.is_stopping() {
        diagnostics.push(Diagnostic::error("Provider installation was canceled by an interrupt signal.", ""));
    }
    warnings.extend(diagnostics);
    Installed { lock, diagnostics: warnings, only_here }
}

/// Takes the providers out of the plan that policies deny, and gives what policies find. Providers within this program count, too.
fn take_out_denied(
    wanted: &InstallRequest<'_>,
    stand_ins: &BTreeMap<addr::Provider, Version>,
    plan: &mut InstallPlan,
) -> Diagnostics {
    let Some((gate, root)) = wanted.policies else { return Diagnostics::new() };
    let is_used = |provider: &addr::Provider| {
        wanted.requirements.0.contains_key(provider) && !wanted.unmanaged.contains_key(provider)
    };
    gate.check_providers(plan, stand_ins.iter().filter(|(provider, _)| is_used(provider)), root)
}

fn registry_warning(provider: &addr::Provider, texts: &[String]) -> Diagnostic {
    let lines = texts.iter().map(|text| format!("- {text}")).collect::<Vec<_>>().join("\n");
    let detail = format!("The remote registry returned warnings for {}:\n{lines}", provider.for_display());
    Diagnostic::warning("Additional provider information from registry", detail)
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

pub fn keep_lock(lock: &Lock, dialect: Dialect, tell: TellProviders<'_>) -> Result<(), Diagnostic> {
    let exists = Disk.exists(Path::new(LOCK_FILE));
    lock_file::write(lock, dialect).map_err(|e| unwritable_lock(&e))?;
    tell(if exists { ProviderEvent::LockChanged } else { ProviderEvent::LockCreated });
    Ok(())
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
