//! The schemas of a run, loaded in advance for code that is not async.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics, Kind};
use model::addr::{AbsProviderConfig, Provider, Resource};
use model::config::Config;
use model::schema::check;
use model::schema::list_block::list_block;
use model::state::State;
use rustc_hash::FxHashMap;
use terrane_protocol::provider::NO_SCHEMAS;
use terrane_protocol::schema::{ProviderSchemas, ResourceMode, Schema, SchemaError};
use terrane_value::text::go_quoted;

use crate::pending_request::PendingRequest;
use crate::ports::Ports;

#[derive(Clone, Default)]
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
                let of_actions = m.actions.values().map(|action| action.provider.clone());
                m.resources.values().map(|r| r.provider.clone()).chain(of_actions).chain(blocks).chain(required)
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
        let loading = providers.iter().map(async |provider| {
            let addr = AbsProviderConfig::root(provider.clone());
            let request = PendingRequest { name: "GetProviderSchema", provider, subject: &addr };
            request.answered(ports, ports.providers.schemas(provider)).await
        });
        let loaded = futures_util::future::join_all(loading).await;
        for (provider, loaded) in providers.into_iter().zip(loaded) {
            match loaded {
                Ok(of) => {
                    schemas.providers.insert(provider, of);
                }
                Err(errors) => diagnostics.extend(errors),
            }
        }
        diagnostics.extend(schemas.check_types(config, state));
        let of_resources = modules.iter().flat_map(|m| m.resources.values()).flat_map(|r| &r.provisioners);
        let of_removed = modules.iter().flat_map(|m| &m.removed).flat_map(|r| &r.provisioners);
        let blocks = of_resources.map(|block| (block, true)).chain(of_removed.map(|block| (block, false)));
        for (block, is_needed) in blocks {
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
                // What is removed may be gone already; the error comes when the provisioner is to run.
                Err(_) if !is_needed => {}
                Err(errors) => diagnostics.extend(errors.into_iter().map(|e| match e.subject {
                    Some(_) => e,
                    None if e.kind == Kind::MissingProvisioner => e,
                    None => e.at(block.type_range.clone()),
                })),
            }
        }
        (schemas, diagnostics)
    }

    /// An error for each provider with an invalid schema. Only types in use are looked at: reading all of them costs more
    /// than most plans.
    fn check_types(&self, config: &Config, state: Option<&State>) -> Diagnostics {
        let modules = config.modules();
        let configured = modules.iter().flat_map(|m| m.resources.values()).map(|r| (&r.provider, &r.addr));
        let stored = state.iter().flat_map(|s| &s.resources).map(|(addr, of)| (&of.provider.provider, &addr.resource));
        let kinds = configured.chain(stored).map(|(provider, addr)| (provider, addr.mode, &*addr.kind));
        let mut used: BTreeMap<&Provider, BTreeSet<(ResourceMode, &str)>> = BTreeMap::new();
        for (provider, mode, kind) in kinds {
            used.entry(provider).or_default().insert((mode, kind));
        }
        let problem = |(provider, kinds): (&Provider, BTreeSet<(ResourceMode, &str)>)| {
            let schemas = self.provider(provider)?;
            let problem = kinds.into_iter().find_map(|(mode, kind)| problem_of_type(&**schemas, mode, kind))?;
            let detail = format!(
                "Error while loading schemas for plugin components: Failed to obtain provider schema: Could not load the \
                 schema for provider {provider}: provider {provider} has {problem}.."
            );
            Some(Diagnostic::error(NO_SCHEMAS, detail))
        };
        used.into_iter().filter_map(problem).collect()
    }

    /// True if others are among these: the same values, and not only equal ones.
    pub fn include(&self, others: &Schemas) -> bool {
        let has_provider = |(provider, of): (&Provider, &Arc<dyn ProviderSchemas>)| {
            self.providers.get(provider).is_some_and(|own| Arc::ptr_eq(own, of))
        };
        let has_provisioner = |(kind, schema): (&Arc<str>, &Arc<Schema>)| {
            self.provisioners.get(kind).is_some_and(|own| Arc::ptr_eq(own, schema))
        };
        others.providers.iter().all(has_provider) && others.provisioners.iter().all(has_provisioner)
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

    /// The schema of an action's configuration; none if the provider has no such action.
    pub fn action(&self, provider: &Provider, kind: &str) -> Option<Arc<Schema>> {
        self.provider(provider)?.action(kind).ok().flatten()
    }

    pub fn kind(&self, provider: &Provider, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
        let schemas = self.provider(provider)?;
        find(&**schemas, mode, kind).ok().flatten()
    }
}

fn find(schemas: &dyn ProviderSchemas, mode: ResourceMode, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
    match mode {
        ResourceMode::Managed => schemas.managed(kind),
        ResourceMode::Data => schemas.data(kind),
        ResourceMode::Ephemeral => schemas.ephemeral(kind),
        ResourceMode::List => Ok(schemas.list_resource(kind)?.map(|settings| Arc::new(list_block(&settings)))),
    }
}

/// Why a provider must not be used for a type; none for a valid schema.
fn problem_of_type(schemas: &dyn ProviderSchemas, mode: ResourceMode, kind: &str) -> Option<String> {
    let mode_name = match mode {
        ResourceMode::Managed => "managed resource",
        ResourceMode::Data => "data resource",
        ResourceMode::Ephemeral => "ephemeral resource",
        ResourceMode::List => "list resource",
    };
    let schema = match find(schemas, mode, kind) {
        Ok(schema) => schema?,
        Err(unreadable) => return Some(invalid_schema(mode_name, kind, &unreadable.to_string())),
    };
    if schema.version < 0 {
        return Some(format!(
            "invalid negative schema version for {mode_name} type {kind:?}, which is a bug in the provider"
        ));
    }
    let problems = check::problems(&schema.block);
    (!problems.is_empty()).then(|| invalid_schema(mode_name, kind, &problems.join("\n")))
}

fn invalid_schema(mode_name: &str, kind: &str, why: &str) -> String {
    let why = go_quoted(why);
    format!("invalid schema for {mode_name} type {kind:?}, which is a bug in the provider: {why}")
}
