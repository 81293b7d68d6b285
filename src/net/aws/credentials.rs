//! Credentials from the source that counts: requested, exchanged for those of a role, and requested anew before they expire.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;
use std::{fmt, io};

use base::env::{self, Environment};
use reqsign_aws_v4::{
    Credential, ECSCredentialProvider, IMDSv2CredentialProvider, RequestSigner, SSOCredentialProvider,
};
use reqsign_core::time::Timestamp;
use reqsign_core::{Context, Error, ProvideCredential, Signer};
use serde::Deserialize;
use url::Url;

use super::profiles::Profiles;
use super::sources::{Source, SourceError, Sso, decide};
use super::sts::StsError;
use super::{AwsLogin, Problem, Role, WebIdentity, regions, sts};
use crate::cloud::{Impatient, expanded};

/// Timeout of metadata services, which are on the same machine.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why a source gives no credentials, in the words of the reference. Texts of programs, which may hold half a key, are never repeated.
#[derive(Debug)]
pub enum CredentialsError {
    Source(SourceError),
    ConfigFile {
        path: PathBuf,
        error: io::Error,
    },
    /// The settings name no token of an identity provider.
    NoToken,
    TokenFile {
        path: PathBuf,
        error: io::Error,
    },
    EmptyKeys,
    Exchange(StsError),
    SsoExpired,
    Sso(Error),
    Container(String),
    /// A host of container credentials that a stranger may have named.
    ContainerHost(String),
    Machine(String),
    Process(String),
}

impl fmt::Display for CredentialsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const REFRESH: &str = "failed to refresh cached credentials";
        match self {
            CredentialsError::Source(error) => error.fmt(f),
            CredentialsError::ConfigFile { path, error } => {
                write!(f, "failed to load shared config file, {}, {error}", path.display())
            }
            CredentialsError::NoToken => f.write_str("One of WebIdentityToken, WebIdentityTokenFile must be set"),
            CredentialsError::TokenFile { path, error } => {
                write!(f, "unable to read file at {}: {error}", path.display())
            }
            CredentialsError::EmptyKeys => write!(f, "{REFRESH}, static credentials are empty"),
            CredentialsError::Exchange(error) => write!(f, "{REFRESH}, {error}"),
            CredentialsError::SsoExpired => {
                write!(f, "{REFRESH}, the SSO session has expired or is invalid: run \"aws sso login\"")
            }
            CredentialsError::Sso(error) => write!(f, "{REFRESH}, {error}"),
            CredentialsError::Container(why) => write!(f, "{REFRESH}, failed to load credentials, {why}"),
            CredentialsError::ContainerHost(host) => {
                write!(f, "invalid endpoint host, {host:?}, only loopback/ecs/eks hosts are allowed")
            }
            CredentialsError::Machine(why) => {
                write!(f, "{REFRESH}, no EC2 IMDS role found, operation error ec2imds: GetMetadata, {why}")
            }
            CredentialsError::Process(why) => write!(f, "{REFRESH}, process provider error: {why}"),
        }
    }
}

/// Gives signers the credentials that were found at first, and requests new ones once these expire.
pub struct Provided {
    settings: AwsLogin,
    environment: Environment,
    first: Mutex<Option<Credential>>,
}

/// Never shows a secret.
impl fmt::Debug for Provided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Provided")
    }
}

impl Provided {
    pub fn new(settings: &AwsLogin, environment: &Environment, first: Credential) -> Provided {
        Provided { settings: settings.clone(), environment: environment.clone(), first: Mutex::new(Some(first)) }
    }
}

impl ProvideCredential for Provided {
    type Credential = Credential;

    async fn provide_credential(&self, context: &Context) -> reqsign_core::Result<Option<Credential>> {
        let first = self.first.lock().unwrap_or_else(|e| e.into_inner()).take();
        if let Some(keys) = first {
            return Ok(Some(keys));
        }
        let found = find(&self.settings, &self.environment, context).await;
        found.map(Some).map_err(|problem| Error::credential_invalid(problem.to_string()))
    }
}

pub fn request_signer(service: &str, region: &str) -> RequestSigner {
    RequestSigner::new(service, region)
}

/// A signer for another service, with the same credentials.
pub fn for_service(signer: &Signer<Credential>, service: &str, region: &str) -> Signer<Credential> {
    signer.clone().with_request_signer(request_signer(service, region))
}

/// Requests credentials from their source.
pub async fn find(settings: &AwsLogin, environment: &Environment, context: &Context) -> Result<Credential, Problem> {
    let initial = initial(settings, environment, context).await?;
    let Some(role) = &settings.role else { return Ok(initial) };
    sts::assume_role(settings, context, &initial, role).await.map_err(|why| not_assumed(role, &why.to_string()))
}

async fn initial(settings: &AwsLogin, environment: &Environment, context: &Context) -> Result<Credential, Problem> {
    if settings.access_key.is_some() || settings.secret_key.is_some() || settings.token.is_some() {
        let keys = Credential {
            access_key_id: settings.access_key.clone().unwrap_or_default(),
            secret_access_key: settings.secret_key.as_ref().map(|key| key.reveal().to_owned()).unwrap_or_default(),
            session_token: settings.token.as_ref().map(|token| token.reveal().to_owned()),
            expires_in: None,
        };
        return match keys.access_key_id.is_empty() || keys.secret_access_key.is_empty() {
            true => Err(Problem::new("retrieving credentials: static credentials are empty", "")),
            false => Ok(keys),
        };
    }
    if let Some(web) = &settings.web_identity {
        let why = match token(web).await {
            Ok(token) => match sts::assume_role_with_token(settings, context, &web.role, &token).await {
                Ok(keys) => return Ok(keys),
                Err(why) => why.to_string(),
            },
            Err(why) => format!("failed to retrieve jwt from provide source, {why}"),
        };
        return Err(not_assumed_with_token(&web.role, &why));
    }
    let none = |why: CredentialsError| {
        let read = settings.documentation;
        Problem::new(
            "No valid credential sources found",
            format!("Please see {read}\nfor more information about providing credentials.\n\nError: {why}\n"),
        )
    };
    let source = source(settings, environment).await.map_err(none)?;
    request(&source, settings, environment, context).await.map_err(none)
}

/// The source of credentials by the profile of the settings, the environment and the profiles in files, without asking it.
pub async fn source(settings: &AwsLogin, environment: &Environment) -> Result<Source, CredentialsError> {
    let profiles = profiles(settings, environment).await?;
    decide(&profiles, settings.profile.as_deref(), environment).map_err(CredentialsError::Source)
}

async fn token(web: &WebIdentity) -> Result<String, CredentialsError> {
    match (&web.token, &web.token_file) {
        (Some(token), _) => Ok(token.reveal().to_owned()),
        (None, Some(path)) => {
            let failed = |error| CredentialsError::TokenFile { path: path.clone(), error };
            tokio::fs::read_to_string(path).await.map_err(failed)
        }
        (None, None) => Err(CredentialsError::NoToken),
    }
}

async fn profiles(settings: &AwsLogin, environment: &Environment) -> Result<Profiles, CredentialsError> {
    let chosen = |files: &[PathBuf], name: &str, below_home: &str| match files {
        [] => vec![expanded(environment.non_empty(name).unwrap_or(below_home), environment).into()],
        files => files.to_vec(),
    };
    let mut profiles = Profiles::default();
    let configs = chosen(&settings.config_files, env::AWS_CONFIG_FILE, "~/.aws/config");
    let credentials = chosen(&settings.credentials_files, env::AWS_SHARED_CREDENTIALS_FILE, "~/.aws/credentials");
    for path in configs {
        profiles.add_config(&read(path).await?);
    }
    for path in credentials {
        profiles.add_credentials(&read(path).await?);
    }
    Ok(profiles)
}

/// A file that is not there has no profiles.
async fn read(path: PathBuf) -> Result<String, CredentialsError> {
    match tokio::fs::read(&path).await {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(CredentialsError::ConfigFile { path, error }),
    }
}

/// Requests credentials from one source.
pub async fn request(
    source: &Source,
    settings: &AwsLogin,
    environment: &Environment,
    context: &Context,
) -> Result<Credential, CredentialsError> {
    match source {
        Source::Keys(keys) if keys.access_key_id.is_empty() => Err(CredentialsError::EmptyKeys),
        Source::Keys(keys) => Ok(keys.clone()),
        Source::WebIdentity { token_file, role } => {
            let token_file = Some(expanded(token_file, environment).into());
            let token = token(&WebIdentity { token_file, ..WebIdentity::default() }).await?;
            let keys = sts::assume_role_with_token(settings, context, role, &token).await;
            keys.map_err(CredentialsError::Exchange)
        }
        Source::Sso(sso) => of_sso(sso, settings, environment, context).await,
        Source::Process(line) => of_process(line, context).await,
        Source::Container => of_container(environment, context).await,
        Source::Machine => of_machine(settings, environment, context).await,
        Source::Role(source, role) => {
            let keys = Box::pin(request(source, settings, environment, context)).await?;
            let keys = sts::assume_role(settings, context, &keys, role).await;
            keys.map_err(CredentialsError::Exchange)
        }
    }
}

async fn of_sso(
    sso: &Sso,
    settings: &AwsLogin,
    environment: &Environment,
    context: &Context,
) -> Result<Credential, CredentialsError> {
    let base = match settings.sso_endpoint.as_deref().or_else(|| environment.non_empty(env::AWS_ENDPOINT_URL_SSO)) {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => format!("https://{}", regions::host("portal.sso", &sso.region, settings.variant)),
    };
    let provider = SSOCredentialProvider::new()
        .with_account_id(&sso.account)
        .with_region(&sso.region)
        .with_role_name(&sso.role)
        .with_start_url(&sso.cache_key)
        .with_endpoint(format!("{base}/federation/credentials"));
    match provider.provide_credential(context).await {
        Ok(Some(keys)) => Ok(keys),
        Ok(None) => Err(CredentialsError::SsoExpired),
        Err(error) => Err(CredentialsError::Sso(error)),
    }
}

async fn of_container(environment: &Environment, context: &Context) -> Result<Credential, CredentialsError> {
    let failed = CredentialsError::Container;
    // Never to hosts that a stranger may have named: the request carries a token.
    let relative = environment.non_empty(env::AWS_CONTAINER_CREDENTIALS_RELATIVE_URI);
    let mut provider = ECSCredentialProvider::new();
    match (relative, environment.non_empty(env::AWS_CONTAINER_CREDENTIALS_FULL_URI)) {
        (Some(path), _) => provider = provider.with_relative_uri(path),
        (None, Some(url)) => {
            let parsed = Url::parse(url).map_err(|e| failed(format!("invalid URL, {e}")))?;
            let host = parsed.host_str().unwrap_or_default();
            let close = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]", "localhost", "[::1]"].contains(&host)
                || host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback());
            if parsed.scheme() == "http" && !close {
                return Err(CredentialsError::ContainerHost(host.to_owned()));
            }
            provider = provider.with_endpoint(url);
        }
        (None, None) => {}
    }
    if let Some(file) = environment.non_empty(env::AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE) {
        provider = provider.with_auth_token_file(file);
    }
    match provider.provide_credential(context).await {
        Ok(Some(keys)) => Ok(keys),
        Ok(None) => Err(failed("there are none".into())),
        Err(e) => Err(failed(e.to_string())),
    }
}

async fn of_machine(
    settings: &AwsLogin,
    environment: &Environment,
    context: &Context,
) -> Result<Credential, CredentialsError> {
    let failed = |why: &str| CredentialsError::Machine(why.to_owned());
    let metadata = &settings.metadata;
    let by_environment =
        || environment.get(env::AWS_EC2_METADATA_DISABLED).is_some_and(|text| text.eq_ignore_ascii_case("true"));
    if metadata.disabled.unwrap_or_else(by_environment) {
        return Err(failed(
            "access disabled to EC2 IMDS via client option, or \"AWS_EC2_METADATA_DISABLED\" environment variable",
        ));
    }
    let mode = environment.get(env::AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE).unwrap_or_default();
    let endpoint =
        match metadata.endpoint.as_deref().or_else(|| environment.non_empty(env::AWS_EC2_METADATA_SERVICE_ENDPOINT)) {
            Some(url) => url.trim_end_matches('/'),
            None if metadata.ipv6 || mode.eq_ignore_ascii_case("ipv6") => "http://[fd00:ec2::254]",
            None => "http://169.254.169.254",
        };
    let context = context.clone().with_http_send(Impatient(context.clone(), PATIENCE));
    match IMDSv2CredentialProvider::new().with_endpoint(endpoint).provide_credential(&context).await {
        Ok(Some(keys)) => Ok(keys),
        Ok(None) => Err(failed("there are none")),
        Err(e) => Err(failed(&e.to_string())),
    }
}

/// What a program says.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ProcessOutput {
    #[serde(default)]
    version: u64,
    #[serde(default)]
    access_key_id: String,
    #[serde(default)]
    secret_access_key: String,
    session_token: Option<String>,
    expiration: Option<String>,
}

async fn of_process(line: &str, context: &Context) -> Result<Credential, CredentialsError> {
    let failed = |why: &str| CredentialsError::Process(why.to_owned());
    let words = words(line);
    let Some((program, arguments)) = words.split_first() else { return Err(failed("command must not be empty")) };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ran = context.command_execute(program, &arguments).await;
    let ran = ran.map_err(|e| failed(&format!("error in credential_process: {e}")))?;
    if !ran.success() {
        return Err(failed(&format!("error in credential_process: exit status {}", ran.status)));
    }
    let keys: ProcessOutput = serde_json::from_slice(&ran.stdout)
        .map_err(|_| failed("parse failed of process output: it is no JSON object with keys"))?;
    if keys.version != 1 {
        return Err(failed("wrong version in process output (not 1)"));
    }
    if keys.access_key_id.is_empty() {
        return Err(failed("missing AccessKeyId in process output"));
    }
    if keys.secret_access_key.is_empty() {
        return Err(failed("missing SecretAccessKey in process output"));
    }
    let expires = keys.expiration.map(|text| text.parse::<Timestamp>());
    let expires_in = expires.transpose().map_err(|_| failed("Expiration in process output is no time"))?;
    Ok(Credential {
        access_key_id: keys.access_key_id,
        secret_access_key: keys.secret_access_key,
        session_token: keys.session_token.filter(|token| !token.is_empty()),
        expires_in,
    })
}

/// Words of a command line; quotes hold spaces together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn not_assumed(role: &Role, why: &str) -> Problem {
    let arn = &role.arn;
    Problem::new(
        "Cannot assume IAM Role",
        format!(
            "IAM Role ({arn}) cannot be assumed.\n\nThere are a number of possible causes of this - the most common are:\n  \
             * The credentials used in order to assume the role are invalid\n  \
             * The credentials do not have appropriate permission to assume the role\n  \
             * The role ARN is not valid\n\nError: {why}\n"
        ),
    )
}

fn not_assumed_with_token(role: &Role, why: &str) -> Problem {
    let arn = &role.arn;
    Problem::new(
        "Cannot assume IAM Role with web identity",
        format!(
            "IAM Role ({arn}) cannot be assumed with web identity token.\n\nThere are a number of possible causes of this - the most common are:\n  \
             * The web identity token used in order to assume the role is invalid\n  \
             * The web identity token does not have appropriate permission to assume the role\n  \
             * The role ARN is not valid\n\nError: {why}\n"
        ),
    )
}

#[cfg(test)]
#[path = "credentials_tests.rs"]
mod tests;
