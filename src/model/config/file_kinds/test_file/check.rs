//! What a test file says about the configuration that it tests: what may fail, what is overridden, and which providers are used.

use base::diag::{Diagnostic, Diagnostics};

use super::expected::INVALID_EXPECTATION;
use super::overriding::{INVALID_TARGET, Overrides};
use super::{TestFile, TestProvider, TestRun};
use crate::addr::{ConfigResource, Target};
use crate::config::module::Config;

impl TestFile {
    /// Warns of overrides for the whole file that match nothing in the root module nor in a module that a run tests.
    pub fn check(&self, config: &Config) -> Diagnostics {
        let tested = self.runs.iter().filter(|run| run.module.is_some()).filter_map(|run| run.under_test.as_ref());
        let all: Vec<&Config> = [config].into_iter().chain(tested).collect();
        let mut diags = Diagnostics::new();
        for provider in self.providers.values() {
            if let TestProvider::Mock(mock) = provider {
                check_overrides(&mock.data.overrides, &all, &mut diags);
            }
        }
        check_overrides(&self.overrides, &all, &mut diags);
        diags
    }

    /// Reports providers of a run that the file does not have.
    pub fn missing_providers(&self, run: &TestRun) -> Diagnostics {
        let mut diags = Diagnostics::new();
        for given in run.providers.iter().map(|passing| &passing.in_parent) {
            let key = given.addr.to_string();
            if !self.providers.contains_key(&key) {
                let detail = "This provider block references a provider definition that does not exist.";
                let summary = format!("Missing provider definition for {key}");
                diags.push(Diagnostic::error(summary, detail).at(given.range.clone()));
            }
        }
        diags
    }
}

impl TestRun {
    /// Reports expected failures of what cannot fail, and warns of overrides that match nothing in the configuration
    /// that the run tests.
    pub fn check(&self, config: &Config) -> Diagnostics {
        let mut diags = Diagnostics::new();
        for expected in &self.expect_failures {
            let (target, range) = match expected.resolve() {
                Ok(found) => found,
                Err(problem) => {
                    diags.push(problem);
                    continue;
                }
            };
            // Objects of the root module are left to the run, as in the reference.
            if config.module(&target.module.module()).is_none() {
                let detail = format!("The configuration under test has no {}.", target.module.module());
                diags.push(Diagnostic::error(INVALID_EXPECTATION, detail).at(range));
            }
        }
        check_overrides(&self.overrides, &[config], &mut diags);
        diags
    }
}

fn check_overrides(overrides: &Overrides, configs: &[&Config], diags: &mut Diagnostics) {
    let is_missing = |target: &Target| !configs.iter().any(|config| exists(target, config));
    for (target, one) in overrides.iter().filter(|(_, one)| one.inline && is_missing(&one.target)) {
        let detail = format!(
            "The override target {target} does not exist within the configuration under test. This could indicate a typo in \
             the target address or an unnecessary override."
        );
        diags.push(Diagnostic::warning(INVALID_TARGET, detail).at(one.target_range.clone()));
    }
}

/// Whether there is such a block; instances are not known yet.
fn exists(target: &Target, config: &Config) -> bool {
    let resource = |addr: &ConfigResource| {
        config.module(&addr.module).is_some_and(|module| module.resources.contains_key(&addr.resource))
    };
    match target {
        Target::Module(module) => config.module(&module.module()).is_some(),
        Target::Resource(addr) => resource(&addr.config()),
        Target::Instance(addr) => resource(&addr.config()),
        Target::Pattern(pattern) => config.modules().iter().any(|module| {
            module.resources.keys().any(|resource| pattern.touches(&resource.in_module(module.path.clone())))
        }),
    }
}
