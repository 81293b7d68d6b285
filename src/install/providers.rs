//! Installing providers: requirements and a lock to a plan, the plan to a new lock.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::model::addr::Provider;
use crate::model::deps::{Constraints, Hash, Lock, LockedProvider, Requirements, Version};

use super::event::{Authentication, InstallEvent};
use super::package::{archive, executable, link, relative_dir, stamp::Stamps};
use super::source::{PackageLocation, Source, SourceError};

/// The folder below the data directory that holds the packages.
pub const PACKAGES_DIR: &str = "providers";

/// What to resolve, and against what.
pub struct ResolveInput<'a> {
    pub requirements: &'a Requirements,
    pub lock: &'a Lock,
    pub source: &'a dyn Source,
    /// Select the newest versions, whatever is locked.
    pub upgrade: bool,
    /// The names of the providers within this program.
    pub builtins: &'a [&'a str],
    /// Development overrides and reattached providers: not installed.
    pub unmanaged: &'a BTreeSet<Provider>,
}

/// One version per provider, decided; nothing is installed yet.
#[derive(Clone, Debug, Default)]
pub struct InstallPlan {
    pub selections: BTreeMap<Provider, Selection>,
    /// What is locked of providers that are not installed: it stays.
    pub kept: BTreeMap<Provider, LockedProvider>,
}

#[derive(Clone, Debug)]
pub struct Selection {
    pub version: Version,
    pub constraints: Constraints,
    pub location: PackageLocation,
    /// Hashes of the lock file for this very version.
    pub locked_hashes: BTreeSet<Hash>,
}

/// Decides on a version of every provider. What could not be decided is reported; the plan holds the rest.
pub fn resolve(input: &ResolveInput, events: &mut dyn FnMut(InstallEvent)) -> (InstallPlan, Diagnostics) {
    let mut plan = InstallPlan::default();
    let mut diags = Diagnostics::new();
    // What needs no asking comes first.
    let (ours, others): (Vec<_>, Vec<_>) = input.requirements.0.iter().partition(|(provider, _)| provider.is_builtin());
    for (provider, constraints) in ours.into_iter().chain(others) {
        if input.unmanaged.contains(provider) {
            plan.kept.extend(input.lock.get(provider).map(|locked| (provider.clone(), locked.clone())));
            continue;
        }
        let outcome = match provider.is_builtin() {
            true => check_builtin(provider, constraints, input.builtins).map(|()| {
                events(InstallEvent::BuiltIn { provider: provider.clone() });
            }),
            false => select(input, provider, constraints, events).map(|selection| {
                plan.selections.insert(provider.clone(), selection);
            }),
        };
        if let Err(problem) = outcome {
            diags.push(*problem);
        }
    }
    (plan, diags)
}

fn check_builtin(provider: &Provider, constraints: &Constraints, builtins: &[&str]) -> Result<(), Box<Diagnostic>> {
    let problem = if !builtins.contains(&&*provider.kind) {
        format!("this Terrane release has no built-in provider named {:?}", &*provider.kind)
    } else if !constraints.is_empty() {
        "built-in providers do not support explicit version constraints".to_owned()
    } else {
        return Ok(());
    };
    let detail = format!("Cannot use {}: {problem}.", provider.for_display());
    Err(Box::new(Diagnostic::error("Invalid dependency on built-in provider", detail)))
}

fn select(
    input: &ResolveInput,
    provider: &Provider,
    constraints: &Constraints,
    events: &mut dyn FnMut(InstallEvent),
) -> Result<Selection, Box<Diagnostic>> {
    let locked = input.lock.get(provider).filter(|_| !input.upgrade);
    events(InstallEvent::QueryStarted {
        provider: provider.clone(),
        constraints: constraints.clone(),
        locked: locked.is_some(),
    });
    let failed = |error: SourceError| Box::new(query_failed(provider, &error, input.builtins));
    if let Some(locked) = locked
        && !constraints.allows(&locked.version)
    {
        return Err(failed(SourceError::Failed(format!(
            "locked provider {} {} does not match configured version constraint {constraints}; must use terrane init \
             -upgrade to allow selection of new versions",
            provider, locked.version
        ))));
    }
    let versions = input.source.versions(provider).map_err(failed)?;
    let wanted = match locked {
        Some(locked) => versions.iter().find(|v| **v == locked.version),
        None => constraints.newest(&versions),
    };
    let Some(version) = wanted else {
        let shown = locked.map_or_else(|| constraints.to_string(), |l| l.version.to_string());
        let text = format!("no available releases match the given constraints {shown}");
        return Err(failed(SourceError::Failed(text)));
    };
    let location = match input.source.package(provider, version) {
        Ok(location) => location,
        Err(SourceError::PlatformNotSupported) => return Err(Box::new(wrong_platform(provider, version))),
        Err(other) => return Err(failed(other)),
    };
    let same_version = input.lock.get(provider).filter(|l| l.version == *version);
    Ok(Selection {
        version: version.clone(),
        constraints: constraints.clone(),
        location,
        locked_hashes: same_version.map(|l| l.hashes.clone()).unwrap_or_default(),
    })
}

fn query_failed(provider: &Provider, error: &SourceError, builtins: &[&str]) -> Diagnostic {
    let shown = provider.for_display();
    let mut detail = match error {
        SourceError::NotFound { searched } => {
            let places: Vec<String> = searched.iter().map(|place| format!("  - {place}")).collect();
            format!(
                "Could not retrieve the list of available versions for provider {shown}: provider {provider} was not found \
                 in any of the search locations\n\n{}",
                places.join("\n")
            )
        }
        SourceError::PlatformNotSupported => "the package is not available for this platform".to_owned(),
        SourceError::Failed(text) => format!(
            "Could not retrieve the list of available versions for provider {shown}: {text}\n\nTo see which modules are \
             currently depending on {shown} and what versions are specified, run the following command:\n    terrane \
             providers"
        ),
    };
    if provider.is_default() && builtins.contains(&&*provider.kind) {
        detail.push_str(&format!(
            "\n\nTerrane has a provider {kind:?} of its own, which needs no installation. To use it, write this in the \
             module's terraform block:\n    required_providers {{\n      {kind} = {{\n        source = \
             \"terraform.io/builtin/{kind}\"\n      }}\n    }}",
            kind = &*provider.kind
        ));
    }
    Diagnostic::error("Failed to query available provider packages", detail)
}

fn wrong_platform(provider: &Provider, version: &Version) -> Diagnostic {
    Diagnostic::error(
        "Incompatible provider version",
        format!(
            "Provider {provider} v{version} does not have a package available for your current platform, {}.\n\nProvider \
             releases are separate from Terrane CLI releases, so not all providers are available for all platforms. Other \
             versions of this provider may have different platforms supported.",
            super::package::platform()
        ),
    )
}

/// Where to install to.
pub struct ExecuteInput<'a> {
    pub plan: &'a InstallPlan,
    /// `.terraform` of the working directory.
    pub data_dir: &'a Path,
    /// A folder of packages shared between working directories.
    pub cache_dir: Option<&'a Path>,
    /// Use what the cache has even if the lock file knows no hash of it.
    pub cache_may_break_lock: bool,
}

/// Brings every selected package to its place and checks it. The lock holds what succeeded.
pub fn execute(input: &ExecuteInput, events: &mut dyn FnMut(InstallEvent)) -> (Lock, Diagnostics) {
    let mut lock = Lock { providers: input.plan.kept.clone() };
    let mut diags = Diagnostics::new();
    let mut stamps = Stamps::load(input.data_dir);
    for (provider, selection) in &input.plan.selections {
        match install(input, provider, selection, &mut stamps, events) {
            Ok(hash) => {
                let mut hashes = selection.locked_hashes.clone();
                hashes.insert(hash);
                let locked = LockedProvider {
                    version: selection.version.clone(),
                    constraints: selection.constraints.clone(),
                    hashes,
                    range: None,
                };
                lock.providers.insert(provider.clone(), locked);
            }
            Err(problem) => {
                let detail =
                    format!("Error while installing {} v{}: {problem}", provider.for_display(), selection.version);
                diags.error("Failed to install provider", detail);
            }
        }
    }
    stamps.save();
    (lock, diags)
}

/// The hash of the package that is in place at the end. The error is for people.
fn install(
    input: &ExecuteInput,
    provider: &Provider,
    selection: &Selection,
    stamps: &mut Stamps,
    events: &mut dyn FnMut(InstallEvent),
) -> Result<Hash, String> {
    let (version, locked) = (&selection.version, &selection.locked_hashes);
    let relative = relative_dir(provider, version);
    let target = input.data_dir.join(PACKAGES_DIR).join(&relative);
    let event = |make: fn(Provider, Version) -> InstallEvent| make(provider.clone(), version.clone());
    if target.is_dir()
        && let Ok(hash) = stamps.hash_of(&target)
        && locked.contains(&hash)
        && executable(&target, provider).is_ok()
    {
        events(event(|provider, version| InstallEvent::AlreadyInstalled { provider, version }));
        return Ok(hash);
    }
    let cached = input.cache_dir.map(|dir| dir.join(&relative));
    if let Some(cached) = cached.as_ref().filter(|dir| dir.is_dir())
        && let Ok(hash) = stamps.hash_of(cached)
        && (locked.contains(&hash) || (locked.is_empty() && input.cache_may_break_lock))
        && executable(cached, provider).is_ok()
    {
        events(event(|provider, version| InstallEvent::LinkedFromCache { provider, version }));
        link::link(cached, &target).map_err(|e| e.to_string())?;
        return Ok(hash);
    }
    events(event(|provider, version| InstallEvent::FetchStarted { provider, version }));
    let hash = fetch(provider, selection, cached.as_deref().unwrap_or(&target), stamps)?;
    if let Some(cached) = &cached {
        link::link(cached, &target).map_err(|e| e.to_string())?;
    }
    events(InstallEvent::Fetched {
        provider: provider.clone(),
        version: version.clone(),
        authentication: Authentication::Unauthenticated,
    });
    Ok(hash)
}

/// Checks a package of a folder and brings it to its place: linked if it is unpacked, otherwise unpacked.
fn fetch(provider: &Provider, selection: &Selection, place: &Path, stamps: &mut Stamps) -> Result<Hash, String> {
    let shown = |e: std::io::Error| e.to_string();
    let hash = match &selection.location {
        PackageLocation::Unpacked(dir) => stamps.hash_of(dir).map_err(shown)?,
        PackageLocation::Archive(path) => super::package::hash::of_archive(path).map_err(shown)?,
    };
    let zip_hash = |path: &PathBuf| {
        let sum = super::package::hash::of_file(path).ok()?;
        Some(Hash::new(crate::model::deps::hash::Scheme::Zh, &sum))
    };
    let locked = &selection.locked_hashes;
    let known = locked.is_empty()
        || locked.contains(&hash)
        || matches!(&selection.location, PackageLocation::Archive(path) if zip_hash(path).is_some_and(|h| locked.contains(&h)));
    if !known {
        return Err(format!(
            "the local package for {} {} doesn't match any of the checksums previously recorded in the dependency lock file \
             (this might be because the available checksums are for packages targeting different platforms); for more \
             information: https://developer.hashicorp.com/terraform/language/files/dependency-lock#checksum-verification",
            provider.for_display(),
            selection.version
        ));
    }
    match &selection.location {
        PackageLocation::Unpacked(dir) => link::link(dir, place).map_err(shown)?,
        PackageLocation::Archive(path) => archive::unpack(path, place).map_err(shown)?,
    }
    executable(place, provider).map_err(|e| format!("provider binary not found: {e}"))?;
    Ok(hash)
}
