//! The package of each provider: compares the selections of the lock file with the requirements of the configuration and with
//! the installed packages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use base::diag::{Diagnostic, Diagnostics};
use base::env;
use base::files::Files;
use base::name::{COMMAND, PROGRAM};
use base::source::SourceFile;
use install::package::executable;
use install::providers::resolve::built_in_advice;
use install::verify::{self, InstalledPackage, PackageProblem};
use model::addr;
use model::deps::lock::{LOCK_FILE, Lock};
use model::deps::{Constraints, Requirements};
use plugin::reattach::{self, Reattach};
use terrane_protocol::provider::NO_SCHEMAS;

use super::origin::{MISSING_PROVIDER, Origin, ProvisionerPrograms};
use super::{old_provisioners, public_built_ins};
use crate::setup::Setup;
use crate::setup::built_in::is_built_in;
use crate::setup::root::Root;

const INVALID_REATTACH: &str = "Invalid TF_REATTACH_PROVIDERS";

/// Where each provider comes from.
#[derive(Clone, Debug, Default)]
pub struct ProviderOrigins {
    pub origins: BTreeMap<addr::Provider, Origin>,
    pub provisioner_programs: ProvisionerPrograms,
    pub warnings: Diagnostics,
}

impl ProviderOrigins {
    /// The errors for required providers that are not available.
    pub fn missing(&self, requirements: &Requirements) -> Diagnostics {
        let of = |provider| match self.origins.get(provider) {
            Some(Origin::Missing(problems)) => problems.clone(),
            _ => Diagnostics::new(),
        };
        requirements.0.keys().flat_map(of).collect()
    }
}

/// The lock file; empty if there is none.
pub fn lock_file(root: &Root) -> (Lock, Diagnostics) {
    match root.read_to_string(Path::new(LOCK_FILE)) {
        Ok(text) => Lock::parse(SourceFile::new(LOCK_FILE, text)),
        Err(_) if !root.exists(Path::new(LOCK_FILE)) => (Lock::default(), Diagnostics::new()),
        Err(e) => {
            let detail = format!("Error when reading the dependency lock file: {e}.");
            (Lock::default(), Diagnostic::error("Failed to read dependency lock file", detail).into())
        }
    }
}

fn not_installed(setup: &Setup, problems: &BTreeMap<addr::Provider, PackageProblem>) -> Diagnostic {
    verify::not_installed(problems, setup.environment.non_empty(env::TF_IN_AUTOMATION).is_some())
}

/// For plan and apply: every provider that is needed must be selected and allowed; all that are locked must be installed and
/// unchanged, which is checked first.
pub async fn resolve(setup: &Setup, requirements: &Requirements) -> Result<ProviderOrigins, Diagnostics> {
    let mut search = PackageSearch::new(setup)?;
    search.found.warnings.extend(public_built_ins::check(setup, requirements, &search.found.origins)?);
    let unmanaged = search.unmanaged();
    search.take_locked(|problems| not_installed(setup, problems))?;
    if let Some(problem) = verify::check_lock(requirements, &search.lock, &unmanaged) {
        let missing = requirements.0.keys().filter(|provider| search.lock.get(provider).is_none());
        return Err(problem.with_tip(advice(missing)).into());
    }
    Ok(search.finish())
}

/// For a saved plan, with the lock file that it was made with: as [`resolve`], and the selections must be the same. Missing
/// packages are reported as by `validate`.
pub fn resolve_planned(
    setup: &Setup,
    requirements: &Requirements,
    planned: &Lock,
) -> Result<ProviderOrigins, Diagnostics> {
    let mut search = PackageSearch::new(setup)?;
    search.found.warnings.extend(public_built_ins::check(setup, requirements, &search.found.origins)?);
    let unmanaged = search.unmanaged();
    search.take_locked(verify::corrupted)?;
    let problems = verify::check_planned_lock(requirements, planned, &search.lock, &unmanaged);
    if problems.has_errors() {
        return Err(problems);
    }
    Ok(search.finish())
}

/// For commands that want schemas of what is there: what is missing is said when it is asked for.
pub async fn available(setup: &Setup, requirements: &Requirements) -> Result<ProviderOrigins, Diagnostics> {
    let mut search = PackageSearch::new(setup)?;
    let needed = search.locked_too(requirements);
    let (packages, problems) = verify::find_packages(&needed, &search.lock, &setup.workdir.data_dir);
    search.take(packages, problems);
    search.note_missing(requirements);
    Ok(search.finish())
}

/// For `validate`: as [`available`], but what is locked must be there and unchanged, whether it is required or not.
pub fn intact(setup: &Setup, requirements: &Requirements) -> Result<ProviderOrigins, Diagnostics> {
    let mut search = PackageSearch::new(setup)?;
    let needed = search.locked_too(requirements);
    let (packages, problems) = verify::find_packages(&needed, &search.lock, &setup.workdir.data_dir);
    if !problems.is_empty() {
        return Err(verify::corrupted(&problems).into());
    }
    search.take(packages, problems);
    search.note_missing(requirements);
    Ok(search.finish())
}

/// Where one provider comes from; what is locked besides does not matter.
pub fn of_provider(setup: &Setup, provider: &addr::Provider, lock: &Lock) -> Result<Origin, Diagnostics> {
    let mut search = PackageSearch::new(setup)?;
    let mut needed = Requirements::default();
    needed.add(provider.clone(), Constraints::default());
    if !search.has(provider) {
        let (packages, problems) = verify::find_packages(&needed, lock, &setup.workdir.data_dir);
        if !problems.is_empty() {
            return Err(not_installed(setup, &problems).into());
        }
        search.take(packages, problems);
        search.note_missing(&needed);
    }
    let origin = search.found.origins.remove(provider);
    Ok(origin.unwrap_or_else(|| Origin::Missing(missing(provider).into())))
}

fn missing(provider: &addr::Provider) -> Diagnostic {
    if provider.is_builtin() {
        let detail = format!(
            "This configuration requires built-in provider {provider}, but that provider isn't available in this {PROGRAM} version."
        );
        return Diagnostic::error(MISSING_PROVIDER, detail);
    }
    Diagnostic::error(
        MISSING_PROVIDER,
        format!(
            "This configuration requires provider {provider}, but that provider isn't available. You may be able to install it \
             automatically by running:\n  {COMMAND} init"
        ),
    )
}

/// What to say of the missing ones that are built in, too.
fn advice<'p>(missing: impl Iterator<Item = &'p addr::Provider>) -> String {
    built_in_advice(missing.filter(|provider| is_built_in(&addr::Provider::builtin(&provider.kind))))
}

/// The providers that are not installed because they are reattached, or (true) have a development override.
pub fn unmanaged(setup: &Setup) -> Result<BTreeMap<addr::Provider, bool>, Diagnostics> {
    let mut all: BTreeMap<_, _> = setup.settings.dev_overrides().into_keys().map(|provider| (provider, true)).collect();
    all.extend(reattached(setup)?.into_keys().map(|provider| (provider, false)));
    Ok(all)
}

fn reattached(setup: &Setup) -> Result<BTreeMap<addr::Provider, Reattach>, Diagnostics> {
    let text = setup.environment.get(env::TF_REATTACH_PROVIDERS).unwrap_or_default();
    let invalid = |why: String| Diagnostics::from(Diagnostic::error(INVALID_REATTACH, why));
    let all = reattach::parse(text).map_err(|why| invalid(why.to_string()))?.into_iter().map(|(name, at)| {
        let provider = crate::setup::settings::provider(&name);
        let provider = provider.ok_or_else(|| invalid(format!("Invalid provider source address {name:?}.")))?;
        Ok((provider, at))
    });
    all.collect()
}

struct PackageSearch<'a> {
    setup: &'a Setup,
    lock: Lock,
    found: ProviderOrigins,
}

impl<'a> PackageSearch<'a> {
    fn new(setup: &'a Setup) -> Result<PackageSearch<'a>, Diagnostics> {
        let (lock, diagnostics) = lock_file(&setup.root);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let mut found = ProviderOrigins { warnings: diagnostics, ..ProviderOrigins::default() };
        for plugin in builtin::table::PLUGINS.iter().filter(|plugin| plugin.kind() == "provider") {
            found.origins.insert(addr::Provider::builtin(plugin.name), Origin::BuiltIn);
        }
        found.origins.extend(setup.settings.built_in().into_keys().map(|provider| (provider, Origin::BuiltIn)));
        for (provider, dir) in &setup.settings.dev_overrides() {
            found.origins.insert(provider.clone(), overridden(provider, dir));
        }
        for (provider, at) in reattached(setup)? {
            found.origins.insert(provider, Origin::Reattached(at));
        }
        Ok(PackageSearch { setup, lock, found })
    }

    fn has(&self, provider: &addr::Provider) -> bool {
        self.found.origins.contains_key(provider)
    }

    /// Providers that no lock speaks of.
    fn unmanaged(&self) -> BTreeSet<addr::Provider> {
        self.found.origins.keys().cloned().collect()
    }

    /// What is required, and what is locked beside it: a state may still speak of that.
    fn locked_too(&self, requirements: &Requirements) -> Requirements {
        let mut all = requirements.clone();
        self.lock.providers.keys().for_each(|provider| all.add(provider.clone(), Constraints::default()));
        all.0.retain(|provider, _| !self.has(provider));
        all
    }

    /// Takes all locked packages; they must be installed and unchanged, else `error` words the problems.
    fn take_locked(
        &mut self,
        error: impl FnOnce(&BTreeMap<addr::Provider, PackageProblem>) -> Diagnostic,
    ) -> Result<(), Diagnostics> {
        let locked = self.locked_too(&Requirements::default());
        let (packages, problems) = verify::find_packages(&locked, &self.lock, &self.setup.workdir.data_dir);
        if !problems.is_empty() {
            return Err(error(&problems).into());
        }
        self.take(packages, problems);
        Ok(())
    }

    fn take(
        &mut self,
        packages: BTreeMap<addr::Provider, InstalledPackage>,
        problems: BTreeMap<addr::Provider, PackageProblem>,
    ) {
        for (provider, package) in packages {
            let program = std::path::absolute(&package.executable).unwrap_or(package.executable);
            let hash = Some(package.hash.as_str().to_string());
            self.found.origins.insert(provider, Origin::Package { program, hash });
        }
        for (provider, why) in problems {
            let missing = Origin::Missing(Diagnostic::error(format!("{provider}: {why}"), "").into());
            self.found.origins.entry(provider).or_insert(missing);
        }
    }

    fn note_missing(&mut self, requirements: &Requirements) {
        let lacking: Vec<&addr::Provider> = requirements.0.keys().filter(|provider| !self.has(provider)).collect();
        let advice = advice(lacking.iter().copied());
        for (i, provider) in lacking.iter().enumerate() {
            // The advice is for all of them: it stands behind the last.
            let tip = if i + 1 == lacking.len() { advice.as_str() } else { "" };
            let problem = missing(provider).with_tip(tip);
            self.found.origins.insert((*provider).clone(), Origin::Missing(problem.into()));
        }
    }

    fn finish(mut self) -> ProviderOrigins {
        let (programs, warnings) = old_provisioners::find(self.setup);
        self.found.provisioner_programs = programs;
        self.found.warnings.extend(warnings);
        for (provider, origin) in &self.found.origins {
            match origin {
                Origin::Package { program, .. } => tracing::debug!("provider {provider}: {}", program.display()),
                Origin::BuiltIn => tracing::trace!("provider {provider}: built in"),
                Origin::Reattached(_) => tracing::debug!("provider {provider}: running already"),
                Origin::Missing(_) => tracing::warn!("provider {provider}: not installed"),
            }
        }
        self.found
    }
}

fn overridden(provider: &addr::Provider, dir: &Path) -> Origin {
    match executable(dir, provider).and_then(std::path::absolute) {
        Ok(program) => Origin::Package { program, hash: None },
        Err(why) => Origin::Missing(
            Diagnostic::error(
                NO_SCHEMAS,
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

/// A warning if programs of the settings replace installed providers.
pub fn overrides_warning(setup: &Setup) -> Option<Diagnostic> {
    let overrides = setup.settings.dev_overrides();
    if overrides.is_empty() {
        return None;
    }
    let line =
        |(provider, dir): (&addr::Provider, &PathBuf)| format!(" - {} in {}\n", provider.for_display(), dir.display());
    let list: String = overrides.iter().map(line).collect();
    Some(Diagnostic::warning(
        "Provider development overrides are in effect",
        format!(
            "The following provider development overrides are set in the CLI configuration:\n{list}\nThe behavior may therefore not \
             match any released version of the provider and applying changes may cause the state to become incompatible with \
             published releases.",
        ),
    ))
}
