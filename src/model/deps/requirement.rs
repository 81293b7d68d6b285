//! Which providers are needed in which versions: from the configuration and from the state.

use std::collections::BTreeMap;

use base::diag::{Diagnostic, Diagnostics};

use super::constraint::Constraints;
use crate::addr::Provider;
use crate::config::{Config, Module};
use crate::model_errors::INVALID_VERSION_CONSTRAINT;
use crate::state::State;

/// Constraints by provider; empty constraints allow every release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements(pub BTreeMap<Provider, Constraints>);

impl Requirements {
    pub fn add(&mut self, provider: Provider, constraints: Constraints) {
        let entry = self.0.entry(provider).or_default();
        *entry = std::mem::take(entry).and(constraints);
    }

    pub fn merge(mut self, other: Requirements) -> Requirements {
        other.0.into_iter().for_each(|(provider, constraints)| self.add(provider, constraints));
        self
    }

    /// What the whole tree of modules needs.
    pub fn of_config(config: &Config) -> (Requirements, Diagnostics) {
        let mut requirements = Requirements::default();
        let mut diags = Diagnostics::new();
        for module in config.modules() {
            requirements.add_module(module, &mut diags);
        }
        (requirements, diags)
    }

    /// What one module needs itself, without those that it calls.
    pub fn of_module(module: &Module) -> (Requirements, Diagnostics) {
        let mut requirements = Requirements::default();
        let mut diags = Diagnostics::new();
        requirements.add_module(module, &mut diags);
        (requirements, diags)
    }

    /// What the objects in a state need.
    pub fn of_state(state: &State) -> Requirements {
        let mut requirements = Requirements::default();
        for resource in state.resources.values() {
            requirements.add(resource.provider.provider.clone(), Constraints::default());
        }
        requirements
    }

    fn add_module(&mut self, module: &Module, diags: &mut Diagnostics) {
        for requirement in module.requirements.values() {
            self.add(requirement.source.clone(), Constraints::default());
            for (text, range) in &requirement.versions {
                match Constraints::parse_for_provider(text) {
                    Ok(constraints) => self.add(requirement.source.clone(), constraints),
                    Err(problem) => {
                        let detail = format!("Incorrect version constraint syntax: {problem}.");
                        diags.push(Diagnostic::error(INVALID_VERSION_CONSTRAINT, detail).at(range.clone()));
                    }
                }
            }
        }
        for block in module.providers.values() {
            let Some(text) = block.version.as_ref().and_then(|e| e.as_literal_string()) else { continue };
            let source = module.provider_for_local_name(&block.name);
            match Constraints::parse_for_provider(&text) {
                Ok(constraints) => self.add(source, constraints),
                Err(problem) => {
                    let detail = format!("Incorrect version constraint syntax: {problem}.");
                    diags.push(Diagnostic::error(INVALID_VERSION_CONSTRAINT, detail).at(block.range.clone()));
                }
            }
        }
    }
}
