//! From settings to the service: its address, the token for it, and whether the organisation is there.

use base::env;
use base::name::{COMMAND, PROGRAM};
use http::Method;
use model::service::Host;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_value::Value;

use super::api::{Api, ApiError, segment};
use super::settings::{self, Wanted, at};
use super::workspaces::Workspaces;
use super::{Flavor, Hcp};
use crate::contract::Context;
use crate::contract::settings::Settings;

/// The service of a `remote` backend.
pub async fn remote(config: &Value, context: &Context) -> Result<Hcp, Vec<ProviderDiagnostic>> {
    let wanted = settings::remote(config, context.environment.dialect());
    let hostname = wanted.hostname.clone();
    let hcp = Hcp::connect(Flavor::Remote, wanted, context).await;
    hcp.map_err(|problem| with_alias_problem(vec![problem], Flavor::Remote, &hostname))
}

/// The service of a `cloud` block.
pub async fn cloud(config: &Value, context: &Context) -> Result<Hcp, Vec<ProviderDiagnostic>> {
    // Settings with errors give no host.
    let wanted = settings::cloud(Settings::of(config, context))
        .map_err(|problems| with_alias_problem(problems, Flavor::Cloud, ""))?;
    let hostname = wanted.hostname.clone();
    let hcp = Hcp::connect(Flavor::Cloud, wanted, context)
        .await
        .map_err(|problem| with_alias_problem(vec![problem], Flavor::Cloud, &hostname))?;
    hcp.check_chosen_workspace().await.map_err(|problem| vec![problem])?;
    Ok(hcp)
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
        let api = Api::new(base, token, integration, environment).map_err(|error| client_failed(error.text))?;
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
    let base = context.services.0.find(&host, service).await.map_err(|error| at_host(error.text))?;
    let token = match &wanted.token {
        Some(token) => Some(token.clone()),
        None => context.services.0.token(&host).await.filter(|token| !token.is_empty()),
    };
    let Some(token) = token else {
        let argument = match wanted.hostname.as_str() {
            host if Some(host) == context.environment.dialect().service_host() => String::new(),
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
