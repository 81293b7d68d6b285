//! The policies of a run: those of `-policies`, with the values of their inputs and the selected versions of providers.

use std::path::PathBuf;

use base::diag::Diagnostics;
use base::env;
use model::config::policy_file::{GivenInputs, POLICY_ENDING, PolicySet};

use super::files;
use crate::plugins::packages;
use crate::setup::Setup;

/// Reads the files at the paths. What is wrong with them, or with the values given for their inputs, is reported.
pub fn of_run(setup: &Setup, paths: &[PathBuf]) -> (PolicySet, Diagnostics) {
    if paths.is_empty() {
        return (PolicySet::default(), Diagnostics::new());
    }
    let (sources, mut diagnostics) = files::read(&setup.root, paths, POLICY_ENDING);
    let mut set = diagnostics.take(PolicySet::parse(sources, given_inputs(setup)));
    // What is wrong with the lock file is said where providers are started.
    let (lock, _) = packages::lock_file(&setup.root);
    let versions = lock.providers.iter().map(|(provider, locked)| (provider.clone(), locked.version.to_string()));
    set.provider_versions = versions.collect();
    (set, diagnostics)
}

/// The values that the environment has for inputs.
pub fn given_inputs(setup: &Setup) -> GivenInputs {
    let given = setup.environment.with_prefix(env::TFPOLICY_INPUT_);
    given.map(|(name, text)| (name.into(), text.to_owned())).collect()
}
