//! The schemas that a run needs, at hand for code that cannot wait.

use crate::model::provider::NO_PROVISIONER;
use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::model::addr::{Provider, Resource, ResourceMode};
use crate::model::config::Config;
use crate::model::schema::{ProviderSchemas, Schema};
use crate::model::state::State;

use super::ports::Ports;

#[derive(Default)]
pub struct Schemas {
    providers: FxHashMap<Provider, Arc<dyn ProviderSchemas>>,
    provisioners: BTreeMap<Arc<str>, Arc<Schema>>,
}

impl Schemas {
    /// The schemas of all providers and provisioners that a configuration and a state speak of.
    pub async fn load(config: &Config, state: Option<&State>, ports: &Ports) -> (Schemas, Diagnostics) {
        let (mut schemas, mut diagnostics) = (Schemas::default(), Diagnostics::new());
        let modules = config.modules();
        let mut providers: Vec<Provider> = modules
            .iter()
            .flat_map(|m| {
                let blocks = m.providers.keys().map(|local| m.provider_for_local_name(&local.local_name));
                let required = m.requirements.values().map(|r| r.source.clone());
                m.resources.values().map(|r| r.provider.clone()).chain(blocks).chain(required)
            })
            .collect();
        providers.extend(
            config
                .root
                .imports
                .iter()
                .filter(|i| i.resource.module.is_root() && !config.root.resources.contains_key(&i.resource.resource))
                .map(|import| {
                    let written = import.provider_ref.as_ref().map(|p| p.addr.local_name.clone());
                    let local = written.unwrap_or_else(|| import.resource.resource.implied_provider().into());
                    config.root.provider_for_local_name(&local)
                }),
        );
        providers.extend(state.iter().flat_map(|s| s.resources.values()).map(|r| r.provider.provider.clone()));
        providers.sort();
        providers.dedup();
        let loading = providers.iter().map(|provider| ports.providers.schemas(provider));
        let loaded = futures_util::future::join_all(loading).await;
        for (provider, loaded) in providers.into_iter().zip(loaded) {
            match loaded {
                Ok(of) => {
                    schemas.providers.insert(provider, of);
                }
                Err(errors) => diagnostics.extend(errors),
            }
        }
        let of_resources = modules.iter().flat_map(|m| m.resources.values()).flat_map(|r| &r.provisioners);
        let blocks = of_resources.chain(modules.iter().flat_map(|m| &m.removed).flat_map(|r| &r.provisioners));
        for block in blocks {
            if schemas.provisioners.contains_key(&block.kind) {
                continue;
            }
            match ports.providers.provisioner(&block.kind).await {
                Ok(provisioner) => match provisioner.schema().await {
                    Ok(schema) => {
                        schemas.provisioners.insert(block.kind.clone(), schema);
                    }
                    Err(errors) => diagnostics.extend(
                        errors.into_iter().map(|e| Diagnostic::error(e.summary, e.detail).at(block.range.clone())),
                    ),
                },
                Err(errors) => diagnostics.extend(errors.into_iter().map(|e| match e.subject {
                    Some(_) => e,
                    None if e.summary == NO_PROVISIONER => e,
                    None => e.at(block.type_range.clone()),
                })),
            }
        }
        (schemas, diagnostics)
    }

    pub fn providers(&self) -> impl Iterator<Item = (&Provider, &Arc<dyn ProviderSchemas>)> {
        self.providers.iter()
    }

    pub fn provider(&self, provider: &Provider) -> Option<&Arc<dyn ProviderSchemas>> {
        self.providers.get(provider)
    }

    pub fn provisioner(&self, kind: &str) -> Option<&Arc<Schema>> {
        self.provisioners.get(kind)
    }

    /// The schema of a resource type; none if the provider has no such type.
    pub fn resource(&self, provider: &Provider, resource: &Resource) -> Option<Arc<Schema>> {
        self.kind(provider, resource.mode, &resource.kind)
    }

    pub fn kind(&self, provider: &Provider, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
        let schemas = self.provider(provider)?;
        let found = match mode {
            ResourceMode::Managed => schemas.managed(kind),
            ResourceMode::Data => schemas.data(kind),
            ResourceMode::Ephemeral => schemas.ephemeral(kind),
        };
        found.ok().flatten()
    }
}
