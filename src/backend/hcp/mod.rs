//! HCP Terraform and Terraform Enterprise: the `remote` backend, and the `cloud` block, which is a backend here too.
//!
//! Owns which workspaces there are and where their states are. Operations that run there start from [`Hcp`].
//! Never knows the configuration.

mod api;
mod checks;
mod logs;
mod runs;
mod settings;
mod store;
mod workspaces;

use std::sync::Arc;

use api::segment;
pub use api::{Api, ApiError};
use async_trait::async_trait;
use base::env;
use base::name::{self, COMMAND, PROGRAM};
pub use checks::{CostEstimate, PolicyCheck, PolicyEvaluation, TaskResult, TaskStage};
use http::Method;
use model::service::Host;
use model::version::compatible_version;
pub use runs::{NewRun, Phase, Purpose, Run};
pub use settings::Mapping;
use settings::{Wanted, at};
use store::{HcpStore, Opening, Snapshots};
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::Value;
pub use workspaces::Workspace;
use workspaces::{Filter, New, Workspaces};

use super::settings::Settings;
use super::store::{Backend, DEFAULT_WORKSPACE, ErrorKind, FirstState, StateStore, StoreError};
use super::table::{Context, Kind};

/// The kind `remote`.
pub struct Remote;

/// The kind that a `cloud` block stands for.
pub struct Cloud;

/// Which of the two it is: they differ in names of workspaces, and in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    Remote,
    Cloud,
}

#[async_trait]
impl Kind for Remote {
    fn name(&self) -> &'static str {
        "remote"
    }

    fn schema(&self) -> Block {
        settings::remote_schema()
    }

    fn check(&self, config: &Value, _context: &Context) -> Vec<ProviderDiagnostic> {
        settings::check_remote(config)
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Arc<dyn Backend>, Vec<ProviderDiagnostic>> {
        let wanted = settings::remote(config);
        let hostname = wanted.hostname.clone();
        let hcp = Hcp::connect(Flavor::Remote, wanted, context).await;
        Ok(Arc::new(hcp.map_err(|problem| with_alias_problem(vec![problem], Flavor::Remote, &hostname))?))
    }
}

#[async_trait]
impl Kind for Cloud {
    fn name(&self) -> &'static str {
        "cloud"
    }

    fn schema(&self) -> Block {
        settings::cloud_schema()
    }

    fn check(&self, config: &Value, _context: &Context) -> Vec<ProviderDiagnostic> {
        settings::check_cloud(config)
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Arc<dyn Backend>, Vec<ProviderDiagnostic>> {
        // Settings with errors give no host.
        let wanted = settings::cloud(Settings { config, environment: &context.environment })
            .map_err(|problems| with_alias_problem(problems, Flavor::Cloud, ""))?;
        let hostname = wanted.hostname.clone();
        let hcp = Hcp::connect(Flavor::Cloud, wanted, context)
            .await
            .map_err(|problem| with_alias_problem(vec![problem], Flavor::Cloud, &hostname))?;
        hcp.check_chosen_workspace().await.map_err(|problem| vec![problem])?;
        Ok(Arc::new(hcp))
    }
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

const HCP_TERRAFORM: &str = "HCP Terraform";

impl Hcp {
    async fn connect(flavor: Flavor, wanted: Wanted, context: &Context) -> Result<Hcp, ProviderDiagnostic> {
        let environment = &context.environment;
        let forced = environment.non_empty(env::TF_FORCE_LOCAL_BACKEND).is_some();
        let service = match flavor {
            Flavor::Cloud => "tfe.v2",
            Flavor::Remote if forced => "state.v2",
            Flavor::Remote => "tfe.v2.1",
        };
        if wanted.hostname.is_empty() {
            return Err(no_hostname(flavor));
        }
        let (base, token) = address_and_token(&wanted, service, context).await?;
        let integration = (flavor == Flavor::Cloud).then_some("cloud");
        let client_failed = |why: String| {
            let what =
                if flavor == Flavor::Cloud { "HCP Terraform or Terraform Enterprise" } else { "Terraform Enterprise" };
            let who = match flavor {
                Flavor::Cloud => format!("Encountered an unexpected error while creating the {what} client"),
                Flavor::Remote => {
                    format!("The \"remote\" backend encountered an unexpected error while creating the {what} client")
                }
            };
            ProviderDiagnostic::error(format!("Failed to create the {what} client"), format!("{who}: {why}."))
        };
        let api = Api::new(base, token, integration, environment).map_err(client_failed)?;
        let greeting = match api.send_whole(Method::GET, "ping", None).await {
            Ok(answer) => Some(answer),
            Err(e) if e.status.is_some() => None,
            Err(e) => return Err(client_failed(e.text)),
        };
        let header = |name: &str| greeting.as_ref().and_then(|answer| answer.header(name)).unwrap_or_default();
        let app_name = match header("tfp-appname") {
            "Terraform Enterprise" => "Terraform Enterprise",
            _ => HCP_TERRAFORM,
        };
        let path = format!("organizations/{}/entitlement-set", segment(&wanted.organization));
        let rights = api.get(&path, &[]).await.map_err(|e| no_organization(flavor, &wanted, e))?;
        if flavor == Flavor::Cloud && !is_recent(header("tfp-api-version")) {
            return Err(ProviderDiagnostic::error(
                "Unsupported Terraform Enterprise version",
                "The 'cloud' option is not supported with this version of Terraform Enterprise.",
            ));
        }
        let may_run = rights["data"]["attributes"]["operations"].as_bool().unwrap_or_default();
        Ok(Hcp {
            flavor,
            hostname: wanted.hostname,
            mapping: wanted.mapping,
            app_name,
            force_local: forced || !may_run,
            supports_structured_output: app_name == HCP_TERRAFORM || is_structured(header("x-tfe-version")),
            project: wanted.project,
            workspaces: Workspaces { api, organization: wanted.organization },
            context: context.clone(),
        })
    }

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
            base::log!(Warn, "{} has no version {version}: the workspace uses {theirs} ({why})", self.app_name);
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

fn no_hostname(flavor: Flavor) -> ProviderDiagnostic {
    let backend = if flavor == Flavor::Cloud { "cloud" } else { "remote" };
    let detail = format!(
        "{PROGRAM} does not provide a default \"hostname\" attribute, so it must be set to the hostname of the {backend} backend."
    );
    ProviderDiagnostic::error(format!("Hostname is required for the {backend} backend"), detail)
}

/// Adds what the reference reports besides: the name `localterraform.com` cannot stand for a host that is not valid.
fn with_alias_problem(
    mut problems: Vec<ProviderDiagnostic>,
    flavor: Flavor,
    hostname: &str,
) -> Vec<ProviderDiagnostic> {
    if Host::parse(hostname).is_err() {
        let end = if flavor == Flavor::Cloud { "." } else { "" };
        let text = format!(
            "failed to create backend alias to target {hostname:?}. The hostname is not in the correct format{end}"
        );
        problems.push(ProviderDiagnostic::error(text, ""));
    }
    problems
}

/// Where the service is, and the token for it.
async fn address_and_token(
    wanted: &Wanted,
    service: &str,
    context: &Context,
) -> Result<(url::Url, base::secret::Secret), ProviderDiagnostic> {
    let at_host = |why: String| {
        let mut chars = why.chars();
        let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
        ProviderDiagnostic::error(format!("{first}{}", chars.as_str()), "").at(at("hostname"))
    };
    let host = Host::parse(&wanted.hostname).map_err(|_| at_host(Host::problem(&wanted.hostname)))?;
    let base = context.services.0.find(&host, service).await.map_err(at_host)?;
    let token = match &wanted.token {
        Some(token) => Some(token.clone()),
        None => context.services.0.token(&host).await.filter(|token| !token.is_empty()),
    };
    let Some(token) = token else {
        let argument = match wanted.hostname.as_str() {
            host if Some(host) == name::current().service_host() => String::new(),
            other => format!(" {other}"),
        };
        let detail = format!(
            "Run the following command to generate a token for {}:\n    {COMMAND} login{argument}",
            wanted.hostname
        );
        return Err(ProviderDiagnostic::error("Required token could not be found", detail));
    };
    Ok((base, token))
}

fn no_organization(flavor: Flavor, wanted: &Wanted, error: ApiError) -> ProviderDiagnostic {
    let (organization, host) = (&wanted.organization, &wanted.hostname);
    let why = match error.is_not_found() {
        true => format!(
            "organization {organization:?} at host {host} not found.\n\nPlease ensure that the organization and hostname are correct \
             and that your API token for {host} is valid."
        ),
        false => error.text,
    };
    let who = if flavor == Flavor::Cloud { "Encountered" } else { "The \"remote\" backend encountered" };
    let detail = format!("{who} an unexpected error while reading the organization settings: {why}");
    ProviderDiagnostic::error(format!("Failed to read organization {organization:?} at host {host}"), detail)
        .at(at("organization"))
}

/// A release of Terraform Enterprise with structured output for runs from the command line: `v202302-1` or later.
fn is_structured(version: &str) -> bool {
    let month = version.get(1..).and_then(|version| version.split('-').next()?.parse::<u32>().ok());
    month.is_some_and(|month| month >= 202_302)
}

/// The service's interface is of version 2.5 or later.
fn is_recent(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
    let (major, minor) = (parts.next().flatten(), parts.next().flatten());
    major.is_some_and(|major| (major, minor.unwrap_or(0)) >= (2, 5))
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

    fn hcp(&self) -> Option<&Hcp> {
        Some(self)
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, first).await
    }
}

#[cfg(test)]
mod tests;
