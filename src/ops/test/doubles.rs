//! What stands in for the outside in one run: mocked providers and overrides, with their values evaluated.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::Diagnostics;
use engine::mock::{DerivedFrom, MockedTypes, OverrideLayer, Overrides, ResolvedOverride, TestDoubles, TestNames};
use engine::ports::Providers;
use engine::testing::DeclaredDoubles;
use model::addr::{AbsProviderConfig, Provider, Target};
use model::config::test_file::{self, MockProvider, MockResource, OverrideDuring, TestRun};
use model::config::{ByName, Config};
use model::version::at_least;

use super::context::FileContext;
use super::providers::TestProviders;

/// What stands in for the outside in one run.
pub struct Doubles {
    mocks: BTreeMap<AbsProviderConfig, MockedTypes>,
    overrides: Overrides,
    names: TestNames,
    derived: DerivedFrom,
    /// Providers of which all configurations are mocked.
    without_process: Vec<Provider>,
}

impl Doubles {
    /// Evaluates the values of a run's mocks and overrides.
    pub fn of(
        context: &FileContext<'_>,
        run: &TestRun,
        config: &Config,
        mocks: BTreeMap<AbsProviderConfig, MockProvider>,
        names: TestNames,
    ) -> (Doubles, Diagnostics) {
        let mut declared = DeclaredDoubles::new(context.suite.host.clone());
        let of_run = overrides_of(&mut declared, &run.overrides, None);
        let of_file = overrides_of(&mut declared, &context.file.overrides, None);
        let mut layers = vec![
            OverrideLayer { provider: None, overrides: of_run },
            OverrideLayer { provider: None, overrides: of_file },
        ];
        let mut types = BTreeMap::new();
        for (addr, mock) in &mocks {
            let (inline, shared) = mock.data.overrides.clone().into_iter().partition(|(_, one)| one.inline);
            for overrides in [inline, shared] {
                layers.push(OverrideLayer {
                    provider: Some((addr.provider.clone(), addr.alias.clone())),
                    overrides: overrides_of(&mut declared, &overrides, mock.during),
                });
            }
            types.insert(addr.clone(), types_of(&mut declared, mock));
        }
        let without_process = only_mocked(config, &mocks);
        let DeclaredDoubles { derived, diagnostics, .. } = declared;
        (Doubles { mocks: types, overrides: Overrides::new(layers), names, derived, without_process }, diagnostics)
    }

    /// The configurations that are mocked.
    pub fn mocked(&self) -> Vec<AbsProviderConfig> {
        self.mocks.keys().cloned().collect()
    }

    pub fn providers(&self, context: &FileContext<'_>) -> Arc<dyn Providers> {
        Arc::new(TestProviders {
            real: context.factories.clone(),
            mocks: self.mocks.clone(),
            without_process: self.without_process.clone(),
            host: context.suite.host.clone(),
        })
    }

    pub fn of_engine(self) -> TestDoubles {
        TestDoubles {
            overrides: self.overrides,
            names: self.names,
            derived: self.derived,
            allows_ephemeral_outputs: at_least(14),
            ..TestDoubles::default()
        }
    }
}

/// The providers of which a configuration uses nothing but mocked configurations.
pub fn only_mocked(config: &Config, mocks: &BTreeMap<AbsProviderConfig, MockProvider>) -> Vec<Provider> {
    let is_mocked = |addr: &AbsProviderConfig| mocks.contains_key(addr);
    let has_real_block = |provider: &Provider| {
        config.modules().into_iter().any(|module| {
            let mut blocks = module.providers.keys();
            blocks.any(|local| {
                module.provider_for_local_name(&local.local_name) == *provider
                    && !is_mocked(&AbsProviderConfig::new(module.path.clone(), provider.clone(), local.alias.clone()))
            })
        })
    };
    let mut found: Vec<Provider> = Vec::new();
    for addr in mocks.keys() {
        let provider = &addr.provider;
        let is_default_mocked = is_mocked(&AbsProviderConfig::root(provider.clone()));
        if is_default_mocked && !has_real_block(provider) && !found.contains(provider) {
            found.push(provider.clone());
        }
    }
    found
}

/// The overrides of one place.
fn overrides_of(
    declared: &mut DeclaredDoubles,
    overrides: &test_file::Overrides,
    around: Option<OverrideDuring>,
) -> Vec<(Target, ResolvedOverride)> {
    overrides.values().map(|one| (one.target.clone(), declared.overriding(one, around))).collect()
}

/// What a mocked configuration gives for its types.
fn types_of(declared: &mut DeclaredDoubles, mock: &MockProvider) -> MockedTypes {
    let mut by_type = |blocks: &ByName<MockResource>| {
        blocks.iter().map(|(name, block)| (name.clone(), declared.mocked_type(block))).collect()
    };
    MockedTypes {
        resources: by_type(&mock.data.resources),
        data_sources: by_type(&mock.data.data_sources),
        ephemeral: BTreeMap::new(),
        during: mock.during,
    }
}
