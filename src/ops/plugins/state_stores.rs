//! The providers of state stores: the package that the lock file selects, and what starts its processes.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use install::verify::INCONSISTENT_LOCK;
use model::addr;
use model::deps::lock::Lock;
use model::deps::{Constraints, Version};

use super::factories::Factories;
use super::origin::Origin;
use super::packages;
use crate::setup::Setup;
use crate::setup::store_processes::LastingProviders;

/// How a provider comes to a command; the names are those that the record of the backend has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    BuiltIn,
    Reattached,
    DevOverride,
    Managed,
}

impl Supply {
    pub fn name(self) -> &'static str {
        match self {
            Supply::BuiltIn => "built_in",
            Supply::Reattached => "reattached",
            Supply::DevOverride => "dev_override",
            Supply::Managed => "managed_by_terraform",
        }
    }
}

/// A provider that can be started to keep states.
#[derive(Clone)]
pub struct StoreProvider {
    pub address: addr::Provider,
    pub supply: Supply,
    /// None if no lock file selects it.
    pub version: Option<Version>,
    pub processes: Arc<dyn LastingProviders>,
}

#[async_trait]
impl LastingProviders for Factories {
    async fn end(&self) {
        self.shutdown().await;
    }
}

/// How this command gets a provider.
pub fn supply(setup: &Setup, provider: &addr::Provider) -> Result<Supply, Diagnostics> {
    Ok(match packages::unmanaged(setup)?.get(provider) {
        Some(true) => Supply::DevOverride,
        Some(false) => Supply::Reattached,
        None if provider.is_builtin() || setup.settings.built_in().contains_key(provider) => Supply::BuiltIn,
        None => Supply::Managed,
    })
}

/// The provider as the lock file selects it; it must be installed. Its processes end with the command.
pub fn provider(setup: &Setup, address: &addr::Provider) -> Result<StoreProvider, Diagnostics> {
    let supply = supply(setup, address)?;
    let (lock, problems) = packages::lock_file(&setup.root);
    if problems.has_errors() {
        return Err(problems);
    }
    let lock = lock.with(setup.stores.selected());
    let version = lock.get(address).filter(|_| supply == Supply::Managed).map(|locked| locked.version.clone());
    let name = version.as_ref().map(Version::to_string).unwrap_or_default();
    let processes = setup.stores.of_provider((&setup.root, address), &name, || {
        let origin = match packages::of_provider(setup, address, &lock)? {
            Origin::Missing(problems) => return Err(problems),
            origin => origin,
        };
        // A schema of an earlier run could be outdated, and a process is needed anyway.
        let origins = BTreeMap::from([(address.clone(), origin)]);
        Ok(Factories::without_cache(setup, origins) as Arc<dyn LastingProviders>)
    })?;
    Ok(StoreProvider { address: address.clone(), supply, version, processes })
}

/// Checks that the lock file selects a provider in a version that the configuration allows.
pub fn check_selection(setup: &Setup, provider: &addr::Provider, constraints: &Constraints) -> Result<(), Diagnostics> {
    if supply(setup, provider)? != Supply::Managed {
        return Ok(());
    }
    let (lock, problems) = packages::lock_file(&setup.root);
    if problems.has_errors() {
        return Err(problems);
    }
    selection_problem(&lock, provider, constraints).map_or(Ok(()), |problem| Err(problem.into()))
}

fn selection_problem(lock: &Lock, provider: &addr::Provider, constraints: &Constraints) -> Option<Diagnostic> {
    let inconsistent = "The provider dependency used for state storage recorded in the lock file is inconsistent with the current configuration";
    let initial = format!(
        "To make the initial dependency selections that will initialize the dependency lock file, run:\n  {COMMAND} init"
    );
    let (what, why, advice) = match lock.get(provider) {
        None if lock.is_empty() => (
            "The provider dependency used for state storage is missing from the lock file despite being present in the current configuration",
            "required by this configuration but no version is selected".to_owned(),
            initial,
        ),
        None => (inconsistent, "required by this configuration but no version is selected".to_owned(), initial),
        Some(locked) if constraints.allows(&locked.version) => return None,
        Some(locked) => (
            inconsistent,
            format!(
                "locked version selection {} doesn't match the updated version constraints \"{constraints}\"",
                locked.version
            ),
            format!(
                "To update the locked dependency selections to match a changed configuration, run:\n  {COMMAND} init -upgrade"
            ),
        ),
    };
    let detail = format!("{what}:\n  - provider {provider}: {why}\n\n{advice}");
    Some(Diagnostic::error(INCONSISTENT_LOCK, detail))
}
