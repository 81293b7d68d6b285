//! HCP Terraform and Terraform Enterprise: the `remote` backend, and the `cloud` block, which is a backend here too.
//!
//! Owns which workspaces there are and where their states are. Operations that run there start from [`Hcp`].
//! Never knows the configuration.

mod api;
mod checks;
pub mod connect;
mod logs;
mod runs;
pub mod settings;
mod store;
mod workspaces;

use std::sync::Arc;

pub use api::{Api, ApiError};
use async_trait::async_trait;
use base::env;
use base::name::PROGRAM;
pub use checks::{CostEstimate, PolicyCheck, PolicyEvaluation, TaskResult, TaskStage};
use model::version::compatible_version;
pub use runs::{NewRun, Phase, Purpose, Run};
pub use settings::Mapping;
use store::{HcpStore, Opening, Snapshots};
use terrane_protocol::provider::ProviderDiagnostic;
pub use workspaces::Workspace;
use workspaces::{Filter, New, Workspaces};

use crate::contract::{Backend, Context, DEFAULT_WORKSPACE, ErrorKind, FirstState, StateStore, StoreError};

/// Which of the two it is: they differ in names of workspaces, and in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    Remote,
    Cloud,
}

/// The service with the organisation of a configuration.
pub struct Hcp {
    pub flavor: Flavor,
    pub hostname: String,
    pub mapping: Mapping,
    /// What the service calls itself.
    pub app_name: &'static str,
    /// Operations never run on the service's machines.
    pub force_local: bool,
    /// Plans of runs are described by documents where the workspace is set so.
    pub supports_structured_output: bool,
    project: Option<String>,
    workspaces: Workspaces,
    context: Context,
}

impl Hcp {
    pub fn organization(&self) -> &str {
        &self.workspaces.organization
    }

    pub fn api(&self) -> &Api {
        &self.workspaces.api
    }

    /// What the service calls a workspace of the working directory.
    pub fn service_name(&self, workspace: &str) -> String {
        match (&self.mapping, self.flavor) {
            (Mapping::Name(name), Flavor::Remote) if workspace == DEFAULT_WORKSPACE => name.clone(),
            (Mapping::Prefix(prefix), _) if !workspace.starts_with(&**prefix) => format!("{prefix}{workspace}"),
            _ => workspace.to_owned(),
        }
    }

    /// A workspace as the service describes it; none: it does not exist.
    pub async fn workspace(&self, name: &str) -> Result<Option<Workspace>, ApiError> {
        self.workspaces.read(&self.service_name(name)).await
    }

    /// Whether a workspace of this name may exist here.
    fn check_name(&self, workspace: &str) -> Result<(), StoreError> {
        let is_default = workspace == DEFAULT_WORKSPACE;
        match (&self.mapping, self.flavor) {
            (Mapping::Name(_), Flavor::Remote) if is_default => Ok(()),
            (Mapping::Name(_), Flavor::Remote) => Err(StoreError::workspaces_unsupported()),
            _ if is_default => Err(default_unsupported()),
            (Mapping::Name(name), Flavor::Cloud) if name != workspace => Err(StoreError::workspaces_unsupported()),
            _ => Ok(()),
        }
    }

    async fn project_id(&self) -> Result<Option<String>, ApiError> {
        match &self.project {
            Some(name) => self.workspaces.project(name).await,
            None => Ok(None),
        }
    }

    async fn filter(&self) -> Result<Filter, ApiError> {
        let mut filter = Filter::default();
        match &self.mapping {
            Mapping::Name(name) => filter.name = Some(name.clone()),
            Mapping::Prefix(prefix) => filter.name = Some(prefix.clone()),
            Mapping::Tags { tags, with_values } => {
                filter.tags.clone_from(tags);
                filter.with_values = *with_values;
            }
        }
        Ok(filter)
    }

    /// `TF_WORKSPACE` makes no workspace: it chooses one that exists and has the tags.
    async fn check_chosen_workspace(&self) -> Result<(), ProviderDiagnostic> {
        let Some(name) = self.context.environment.get(env::TF_WORKSPACE) else { return Ok(()) };
        let unexpected =
            |e: ApiError| ProviderDiagnostic::error(format!("{} returned an unexpected error", self.app_name), e.text);
        let invalid = |detail: String| Err(ProviderDiagnostic::error("Invalid workspace selection", detail));
        if self.workspaces.read(name).await.map_err(unexpected)?.is_none() {
            let organization = self.organization();
            return invalid(format!("{PROGRAM} failed to find workspace {name:?} in organization {organization}."));
        }
        if matches!(self.mapping, Mapping::Tags { .. }) {
            let filter = self.filter().await.map_err(unexpected)?;
            let names = self.workspaces.names(&filter).await.map_err(unexpected)?;
            if !names.iter().any(|other| other == name) {
                let tags = self.mapping.shown_tags();
                return invalid(format!(
                    "{PROGRAM} failed to find workspace {name:?} with the tags specified in your configuration:\n[{tags}]"
                ));
            }
        }
        Ok(())
    }

    /// Makes a workspace that does not exist.
    async fn create(&self, name: &str) -> Result<Workspace, StoreError> {
        let failed = |e: ApiError| {
            let error = if self.flavor == Flavor::Cloud { "error" } else { "Error" };
            StoreError::new(format!("{error} creating workspace {name}: {e}"))
        };
        if self.flavor == Flavor::Remote {
            let new = New { version: Some(compatible_version()), ..New::default() };
            return self.workspaces.create(name, &new).await.map_err(failed);
        }
        let mut new = New::default();
        if let Some(project) = &self.project {
            new.project = match self.project_id().await? {
                Some(id) => Some(id),
                None => {
                    let made = self.workspaces.create_project(project).await;
                    Some(made.map_err(|e| StoreError::new(format!("failed to create project {project}: {e}")))?)
                }
            };
        }
        if let Mapping::Tags { tags, with_values } = &self.mapping {
            new.tags.clone_from(tags);
            new.with_values = *with_values;
        }
        let made = self.workspaces.create(name, &new).await.map_err(failed)?;
        if let Err(why) = self.workspaces.use_our_version(&made).await {
            let (version, theirs) = (compatible_version(), &made.terraform_version);
            tracing::warn!("{} has no version {version}: the workspace uses {theirs} ({why})", self.app_name);
        }
        Ok(made)
    }

    /// Adds the tags of the configuration that a workspace lacks.
    async fn complete_tags(&self, workspace: &Workspace) -> Result<(), StoreError> {
        let Mapping::Tags { tags, .. } = &self.mapping else { return Ok(()) };
        let failed = |e: ApiError| StoreError::new(format!("error updating workspace {:?} tags: {e}", workspace.name));
        let present = self.workspaces.tag_values(workspace).await.map_err(failed)?;
        let lacks = |(key, value): &(String, String)| match &present {
            Some(present) if value.is_empty() => {
                !(workspace.tags.contains(key) && present.iter().any(|(other, _)| other == key))
            }
            Some(present) => !present.iter().any(|tag| tag.0 == *key && tag.1 == *value),
            None => !value.is_empty() || !workspace.tags.contains(key),
        };
        if !tags.iter().any(lacks) {
            return Ok(());
        }
        if present.is_none() && tags.iter().any(|(_, value)| !value.is_empty()) {
            return Err(StoreError::new(
                "backend does not support key/value tags. Try using key-only tags: your version of Terraform Enterprise does not \
                 support key-value tags. Please upgrade Terraform Enterprise to a version that supports this feature or use set \
                 type tags instead.",
            ));
        }
        self.workspaces.add_tags(workspace, tags, present.is_some()).await.map_err(failed)
    }
}

fn default_unsupported() -> StoreError {
    let text = "default workspace not supported\nYou can create a new workspace with the \"workspace new\" command.";
    StoreError { kind: ErrorKind::DefaultUnsupported, text: text.to_owned() }
}

#[async_trait]
impl Backend for Hcp {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        let prefix = match (&self.mapping, self.flavor) {
            (Mapping::Name(_), Flavor::Remote) => return Err(StoreError::workspaces_unsupported()),
            (Mapping::Name(name), Flavor::Cloud) => return Ok(vec![name.clone()]),
            (Mapping::Prefix(prefix), _) => prefix.as_str(),
            (Mapping::Tags { .. }, _) => "",
        };
        let mut filter = self.filter().await?;
        if let Some(name) = &self.project {
            let id = self.project_id().await;
            filter.project = id.map_err(|e| StoreError::new(format!("failed to retrieve project {name}: {e}")))?;
        }
        let names = self.workspaces.names(&filter).await?;
        Ok(names.iter().filter_map(|name| name.strip_prefix(prefix).map(str::to_owned)).collect())
    }

    async fn delete_workspace(&self, name: &str, force: bool) -> Result<(), StoreError> {
        match (&self.mapping, self.flavor) {
            (Mapping::Name(_), Flavor::Cloud) if name != DEFAULT_WORKSPACE => {
                return Err(StoreError::workspaces_unsupported());
            }
            _ => self.check_name(name)?,
        }
        let service_name = self.service_name(name);
        let mut safely = false;
        if self.flavor == Flavor::Cloud {
            let found = self.workspaces.read(&service_name).await;
            let found = found.map_err(|e| StoreError::new(format!("failed to retrieve workspace {name}: {e}")))?;
            let Some(found) = found else { return Ok(()) };
            safely = !force && found.can_force_delete.is_some();
        }
        let done = self.workspaces.delete(&service_name, safely).await;
        done.map_err(|e| StoreError::new(format!("error deleting workspace {service_name}: {e}")))
    }

    async fn open_store(&self, workspace: &str, _first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.check_name(workspace)?;
        let name = self.service_name(workspace);
        let found = self.workspaces.read(&name).await;
        let found = found.map_err(|e| StoreError::new(format!("Failed to retrieve workspace {name}: {e}")))?;
        let found = match found {
            Some(found) => found,
            None => self.create(&name).await?,
        };
        self.complete_tags(&found).await?;
        let run = self.context.environment.non_empty(env::TFE_RUN_ID).map(str::to_owned);
        let snapshots = match self.flavor {
            Flavor::Cloud => Snapshots::WhenAsked,
            Flavor::Remote if run.is_some() => Snapshots::Never,
            Flavor::Remote => Snapshots::Always,
        };
        let journal = self.context.journal_of(workspace, &[&self.hostname, self.organization(), &name]);
        let workspaces = self.workspaces.clone();
        Ok(Arc::new(HcpStore::new(Opening { workspaces, workspace: found, journal, run, snapshots })))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, first).await
    }
}

#[cfg(test)]
mod tests;
