//! The provider configurations of a run: those of the tested module with the test file's in their place, and mocks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use base::diag::{Diagnostic, Diagnostics};
use engine::mock::{MockedProvider, MockedTypes};
use engine::ports::{Configuring, Host, Providers};
use engine::testing::{Unconfigured, random_of};
use lang::syntax::body::Body;
use model::addr::{self, AbsProviderConfig, LocalProviderConfig};
use model::config::test_file::{MockProvider, TestFile, TestProvider, TestRun};
use model::config::{Config, Module, ProviderBlock};
use terrane_protocol::provider::{Provider, ProviderDiagnostics, Provisioner};
use terrane_protocol::schema::ProviderSchemas;
use terrane_value::Value;

use crate::plugins::factories::Factories;

/// The configuration that a run tests, with the provider configurations that the test file puts into its root module.
pub struct Prepared {
    pub config: Arc<Config>,
    /// Configurations that are mocked, with the block of the file.
    pub mocks: BTreeMap<AbsProviderConfig, MockProvider>,
}

/// Puts the file's provider configurations in the place of those of the same name: those that the run names, or, if it names none,
/// all that the module uses.
pub fn prepare(base: &Config, file: &TestFile, run: &TestRun) -> (Prepared, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut root = Module::clone(&base.root);
    let mut mocks = BTreeMap::new();
    if run.providers.is_empty() {
        let used = used_providers(&base.root);
        for (key, provider) in file.providers.iter().filter(|(key, _)| used.contains(*key)) {
            let (name, alias) = match key.split_once('.') {
                Some((name, alias)) => (name, Some(Arc::from(alias))),
                None => (key.as_str(), None),
            };
            put(&mut root, &mut mocks, LocalProviderConfig { local_name: name.into(), alias }, provider);
        }
    }
    for passing in &run.providers {
        let name = passing.in_parent.addr.to_string();
        match file.providers.get(&name) {
            Some(provider) => put(&mut root, &mut mocks, passing.in_child.addr.clone(), provider),
            None => {
                let detail = "This provider block references a provider definition that does not exist.";
                let missing = Diagnostic::error(format!("Missing provider definition for {name}"), detail);
                diagnostics.push(missing.at(passing.in_parent.range.clone()));
            }
        }
    }
    (Prepared { config: Arc::new(Config { root: Arc::new(root) }), mocks }, diagnostics)
}

/// The `provider` blocks of the file that a run uses.
pub fn blocks_of<'f>(base: &Config, file: &'f TestFile, run: &TestRun) -> Vec<&'f ProviderBlock> {
    if !run.providers.is_empty() {
        return file.providers_of(run).into_iter().filter_map(TestProvider::real).collect();
    }
    let used = used_providers(&base.root);
    let providers = file.providers.iter().filter(|(key, _)| used.contains(*key));
    providers.filter_map(|(_, provider)| provider.real()).collect()
}

fn put(
    root: &mut Module,
    mocks: &mut BTreeMap<AbsProviderConfig, MockProvider>,
    name: LocalProviderConfig,
    provider: &TestProvider,
) {
    let alias = name.alias.clone();
    let addr =
        AbsProviderConfig::new(addr::Module::root(), root.provider_for_local_name(&name.local_name), alias.clone());
    let block = match provider {
        TestProvider::Real(block) => {
            mocks.remove(&addr);
            ProviderBlock { name: name.local_name.clone(), alias, ..block.clone() }
        }
        TestProvider::Mock(mock) => {
            mocks.insert(addr, mock.clone());
            ProviderBlock {
                name: name.local_name.clone(),
                name_range: mock.name_range.clone(),
                alias,
                for_each: mock.for_each.clone(),
                instances: mock.instances.clone(),
                version: None,
                body: Body::empty(&mock.range.file),
                range: mock.range.clone(),
            }
        }
    };
    root.providers.insert(name, block);
}

/// The names of provider configurations that a root module uses: `aws`, `aws.west`.
fn used_providers(module: &Module) -> BTreeSet<String> {
    let mut used: BTreeSet<String> = module.providers.keys().map(ToString::to_string).collect();
    for (name, requirement) in module.requirements.iter().filter(|(_, requirement)| requirement.explicit) {
        used.insert(name.to_string());
        used.extend(requirement.aliases.iter().map(ToString::to_string));
    }
    for resource in module.resources.values() {
        used.insert(match &resource.provider_ref {
            Some(reference) => reference.addr.to_string(),
            None => resource.provider.kind.to_string(),
        });
    }
    for call in module.calls.values() {
        used.extend(call.providers.iter().map(|passing| passing.in_parent.addr.to_string()));
    }
    used
}

/// Providers that are not configured with unknown values: an unknown region could be another one, where the objects are not found.
pub struct KnownConfigurations(pub Arc<dyn Providers>);

#[async_trait]
impl Providers for KnownConfigurations {
    async fn schemas(&self, provider: &addr::Provider) -> Result<Arc<dyn ProviderSchemas>, Diagnostics> {
        self.0.schemas(provider).await
    }

    async fn unconfigured(&self, provider: &addr::Provider) -> Result<Arc<dyn Provider>, Diagnostics> {
        self.0.unconfigured(provider).await
    }

    async fn configured(
        &self,
        addr: &AbsProviderConfig,
        config: Value,
        how: Configuring,
    ) -> Result<(Arc<dyn Provider>, ProviderDiagnostics), Diagnostics> {
        if config.is_wholly_known() {
            return self.0.configured(addr, config, how).await;
        }
        let detail = format!(
            "The configuration for {addr} depends on values that are not known, so its objects cannot be destroyed."
        );
        Err(Diagnostic::error("Unknown provider configuration", detail).into())
    }

    async fn provisioner(&self, kind: &str) -> Result<Arc<dyn Provisioner>, Diagnostics> {
        self.0.provisioner(kind).await
    }

    async fn stop(&self) {
        self.0.stop().await;
    }
}

/// The providers of a run: mocked configurations without a process, others by the processes of the file.
pub struct TestProviders {
    pub real: Arc<Factories>,
    /// The evaluated values of mocked configurations.
    pub mocks: BTreeMap<AbsProviderConfig, MockedTypes>,
    /// Those of which all configurations are mocked.
    pub without_process: Vec<addr::Provider>,
    pub host: Arc<dyn Host>,
}

impl TestProviders {
    /// The values of a provider of which all configurations are mocked.
    fn is_only_mocked(&self, provider: &addr::Provider) -> Option<&MockedTypes> {
        self.without_process.contains(provider).then_some(())?;
        self.mocks.iter().find(|(addr, _)| addr.provider == *provider).map(|(_, types)| types)
    }

    async fn mocked(&self, provider: &addr::Provider, types: &MockedTypes) -> Result<Arc<dyn Provider>, Diagnostics> {
        let schemas = self.real.schemas(provider).await?;
        let real = Arc::new(Unconfigured { providers: self.real.clone(), addr: provider.clone() });
        Ok(Arc::new(MockedProvider::new(schemas, types.clone(), random_of(self.host.clone()), real)))
    }
}

#[async_trait]
impl Providers for TestProviders {
    async fn schemas(&self, provider: &addr::Provider) -> Result<Arc<dyn ProviderSchemas>, Diagnostics> {
        self.real.schemas(provider).await
    }

    async fn unconfigured(&self, provider: &addr::Provider) -> Result<Arc<dyn Provider>, Diagnostics> {
        match self.is_only_mocked(provider) {
            Some(types) => self.mocked(provider, types).await,
            None => self.real.unconfigured(provider).await,
        }
    }

    async fn configured(
        &self,
        addr: &AbsProviderConfig,
        config: Value,
        how: Configuring,
    ) -> Result<(Arc<dyn Provider>, ProviderDiagnostics), Diagnostics> {
        match self.mocks.get(&addr.whole()) {
            Some(types) => Ok((self.mocked(&addr.provider, types).await?, ProviderDiagnostics::new())),
            None => self.real.configured(addr, config, how).await,
        }
    }

    async fn provisioner(&self, kind: &str) -> Result<Arc<dyn Provisioner>, Diagnostics> {
        self.real.provisioner(kind).await
    }

    async fn stop(&self) {
        self.real.stop().await;
    }
}
