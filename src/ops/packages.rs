//! Which package serves which provider: the lock file's selections checked against what the configuration needs and against
//! what is installed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::env;
use crate::base::files::{Disk, Files};
use crate::base::source::SourceFile;
use crate::model::addr;
use crate::model::deps::lock::{LOCK_FILE, Lock, LockedProvider};
use crate::model::deps::{Constraints, Requirements};
use crate::plugin::reattach;

use super::provider_factories::{Origin, ProvisionerPrograms, is_built_in};
use super::selections::platform;
use super::setup::Setup;

/// Where each provider comes from.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub origins: BTreeMap<addr::Provider, Origin>,
    pub provisioner_programs: ProvisionerPrograms,
    pub warnings: Diagnostics,
}

/// The lock file; empty if there is none.
pub fn lock_file() -> (Lock, Diagnostics) {
    match Disk.read_to_string(Path::new(LOCK_FILE)) {
        Ok(text) => Lock::parse(SourceFile::new(LOCK_FILE, text)),
        Err(_) if !Disk.exists(Path::new(LOCK_FILE)) => (Lock::default(), Diagnostics::new()),
        Err(e) => {
            let detail = format!("Error when reading the dependency lock file: {e}.");
            (Lock::default(), Diagnostic::error("Failed to read dependency lock file", detail).into())
        }
    }
}

/// For plan and apply: every provider that is needed must be selected, allowed, installed and unchanged.
pub async fn resolve(setup: &Setup, requirements: &Requirements) -> Result<Found, Diagnostics> {
    let mut look = Look::new(setup)?;
    look.inconsistencies(requirements)?;
    let mut problems = Vec::new();
    for provider in look.lock.providers.keys().cloned().collect::<Vec<_>>() {
        if look.found.origins.contains_key(&provider) {
            continue;
        }
        match look.package(&provider) {
            Ok(origin) => {
                look.found.origins.insert(provider, origin);
            }
            Err(why) if requirements.0.contains_key(&provider) => problems.push(format!("  - {provider}: {why}\n")),
            Err(why) => {
                let missing = Origin::Missing(Diagnostic::error(format!("{provider}: {why}"), "").into());
                look.found.origins.insert(provider, missing);
            }
        }
    }
    if !problems.is_empty() {
        let detail = format!(
            "The installed provider plugins are not consistent with the packages selected in the dependency lock file:\n{}\nTerrane \
             uses external plugins to integrate with a variety of different infrastructure services. To download the plugins \
             required for this configuration, run:\n  terrane init",
            problems.concat(),
        );
        return Err(Diagnostic::error("Required plugins are not installed", detail).into());
    }
    Ok(look.finish())
}

/// For commands that want schemas of what is there: what is missing is said when it is asked for.
pub async fn available(setup: &Setup, requirements: &Requirements) -> Result<Found, Diagnostics> {
    let mut look = Look::new(setup)?;
    let locked: Vec<addr::Provider> = look.lock.providers.keys().cloned().collect();
    for provider in requirements.0.keys().chain(&locked) {
        if look.found.origins.contains_key(provider) {
            continue;
        }
        let origin = if look.lock.get(provider).is_none() {
            Origin::Missing(
                Diagnostic::error(
                    "Missing required provider",
                    format!(
                        "This configuration requires provider {provider}, but that provider isn't available. You may be able to \
                         install it automatically by running:\n  terrane init{}",
                        built_in_hint(provider),
                    ),
                )
                .into(),
            )
        } else {
            match look.package(provider) {
                Ok(origin) => origin,
                Err(why) => Origin::Missing(Diagnostic::error(format!("{provider}: {why}"), "").into()),
            }
        };
        look.found.origins.insert(provider.clone(), origin);
    }
    Ok(look.finish())
}

/// What to say to those who cannot have a provider of hashicorp's that we have one like.
pub fn built_in_hint(provider: &addr::Provider) -> String {
    let twin = addr::Provider::builtin(&provider.kind);
    if !provider.is_default() || !is_built_in(&twin) {
        return String::new();
    }
    format!(
        "\n\nTerrane has a built-in provider {kind:?} with the same resources. To use it, which needs no installation, write in the \
         configuration:\n\n  terraform {{\n    required_providers {{\n      {kind} = {{\n        source = \"{twin}\"\n      }}\n    }}\n  }}",
        kind = &*provider.kind,
    )
}

struct Look<'a> {
    setup: &'a Setup,
    lock: Lock,
    found: Found,
}

impl<'a> Look<'a> {
    fn new(setup: &'a Setup) -> Result<Look<'a>, Diagnostics> {
        let (lock, diagnostics) = lock_file();
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let mut found = Found { warnings: diagnostics, ..Found::default() };
        for plugin in crate::builtin::table::PLUGINS.iter().filter(|plugin| plugin.kind() == "provider") {
            found.origins.insert(addr::Provider::builtin(plugin.name), Origin::BuiltIn);
        }
        for (provider, dir) in &setup.settings.dev_overrides {
            found.origins.insert(provider.clone(), overridden(provider, dir));
        }
        let reattached = setup.environment.get(env::TF_REATTACH_PROVIDERS).unwrap_or_default();
        let reattached = reattach::parse(reattached)
            .map_err(|why| Diagnostics::from(Diagnostic::error("Invalid TF_REATTACH_PROVIDERS", why)))?;
        for (name, at) in reattached {
            let Some(provider) = super::settings::provider(&name) else {
                let why = format!("Invalid provider source address {name:?}.");
                return Err(Diagnostic::error("Invalid TF_REATTACH_PROVIDERS", why).into());
            };
            found.origins.insert(provider, Origin::Reattached(at));
        }
        Ok(Look { setup, lock, found })
    }

    /// Complains about requirements that the selections do not meet.
    fn inconsistencies(&self, requirements: &Requirements) -> Result<(), Diagnostics> {
        let mut lines = Vec::new();
        let mut hints = String::new();
        for (provider, constraints) in &requirements.0 {
            if self.found.origins.contains_key(provider) {
                continue;
            }
            if provider.is_builtin() {
                let line = format!("  - provider {provider}: this version of Terrane has no built-in provider {:?}\n", &*provider.kind);
                lines.push(line);
                continue;
            }
            match self.lock.get(provider) {
                None => {
                    hints.push_str(&built_in_hint(provider));
                    lines.push(format!(
                        "  - provider {provider}: required by this configuration but no version is selected\n",
                    ));
                }
                Some(locked) if !allowed(locked, constraints) => lines.push(format!(
                    "  - provider {provider}: locked version selection {} doesn't match the updated version constraints \"{constraints}\"\n",
                    locked.version,
                )),
                Some(_) => {}
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        let advice = if self.lock.is_empty() {
            "To make the initial dependency selections that will initialize the dependency lock file, run:\n  terrane init"
        } else {
            "To update the locked dependency selections to match a changed configuration, run:\n  terrane init -upgrade"
        };
        let detail = format!(
            "The following dependency selections recorded in the lock file are inconsistent with the current configuration:\n{}\n{advice}{hints}",
            lines.concat(),
        );
        Err(Diagnostic::error("Inconsistent dependency lock file", detail).into())
    }

    /// The installed package of a selected provider, with its content checked.
    fn package(&self, provider: &addr::Provider) -> Result<Origin, String> {
        let Some(locked) = self.lock.get(provider) else { return Err("no version is selected".into()) };
        let cache = self.setup.workdir.providers_dir();
        let dir = cache
            .join(&*provider.host)
            .join(&*provider.namespace)
            .join(&*provider.kind)
            .join(locked.version.to_string())
            .join(platform());
        if !dir.is_dir() {
            return Err(format!("there is no package for {provider} {} cached in {}", locked.version, cache.display()));
        }
        let hash = super::package_hash::checked(self.setup, &dir, locked).map_err(|why| {
            format!("the cached package for {provider} {} (in {}) {why}", locked.version, cache.display())
        })?;
        let program = program_in(&dir, &provider.kind)?;
        Ok(Origin::Package { program, hash: Some(hash) })
    }

    fn finish(mut self) -> Found {
        if !self.setup.settings.dev_overrides.is_empty() {
            self.found.warnings.push(overrides_warning(self.setup));
        }
        let (programs, warnings) = super::old_provisioners::find(self.setup);
        self.found.provisioner_programs = programs;
        self.found.warnings.extend(warnings);
        self.found
    }
}

fn allowed(locked: &LockedProvider, constraints: &Constraints) -> bool {
    constraints.allows(&locked.version)
}

fn overridden(provider: &addr::Provider, dir: &Path) -> Origin {
    match program_in(dir, &provider.kind) {
        Ok(program) => Origin::Package { program, hash: None },
        Err(why) => Origin::Missing(
            Diagnostic::error(
                "Failed to load plugin schemas",
                format!(
                    "Error while loading schemas for plugin components: Failed to obtain provider schema: Could not load the schema \
                     for provider {provider}: failed to instantiate provider {:?} to obtain schema: {why}..",
                    provider.to_string(),
                ),
            )
            .into(),
        ),
    }
}

pub fn overrides_warning(setup: &Setup) -> Diagnostic {
    let list: String = setup
        .settings
        .dev_overrides
        .iter()
        .map(|(provider, dir)| format!(" - {} in {}\n", provider.for_display(), dir.display()))
        .collect();
    Diagnostic::warning(
        "Provider development overrides are in effect",
        format!(
            "The following provider development overrides are set in the CLI configuration:\n{list}\nThe behavior may therefore not \
             match any released version of the provider and applying changes may cause the state to become incompatible with \
             published releases.",
        ),
    )
}

/// The program of a provider in its package's folder: the file whose name begins as such programs' names do.
pub fn program_in(dir: &Path, kind: &str) -> Result<PathBuf, String> {
    let prefix = format!("terraform-provider-{kind}");
    let entries = Disk.list(dir).map_err(|e| format!("could not read package directory: {e}"))?;
    let fits = |name: &str| {
        name.strip_prefix(&prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('_') || rest.starts_with('.'))
    };
    match entries.into_iter().find(|entry| !entry.is_dir && fits(&entry.name)) {
        Some(entry) => std::path::absolute(dir.join(entry.name)).map_err(|e| e.to_string()),
        None => Err(format!("provider binary not found: could not find executable file starting with {prefix}")),
    }
}
