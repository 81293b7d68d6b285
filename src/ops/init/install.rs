//! Installing the required providers of a working directory, and updating its lock file.

use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use model::addr;
use model::deps::{Lock, Requirements};
use model::state::State;

use super::interface::{InitEvent, InitRequest, TellInit, upgrade_of_readonly_lock};
use crate::configuration::load::LoadedTests;
use crate::plugins::{packages, public_built_ins};
use crate::policies::install_gate::InstallGate;
use crate::providers::install::{InstallRequest, incomplete_lock, install, keep_lock};
use crate::providers::{ProviderEvent, store_provider};
use crate::setup::Setup;
use crate::setup::network::Network;

/// What needs providers.
pub struct ProviderNeeds<'a> {
    pub loaded: &'a LoadedTests,
    pub state: Option<&'a State>,
    /// The provider of the state store.
    pub store: Option<&'a addr::Provider>,
    pub policies: Option<&'a InstallGate>,
}

/// Installs what the configuration and the state need. Gives warnings, or errors with the warnings besides.
pub async fn run(
    setup: &Setup,
    network: &Network,
    needs: ProviderNeeds<'_>,
    request: &InitRequest,
    tell: TellInit<'_>,
) -> Result<Diagnostics, Diagnostics> {
    let (requirements, mut diagnostics) = requirements(&needs);
    let lock = diagnostics.take(packages::lock_file(&setup.root));
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    if request.upgrade && request.lockfile_readonly {
        diagnostics.push(upgrade_of_readonly_lock());
        return Err(diagnostics);
    }
    tell(InitEvent::Providers);
    let hear = &mut |event: ProviderEvent| tell(event.into());
    let unmanaged = match packages::unmanaged(setup) {
        Ok(unmanaged) => unmanaged,
        Err(problems) => {
            diagnostics.extend(problems);
            return Err(diagnostics);
        }
    };
    let selected = store_provider::with_selections(setup, &lock);
    let keep = needs.store.filter(|_| !request.reconfigure);
    let wanted = InstallRequest {
        requirements: &requirements,
        lock: &selected,
        unmanaged,
        plugin_dirs: &request.plugin_dirs,
        upgrade: request.upgrade,
        keep,
        store: needs.store,
        policies: needs.policies.map(|gate| (gate, &*needs.loaded.config.root)),
    };
    let installed = install(setup, network, &wanted, hear).await;
    diagnostics.extend(packages::overrides_warning(setup));
    diagnostics.extend(installed.diagnostics);
    if diagnostics.has_errors() {
        // After an interrupt, complete packages are kept: the next run does not download them again.
        let complete = lock.clone().with(installed.lock);
        if setup.stop.is_stopping() && !request.lockfile_readonly && !lock.same_packages(&complete) {
            diagnostics.extend(keep_lock(&complete, setup.dialect(), hear).err());
        }
        return Err(diagnostics);
    }
    let changed = !lock.same_packages(&installed.lock);
    if changed && request.lockfile_readonly {
        diagnostics.push(unkept_lock(&lock, &installed.lock));
    } else if changed {
        let only_here = setup.stores.only_here().into_iter().chain(installed.only_here).collect();
        let kept = keep_lock(&installed.lock, setup.dialect(), hear);
        diagnostics.extend(incomplete_lock(only_here));
        diagnostics.extend(kept.err());
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    diagnostics.extend(public_built_ins::write(setup, &requirements, &wanted.unmanaged));
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(diagnostics) }
}

/// The providers that configuration, tests and state need.
fn requirements(needs: &ProviderNeeds<'_>) -> (Requirements, Diagnostics) {
    let ProviderNeeds { loaded, state, .. } = needs;
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
