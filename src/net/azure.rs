//! Microsoft Azure: which cloud, and tokens for its services.
//!
//! Owns where tokens come from: a service principal with a certificate, a secret or a token of another identity provider, a managed identity, or the
//! `az` program. Never knows what tokens are for.

use std::fmt;
use std::time::Duration;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use base::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::Request;
use reqsign_core::Context;
use reqsign_core::time::Timestamp;
use serde::Deserialize;

use super::cloud::Impatient;
use super::percent::encoded;
use super::pkcs12::ClientCertificate;
use super::rsa_key::KeyError;

/// Timeout of metadata services, which are on the same machine.
const PATIENCE: Duration = Duration::from_secs(5);
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// How long an assertion that is signed with a certificate is valid, in seconds.
const ASSERTION_SECONDS: i64 = 3600;
const MACHINE: &str = "http://169.254.169.254/metadata/identity/oauth2/token";

/// The hosts of one of Azure's clouds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cloud {
    /// `https://login.microsoftonline.com`
    pub login: String,
    /// `https://management.azure.com`
    pub management: String,
    /// `core.windows.net`
    pub storage_suffix: String,
}

impl Cloud {
    pub fn named(name: &str) -> Result<Cloud, LoginError> {
        let (login, management, suffix) = match name.to_ascii_lowercase().as_str() {
            "public" | "global" | "canary" => ("login.microsoftonline.com", "management.azure.com", "core.windows.net"),
            "usgovernment" | "usgovernmentl4" | "usgovernmentl5" | "dod" => {
                ("login.microsoftonline.us", "management.usgovcloudapi.net", "core.usgovcloudapi.net")
            }
            "china" => ("login.chinacloudapi.cn", "management.chinacloudapi.cn", "core.chinacloudapi.cn"),
            other => return Err(LoginError::Cloud(other.to_owned())),
        };
        Ok(Cloud {
            login: format!("https://{login}"),
            management: format!("https://{management}"),
            storage_suffix: suffix.into(),
        })
    }

    /// The audience of the tokens of federated identities.
    fn audience(&self) -> &'static str {
        match self.login.trim_end_matches('/') {
            "https://login.chinacloudapi.cn" => "api://AzureADTokenExchangeChina",
            "https://login.microsoftonline.us" => "api://AzureADTokenExchangeUSGov",
            _ => "api://AzureADTokenExchange",
        }
    }

    /// What a metadata service says of its cloud.
    pub async fn of_host(host: &str, context: &Context) -> Result<Cloud, LoginError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metadata {
            resource_manager: String,
            authentication: Authentication,
            suffixes: Suffixes,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Authentication {
            login_endpoint: String,
        }
        #[derive(Deserialize)]
        struct Suffixes {
            storage: String,
        }
        let url = format!("https://{host}/metadata/endpoints?api-version=2022-09-01");
        let request = Request::get(&url).body(Bytes::new()).map_err(LoginError::Request)?;
        let found: Metadata = json(context, request, &format!("retrieving metadata from {host:?}")).await?;
        Ok(Cloud {
            login: found.authentication.login_endpoint.trim_end_matches('/').to_owned(),
            management: found.resource_manager.trim_end_matches('/').to_owned(),
            storage_suffix: found.suffixes.storage,
        })
    }
}

/// Why there is no token, or no answer of a service. Never shows an answer that was meant to be a token.
#[derive(Debug)]
pub enum LoginError {
    /// There is no cloud of this name.
    Cloud(String),
    /// The settings have no method that is complete.
    NoMethod,
    /// The certificate's key did not sign.
    Key(KeyError),
    /// A request cannot be made of the settings.
    Request(http::Error),
    /// As before, for a token of another identity provider: its address may hold a secret.
    AssertionRequest,
    /// The `az` program gave no token.
    Program(String),
    /// What was asked for was not answered.
    Unanswered {
        what: String,
        error: reqsign_core::Error,
    },
    Unreadable {
        what: String,
    },
    /// An error's name and description, if the service gives them.
    Refused {
        what: String,
        status: u16,
        error: Option<(String, String)>,
    },
}

impl fmt::Display for LoginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoginError::Cloud(name) => write!(f, "no environment was found with the name {name:?}"),
            LoginError::NoMethod => f.write_str(
                "unable to build authorizer for Storage API: could not configure an authorizer: no authentication method is enabled and complete",
            ),
            LoginError::Key(error) => error.fmt(f),
            LoginError::Request(error) => error.fmt(f),
            LoginError::AssertionRequest => f.write_str("the request for an OIDC token cannot be sent"),
            LoginError::Program(why) => {
                write!(f, "could not configure AzureCli Authorizer: running Azure CLI: {why}")
            }
            LoginError::Unanswered { what, error } => write!(f, "{what}: {error}"),
            LoginError::Unreadable { what } => write!(f, "{what}: the answer cannot be read"),
            LoginError::Refused { what, status, error: None } => write!(f, "{what}: received HTTP status {status}"),
            LoginError::Refused { what, status, error: Some((name, description)) } => {
                write!(f, "{what}: received HTTP status {status} with response: {name}: {description}")
            }
        }
    }
}

/// For callers whose errors are texts.
impl From<LoginError> for String {
    fn from(error: LoginError) -> String {
        error.to_string()
    }
}

/// What identifies us.
#[derive(Clone, Debug)]
pub struct AzureLogin {
    pub cloud: Cloud,
    pub tenant: String,
    pub client: String,
    pub certificate: Option<ClientCertificate>,
    pub secret: Option<Secret>,
    /// A token of another identity provider.
    pub assertion: Option<Secret>,
    /// Where such a token is requested, and what with.
    pub assertion_request: Option<(String, Secret)>,
    /// The service connection of an Azure DevOps pipeline, which the request is for.
    pub pipeline: Option<String>,
    pub managed_identity: bool,
    pub managed_identity_endpoint: Option<String>,
    pub cli: bool,
}

/// A token, and until when it counts.
#[derive(Clone, Debug)]
pub struct Token {
    pub text: Secret,
    pub expires: Option<Timestamp>,
}

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    /// Seconds; a text where a machine answers.
    #[serde(default)]
    expires_in: serde_json::Value,
}

#[derive(Deserialize)]
struct ErrorAnswer {
    #[serde(default)]
    error: String,
    #[serde(default)]
    error_description: String,
}

/// Requests a token for a resource such as `https://storage.azure.com`.
pub async fn token(settings: &AzureLogin, resource: &str, context: &Context) -> Result<Token, LoginError> {
    let has_client = !settings.tenant.is_empty() && !settings.client.is_empty();
    if let Some(certificate) = settings.certificate.as_ref().filter(|_| has_client) {
        let assertion = signed_assertion(settings, certificate)?;
        let fields = [("client_assertion_type", ASSERTION_TYPE), ("client_assertion", assertion.reveal())];
        return of_client(settings, resource, &fields, context).await;
    }
    if let Some(secret) = settings.secret.as_ref().filter(|_| has_client) {
        return of_client(settings, resource, &[("client_secret", secret.reveal())], context).await;
    }
    if has_client && let Some(assertion) = assertion(settings, context).await? {
        let fields = [("client_assertion_type", ASSERTION_TYPE), ("client_assertion", assertion.reveal())];
        return of_client(settings, resource, &fields, context).await;
    }
    if settings.managed_identity {
        return of_machine(settings, resource, context).await;
    }
    match settings.cli {
        true => of_cli(settings, resource, context).await,
        false => Err(LoginError::NoMethod),
    }
}

/// Where tokens of the tenant are requested.
fn token_url(settings: &AzureLogin) -> String {
    format!("{}/{}/oauth2/v2.0/token", settings.cloud.login, encoded(&settings.tenant, false))
}

/// A JSON web token that a certificate's key signed with RS256. The certificate is named by its SHA-1 hash.
fn signed_assertion(settings: &AzureLogin, certificate: &ClientCertificate) -> Result<Secret, LoginError> {
    let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, &certificate.der);
    let thumbprint = URL_SAFE_NO_PAD.encode(hash);
    let header = serde_json::json!({ "alg": "RS256", "typ": "JWT", "kid": URL_SAFE.encode(hash), "x5t": thumbprint });
    let now = Timestamp::now().as_second();
    let claims = serde_json::json!({
        "aud": token_url(settings),
        "exp": now + ASSERTION_SECONDS,
        "iss": settings.client,
        "jti": uuid::Uuid::new_v4().to_string(),
        "nbf": now,
        "sub": settings.client,
    });
    let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    let text = format!("{header}.{claims}");
    let signature = certificate.key.sign(text.as_bytes()).map_err(LoginError::Key)?;
    Ok(Secret::new(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))))
}

async fn of_client(
    settings: &AzureLogin,
    resource: &str,
    more: &[(&str, &str)],
    context: &Context,
) -> Result<Token, LoginError> {
    let scope = format!("{}/.default", resource.trim_end_matches('/'));
    let grant = [("grant_type", "client_credentials"), ("client_id", &settings.client), ("scope", &scope)];
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(grant).extend_pairs(more).finish();
    let request = Request::post(token_url(settings))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Bytes::from(body))
        .map_err(LoginError::Request)?;
    Ok(token_of(json(context, request, "clientCredentialsToken").await?))
}

async fn assertion(settings: &AzureLogin, context: &Context) -> Result<Option<Secret>, LoginError> {
    if let Some(token) = &settings.assertion {
        return Ok(Some(token.clone()));
    }
    let Some((url, token)) = &settings.assertion_request else { return Ok(None) };
    #[derive(Deserialize)]
    struct Given {
        #[serde(alias = "oidcToken")]
        value: String,
    }
    let joint = if url.contains('?') { '&' } else { '?' };
    let request = match &settings.pipeline {
        // Azure DevOps.
        Some(id) => Request::post(format!("{url}{joint}api-version=7.1&serviceConnectionId={}", encoded(id, false)))
            .header("content-type", "application/json"),
        // GitHub.
        None if has_audience(url) => Request::get(url.clone()),
        None => Request::get(format!("{url}{joint}audience={}", encoded(settings.cloud.audience(), false))),
    };
    let request =
        request.header("accept", "application/json").header("authorization", format!("Bearer {}", token.reveal()));
    let request = request.body(Bytes::new()).map_err(|_| LoginError::AssertionRequest)?;
    let given: Given = json(context, request, "requesting an OIDC token").await?;
    Ok(Some(Secret::new(given.value)))
}

fn has_audience(url: &str) -> bool {
    url.split_once('?')
        .is_some_and(|(_, query)| query.split('&').any(|pair| pair.split('=').next() == Some("audience")))
}

async fn of_machine(settings: &AzureLogin, resource: &str, context: &Context) -> Result<Token, LoginError> {
    let endpoint = settings.managed_identity_endpoint.as_deref().unwrap_or(MACHINE);
    let mut url = format!("{endpoint}?api-version=2018-02-01&resource={}", encoded(resource, false));
    if !settings.client.is_empty() {
        url.push_str(&format!("&client_id={}", encoded(&settings.client, false)));
    }
    let request = Request::get(url).header("metadata", "true").body(Bytes::new()).map_err(LoginError::Request)?;
    let context = context.clone().with_http_send(Impatient(context.clone(), PATIENCE));
    Ok(token_of(json(&context, request, "ManagedIdentityAuthorizer").await?))
}

async fn of_cli(settings: &AzureLogin, resource: &str, context: &Context) -> Result<Token, LoginError> {
    #[derive(Deserialize)]
    struct Given {
        #[serde(rename = "accessToken")]
        token: String,
        /// Seconds since 1970; newer versions have it.
        expires_on: Option<i64>,
    }
    let mut arguments = vec!["account", "get-access-token", "-o=json", "--resource", resource];
    if !settings.tenant.is_empty() {
        arguments.extend(["--tenant", &settings.tenant]);
    }
    let failed = |why: &dyn fmt::Display| LoginError::Program(why.to_string());
    let ran = context.command_execute("az", &arguments).await.map_err(|e| failed(&e))?;
    if !ran.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        return Err(failed(&format!("exit status {}: {}", ran.status, said.trim())));
    }
    let given: Given = serde_json::from_slice(&ran.stdout).map_err(|_| failed(&"the output is no token"))?;
    let expires = given.expires_on.and_then(|seconds| Timestamp::from_second(seconds).ok());
    // Without a time it is asked for again soon.
    let expires = expires.unwrap_or_else(|| Timestamp::now() + Duration::from_secs(300));
    Ok(Token { text: Secret::new(given.token), expires: Some(expires) })
}

fn token_of(answer: TokenAnswer) -> Token {
    let seconds = answer.expires_in.as_u64().or_else(|| answer.expires_in.as_str()?.parse().ok());
    let expires = seconds.map(|seconds| Timestamp::now() + Duration::from_secs(seconds));
    Token { text: Secret::new(answer.access_token), expires }
}

/// Sends a request and reads the answer. Errors never repeat an answer that was meant to be a token.
pub async fn json<T: serde::de::DeserializeOwned>(
    context: &Context,
    request: Request<Bytes>,
    what: &str,
) -> Result<T, LoginError> {
    let response =
        context.http_send(request).await.map_err(|error| LoginError::Unanswered { what: what.to_owned(), error })?;
    if response.status().is_success() {
        return serde_json::from_slice(response.body()).map_err(|_| LoginError::Unreadable { what: what.to_owned() });
    }
    let status = response.status().as_u16();
    let said = serde_json::from_slice::<ErrorAnswer>(response.body()).ok().filter(|said| !said.error.is_empty());
    let error = said.map(|said| (said.error, said.error_description));
    Err(LoginError::Refused { what: what.to_owned(), status, error })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use base::env::Environment;
    use base::stop::Stop;
    use reqsign_core::HttpSend;

    use super::*;
    use crate::cloud;

    #[derive(Clone, Debug)]
    struct Services(Arc<Mutex<Vec<String>>>);

    impl HttpSend for Services {
        async fn http_send(&self, request: Request<Bytes>) -> reqsign_core::Result<http::Response<Bytes>> {
            let body = String::from_utf8_lossy(request.body()).into_owned();
            let uri = request.uri().to_string();
            let answer = match uri.contains("audience=") || uri.contains("serviceConnectionId=") {
                true => r#"{"value":"jwt"}"#,
                false => r#"{"access_token":"t","expires_in":"3600"}"#,
            };
            self.0.lock().unwrap().push(format!("{} {uri} {body}", request.method()));
            Ok(http::Response::new(Bytes::from(answer)))
        }
    }

    #[test]
    fn audiences_are_those_of_the_cloud_unless_the_address_has_one() {
        let cases = [
            ("public", "api://AzureADTokenExchange"),
            ("china", "api://AzureADTokenExchangeChina"),
            ("usgovernment", "api://AzureADTokenExchangeUSGov"),
        ];
        for (cloud, audience) in cases {
            assert_eq!(Cloud::named(cloud).unwrap().audience(), audience);
        }
        assert!(has_audience("https://a/?b=c&audience=x") && has_audience("https://a/?audience"));
        assert!(!has_audience("https://a/audience") && !has_audience("https://a/?myaudience=x"));
    }

    fn settings() -> AzureLogin {
        AzureLogin {
            cloud: Cloud::named("public").unwrap(),
            tenant: "T".into(),
            client: "C".into(),
            certificate: None,
            secret: None,
            assertion: None,
            assertion_request: None,
            pipeline: None,
            managed_identity: false,
            managed_identity_endpoint: None,
            cli: false,
        }
    }

    async fn check(settings: AzureLogin, expected: &[&str]) {
        let services = Services(Arc::default());
        let folder = tempfile::tempdir().unwrap();
        let az = folder.path().join("az");
        std::fs::write(&az, "#!/bin/sh\necho \"{\\\"accessToken\\\": \\\"t\\\", \\\"args\\\": \\\"$*\\\"}\"\n")
            .unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&az, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let environment = Environment::of([("PATH", format!("{}:/bin:/usr/bin", folder.path().display()))]);
        let context = cloud::context(&environment, &Stop::new(), services.clone());
        let token = token(&settings, "https://storage.azure.com", &context).await.unwrap();
        assert_eq!(token.text.reveal(), "t");
        assert!(token.expires.unwrap() > Timestamp::now());
        assert_eq!(*services.0.lock().unwrap(), expected);
    }

    #[test]
    fn certificates_sign_assertions() {
        let file = Some(Path::new("../../tests/fixtures/keys/aes.pfx"));
        let certificate = crate::pkcs12::of_settings(None, file, "pw").unwrap().unwrap();
        let assertion = signed_assertion(&settings(), &certificate).unwrap();
        let parts: Vec<&str> = assertion.reveal().split('.').collect();
        let json = |part: &str| -> serde_json::Value {
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
        };
        let header = json(parts[0]);
        assert_eq!((&header["alg"], &header["kid"]), (&"RS256".into(), &"KKWBQ8H5U0h8bHuATGLOFaJpTxM=".into()));
        let claims = json(parts[1]);
        assert_eq!((&claims["iss"], &claims["sub"]), (&"C".into(), &"C".into()));
        assert_eq!(claims["aud"], "https://login.microsoftonline.com/T/oauth2/v2.0/token");
        let signed = certificate.key.sign(format!("{}.{}", parts[0], parts[1]).as_bytes()).unwrap();
        assert_eq!(URL_SAFE_NO_PAD.encode(signed), parts[2]);
    }

    #[tokio::test]
    async fn tokens() {
        let login = "POST https://login.microsoftonline.com/T/oauth2/v2.0/token grant_type=client_credentials&client_id=C&scope=https%3A%2F%2Fstorage.azure.com%2F.default";
        let by_assertion = format!(
            "{login}&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&client_assertion=jwt"
        );
        let secret = AzureLogin { secret: Some(Secret::new("s")), ..settings() };
        check(secret, &[&format!("{login}&client_secret=s")]).await;
        let assertion = AzureLogin { assertion: Some(Secret::new("jwt")), ..settings() };
        check(assertion, &[&by_assertion]).await;
        let request = Some(("https://ci/x?a=b".to_owned(), Secret::new("r")));
        let github = AzureLogin { assertion_request: request.clone(), ..settings() };
        check(github, &["GET https://ci/x?a=b&audience=api%3A%2F%2FAzureADTokenExchange ", &by_assertion]).await;
        let pipeline = AzureLogin { assertion_request: request, pipeline: Some("P".into()), ..settings() };
        check(pipeline, &["POST https://ci/x?a=b&api-version=7.1&serviceConnectionId=P ", &by_assertion]).await;
        let machine = AzureLogin { managed_identity: true, ..settings() };
        let asked =
            format!("GET {MACHINE}?api-version=2018-02-01&resource=https%3A%2F%2Fstorage.azure.com&client_id=C ");
        check(machine, &[&asked]).await;
        check(AzureLogin { cli: true, ..settings() }, &[]).await;
        assert!(Cloud::named("mars").is_err());
    }
}
