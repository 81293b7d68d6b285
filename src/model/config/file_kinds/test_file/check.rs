//! What a test file says about the configuration that it tests: what may fail, and what is overridden.

use base::diag::{Diagnostic, Diagnostics};

use super::overriding::INVALID_TARGET;
use super::{Overrides, TestFile, TestProvider, TestRun};
use crate::addr::parse::parse_test_reference;
use crate::addr::{ConfigResource, Subject, Target};
use crate::config::module::Config;

impl TestFile {
    /// Warns of overrides for the whole file that match nothing in the root module.
    pub fn check(&self, config: &Config) -> Diagnostics {
        let mut diags = Diagnostics::new();
        for provider in self.providers.values() {
            if let TestProvider::Mock(mock) = provider {
                check_overrides(&mock.data.overrides, config, &mut diags);
            }
        }
        check_overrides(&self.overrides, config, &mut diags);
        diags
    }
}

impl TestRun {
    /// Reports expected failures of what cannot fail, and warns of overrides that match nothing in the configuration
    /// that the run tests.
    pub fn check(&self, config: &Config) -> Diagnostics {
        let mut diags = Diagnostics::new();
        for (traversal, file) in &self.expect_failures {
            let reference = match parse_test_reference(traversal, file) {
                Ok(reference) => reference,
                Err(problem) => {
                    diags.push(problem);
                    continue;
                }
            };
            let checkable = matches!(
                reference.subject,
                Subject::Output(_)
                    | Subject::Variable(_)
                    | Subject::Check(_)
                    | Subject::Resource(_)
                    | Subject::ResourceInstance(_)
            );
            if !checkable {
                let detail = format!(
                    "You cannot expect failures from {}. You can only expect failures from checkable objects such as input \
                     variables, output values, check blocks, managed resources and data sources.",
                    reference.subject
                );
                diags.push(Diagnostic::error("Invalid `expect_failures` reference", detail).at(reference.range));
            }
        }
        check_overrides(&self.overrides, config, &mut diags);
        diags
    }
}

fn check_overrides(overrides: &Overrides, config: &Config, diags: &mut Diagnostics) {
    for (target, one) in overrides.iter().filter(|(_, one)| one.inline && !exists(&one.target, config)) {
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
