//! The `kubernetes` backend: states as secrets of a cluster, locks as leases.
//!
//! Owns workspaces; operations on one state are in `store`. Never knows the content of states.

mod client;
mod exec;
mod kubeconfig;
mod settings;
mod store;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use client::{Api, ObjectKind};
use settings::{ClusterSettings, has_number_at_end, pairs};
use store::{KubernetesStore, ObjectNames};
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::Value;

use crate::contract::settings::{Settings, failure};
use crate::contract::{Backend, Context, DEFAULT_WORKSPACE, FirstState, StateStore, StoreError};
use crate::kinds::{Kind, Opened};

/// The kind that opens [`KubernetesBackend`].
pub struct Kubernetes;

#[async_trait]
impl Kind for Kubernetes {
    fn name(&self) -> &'static str {
        "kubernetes"
    }

    fn schema(&self) -> Block {
        settings::schema()
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>> {
        let settings = ClusterSettings(Settings::of(config, context));
        let access = settings.access().map_err(|problem| vec![problem])?;
        let namespace = settings.text("namespace").unwrap_or("default").to_owned();
        let suffix = settings.text("secret_suffix").unwrap_or_default().to_owned();
        if has_number_at_end(&suffix) {
            return Err(vec![failure(format!("secret_suffix must not end with '-<number>', got {suffix:?}"))]);
        }
        let labels = pairs(config.get("labels"));
        let api = Api::new(access, namespace.clone(), &context.environment).map_err(|why| vec![failure(why)])?;
        Ok(Opened::States(Arc::new(KubernetesBackend { api, namespace, suffix, labels, context: context.clone() })))
    }
}

/// States of one suffix in one namespace.
pub struct KubernetesBackend {
    api: Api,
    namespace: String,
    suffix: String,
    /// Besides those that every state has.
    labels: BTreeMap<String, String>,
    context: Context,
}

impl KubernetesBackend {
    fn place(&self, workspace: &str) -> ObjectNames {
        ObjectNames::new(&self.namespace, workspace, &self.suffix, &self.labels)
    }
}

#[async_trait]
impl Backend for KubernetesBackend {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        let selector = format!("{}=true,{}={}", store::STATE, store::SUFFIX, self.suffix);
        let secrets = self.api.list(ObjectKind::Secrets, &selector, false).await?;
        let workspace =
            |secret: &serde_json::Value| Some(secret["metadata"]["labels"][store::WORKSPACE].as_str()?.to_owned());
        let names: BTreeSet<String> =
            secrets.iter().filter_map(workspace).filter(|name| name != DEFAULT_WORKSPACE).collect();
        Ok([DEFAULT_WORKSPACE.to_owned()].into_iter().chain(names).collect())
    }

    async fn delete_workspace(&self, name: &str, _force: bool) -> Result<(), StoreError> {
        if name == DEFAULT_WORKSPACE || name.is_empty() {
            return Err(StoreError::new("can't delete default state"));
        }
        let place = self.place(name);
        let secrets = self.api.list(ObjectKind::Secrets, &place.selector(), false).await?;
        // The first part is what makes the workspace: while it is there, a deletion that failed can be repeated.
        let mut parts: Vec<(usize, String)> = secrets.iter().filter_map(|secret| place.part(secret)).collect();
        parts.sort();
        for (_, name) in parts.into_iter().rev() {
            self.api.delete(ObjectKind::Secrets, &name).await?;
        }
        self.api.delete(ObjectKind::Leases, &place.lease()).await
    }

    async fn open_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        let place = self.place(workspace);
        let journal = self.context.journal_of(workspace, &[self.api.address(), &self.namespace, &self.suffix]);
        let store = KubernetesStore::new(self.api.clone(), place, journal);
        if workspace != DEFAULT_WORKSPACE {
            store.create_if_missing(first).await?;
        }
        Ok(Arc::new(store))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, first).await
    }
}

#[cfg(test)]
mod tests;
