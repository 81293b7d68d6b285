//! The `consul` backend: states as keys of Consul's store, locks as locks of its sessions.
//!
//! Owns workspaces; operations on one state are in `store`. Never knows the content of states.

mod client;
mod settings;
mod store;

use std::sync::Arc;

use async_trait::async_trait;
use client::{Consul, Outcome, Step};
use settings::{Options, connect};
use store::{ConsulStore, chunks_of};
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::Value;

use crate::contract::settings::{Settings, failure};
use crate::contract::{Backend, Context, DEFAULT_WORKSPACE, FirstState, StateStore, StoreError};
use crate::kinds::{Kind, Opened};
use crate::objects::workspaces;

/// Between the path of the default workspace and the name of another one.
const WORKSPACE_SUFFIX: &str = "-env:";

/// The kind that opens [`ConsulBackend`].
pub struct ConsulKind;

#[async_trait]
impl Kind for ConsulKind {
    fn name(&self) -> &'static str {
        "consul"
    }

    fn schema(&self) -> Block {
        settings::schema()
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>> {
        let settings = Settings::of(config, context);
        let consul = connect(&settings).map_err(|problem| vec![failure(problem)])?;
        let flag = |name: &str| config.get(name).and_then(Value::as_bool);
        let options = Options { gzip: flag("gzip").unwrap_or(false), lock: flag("lock").unwrap_or(true) };
        let path = config.get("path").and_then(Value::as_str).unwrap_or_default().to_owned();
        if path.starts_with('/') {
            return Err(vec![failure(format!("Invalid key. Key must not begin with a '/': {path}"))]);
        }
        Ok(Opened::States(Arc::new(ConsulBackend { consul, path, options, context: context.clone() })))
    }
}

/// States below a path.
pub struct ConsulBackend {
    consul: Consul,
    path: String,
    options: Options,
    context: Context,
}

impl ConsulBackend {
    fn path_of(&self, workspace: &str) -> String {
        match workspace {
            DEFAULT_WORKSPACE => self.path.clone(),
            name => format!("{}{WORKSPACE_SUFFIX}{name}", self.path),
        }
    }
}

#[async_trait]
impl Backend for ConsulBackend {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        let prefix = format!("{}{WORKSPACE_SUFFIX}", self.path);
        let keys = self.consul.keys(&prefix).await?;
        // A key below a state is one of its pieces or locks.
        let names = keys.iter().filter_map(|key| key.strip_prefix(&prefix)).filter(|name| !name.contains('/'));
        Ok(workspaces::with_default(names.map(str::to_owned)))
    }

    async fn delete_workspace(&self, name: &str, _force: bool) -> Result<(), StoreError> {
        if name == DEFAULT_WORKSPACE || name.is_empty() {
            return Err(StoreError::new("can't delete default state"));
        }
        let path = self.path_of(name);
        let stored = self.consul.get(&path).await?;
        self.consul.delete(&path, false).await?;
        match stored.and_then(|pair| chunks_of(&pair.value)) {
            Some(chunks) => self.consul.delete(&chunks.folder(&path), true).await,
            None => Ok(()),
        }
    }

    async fn open_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        let path = self.path_of(workspace);
        if workspace != DEFAULT_WORKSPACE && self.consul.get(&path).await?.is_none() {
            // Refused if another process made it meanwhile, which is as good.
            let created = self.consul.transaction(&[Step::cas(&path, &first.content()?, 0)]).await?;
            if let Outcome::TooLarge(error) = created {
                return Err(error);
            }
        }
        let parameters =
            self.consul.parameters.iter().map(|(name, value)| format!("{name}={value} ")).collect::<String>();
        let journal = self.context.journal_of(workspace, &[self.consul.base.as_str(), &parameters, &path]);
        Ok(Arc::new(ConsulStore::new(self.consul.clone(), path, self.options, journal)))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, first).await
    }
}

#[cfg(test)]
mod tests;
