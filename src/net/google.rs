//! Google Cloud: credentials, and requests that carry them.
//!
//! Owns where credentials come from, in the order of Application Default Credentials. The exchange for tokens is `reqsign`'s. Never knows
//! what requests are for.

use std::fmt;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use base::env::{self, Environment};
use base::secret::Secret;
use reqsign_core::{Context, Error, ProvideCredential, Result, Signer};
use reqsign_google::{
    Credential, RequestSigner, ServiceAccountImpersonationCredentialProvider, ServiceAccountImpersonationGrant,
    ServiceAccountTokenCredentialProvider, StaticCredentialProvider, TokenCredentialProvider,
    VmMetadataCredentialProvider,
};

use super::cloud::{Impatient, home, home_expanded};

/// The scope that impersonation needs of the account that impersonates.
const PLATFORM: &str = "https://www.googleapis.com/auth/cloud-platform";
const NONE: &str = "could not find default credentials. See https://cloud.google.com/docs/authentication/external/set-up-adc for more information";
/// Timeout of metadata services, which are on the same machine.
const PATIENCE: Duration = Duration::from_secs(2);

/// What credentials are looked for by.
#[derive(Clone, Debug)]
pub struct GoogleLogin {
    pub access_token: Option<Secret>,
    /// JSON of a service account, an authorized user or an external account.
    pub credentials: Option<Secret>,
    /// A service account, and the accounts that lead to it.
    pub impersonate: Option<(String, Vec<String>)>,
    pub scope: &'static str,
}

/// A signer whose credentials were found already; it requests new ones once these expire.
pub async fn signer(
    settings: &GoogleLogin,
    environment: &Environment,
    context: &Context,
) -> Result<Signer<Credential>> {
    let found = find(settings, environment, context).await?;
    let provided =
        FoundFirst { settings: settings.clone(), environment: environment.clone(), first: Mutex::new(Some(found)) };
    Ok(Signer::new(context.clone(), provided, RequestSigner::new("storage").with_scope(settings.scope)))
}

struct FoundFirst {
    settings: GoogleLogin,
    environment: Environment,
    first: Mutex<Option<Credential>>,
}

/// Never shows a secret.
impl fmt::Debug for FoundFirst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FoundFirst")
    }
}

impl ProvideCredential for FoundFirst {
    type Credential = Credential;

    async fn provide_credential(&self, context: &Context) -> Result<Option<Credential>> {
        let first = self.first.lock().unwrap_or_else(|e| e.into_inner()).take();
        match first {
            Some(found) => Ok(Some(found)),
            None => find(&self.settings, &self.environment, context).await.map(Some),
        }
    }
}

/// Requests a token.
async fn find(settings: &GoogleLogin, environment: &Environment, context: &Context) -> Result<Credential> {
    let scope = if settings.impersonate.is_some() { PLATFORM } else { settings.scope };
    let own = own(settings, scope, environment, context).await?;
    let Some((account, delegates)) = &settings.impersonate else { return Ok(own) };
    let grant = ServiceAccountImpersonationGrant::new(account, [settings.scope]).with_delegates(delegates);
    let source = KnownCredential(own);
    let provider = ServiceAccountImpersonationCredentialProvider::new(source, grant);
    provider.provide_credential(context).await?.ok_or_else(|| Error::credential_invalid(NONE))
}

/// A credential that is there already.
#[derive(Debug)]
struct KnownCredential(Credential);

impl ProvideCredential for KnownCredential {
    type Credential = Credential;

    async fn provide_credential(&self, _: &Context) -> Result<Option<Credential>> {
        Ok(Some(self.0.clone()))
    }
}

async fn own(settings: &GoogleLogin, scope: &str, environment: &Environment, context: &Context) -> Result<Credential> {
    let none = || Error::credential_invalid(NONE);
    if let Some(token) = &settings.access_token {
        return TokenCredentialProvider::new(token.reveal()).provide_credential(context).await?.ok_or_else(none);
    }
    let json = match &settings.credentials {
        Some(json) => Some(json.reveal().to_owned()),
        None => default_file(environment).await?,
    };
    let Some(json) = json else { return of_machine(scope, environment, context).await };
    let read = StaticCredentialProvider::new(json).with_scope(scope).provide_credential(context).await?;
    let read = read.ok_or_else(none)?;
    match read.service_account {
        Some(account) => {
            let exchange = ServiceAccountTokenCredentialProvider::new(account).with_scope(scope);
            exchange.provide_credential(context).await?.ok_or_else(none)
        }
        None => Ok(read),
    }
}

async fn default_file(environment: &Environment) -> Result<Option<String>> {
    if let Some(path) = environment.non_empty(env::GOOGLE_APPLICATION_CREDENTIALS) {
        let read = tokio::fs::read_to_string(path).await;
        let failed = |e| {
            Error::config_invalid(format!(
                "error getting credentials using GOOGLE_APPLICATION_CREDENTIALS environment variable: open {path}: {e}"
            ))
        };
        return read.map(Some).map_err(failed);
    }
    let folder = match environment.non_empty(env::APPDATA).filter(|_| cfg!(windows)) {
        Some(folder) => Some(std::path::PathBuf::from(folder)),
        None => home(environment).map(|home| home.join(".config")),
    };
    let Some(folder) = folder else { return Ok(None) };
    Ok(tokio::fs::read_to_string(folder.join("gcloud/application_default_credentials.json")).await.ok())
}

async fn of_machine(scope: &str, environment: &Environment, context: &Context) -> Result<Credential> {
    let mut provider = VmMetadataCredentialProvider::new().with_scope(scope);
    if let Some(host) = environment.non_empty(env::GCE_METADATA_HOST) {
        provider = provider.with_endpoint(host);
    }
    let context = context.clone().with_http_send(Impatient(context.clone(), PATIENCE));
    // That there is no such machine is what no credentials mean.
    let found = provider.provide_credential(&context).await.ok().flatten();
    found.ok_or_else(|| Error::credential_invalid(NONE))
}

/// A setting that is a file's path or a file's content. `folder`: where relative paths start; empty: in the folder of the process.
pub fn path_or_contents(text: &str, folder: &Path, environment: &Environment) -> std::io::Result<String> {
    let path = folder.join(home_expanded(text, environment));
    match path.exists() {
        true => std::fs::read_to_string(&path),
        false => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::stop::Stop;
    use bytes::Bytes;
    use reqsign_core::HttpSend;

    use super::*;
    use crate::cloud;

    /// Answers by the beginning of an address; keeps what it was asked.
    #[derive(Clone, Debug)]
    struct Services(Vec<(&'static str, &'static str)>, Arc<Mutex<Vec<String>>>);

    impl HttpSend for Services {
        async fn http_send(&self, request: http::Request<Bytes>) -> Result<http::Response<Bytes>> {
            let uri = request.uri().to_string();
            self.1.lock().unwrap().push(format!("{uri} {}", String::from_utf8_lossy(request.body())));
            let found = self.0.iter().find(|(begin, _)| uri.starts_with(begin));
            let (status, text) = found.map_or((404, ""), |(_, text)| (200, text));
            Ok(http::Response::builder().status(status).body(Bytes::from(text)).unwrap())
        }
    }

    async fn check(
        settings: GoogleLogin,
        variables: &[(&str, &str)],
        expected: std::result::Result<&str, &str>,
    ) -> Vec<String> {
        let services = Services(
            vec![
                (
                    "https://oauth2.googleapis.com/token",
                    r#"{"access_token":"user","expires_in":3600,"token_type":"Bearer"}"#,
                ),
                (
                    "https://iamcredentials.googleapis.com/",
                    r#"{"accessToken":"other","expireTime":"2099-01-01T00:00:00Z"}"#,
                ),
                ("http://meta/", r#"{"access_token":"machine","expires_in":3600}"#),
            ],
            Arc::default(),
        );
        let environment = Environment::of(variables.iter().copied());
        let context = cloud::context(&environment, &Stop::new(), services.clone());
        let found = match signer(&settings, &environment, &context).await {
            Ok(signer) => {
                let (mut head, ()) = http::Request::get("https://x/").body(()).unwrap().into_parts();
                signer.sign(&mut head, None).await.unwrap();
                Ok(head.headers["authorization"].to_str().unwrap().to_owned())
            }
            Err(e) => Err(e.to_string()),
        };
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
        services.1.lock().unwrap().clone()
    }

    fn settings() -> GoogleLogin {
        GoogleLogin { access_token: None, credentials: None, impersonate: None, scope: "https://scope" }
    }

    #[tokio::test]
    async fn credentials_are_found_in_order() {
        let user = r#"{"type":"authorized_user","client_id":"c","client_secret":"s","refresh_token":"r"}"#;
        let token =
            GoogleLogin { access_token: Some(Secret::new("t")), credentials: Some(Secret::new(user)), ..settings() };
        assert!(check(token, &[], Ok("Bearer t")).await.is_empty());
        let json = GoogleLogin { credentials: Some(Secret::new(user)), ..settings() };
        check(json.clone(), &[], Ok("Bearer user")).await;
        let impersonate =
            Some(("a@p.iam.gserviceaccount.com".to_owned(), vec!["b@p.iam.gserviceaccount.com".to_owned()]));
        let asked = check(GoogleLogin { impersonate, ..json }, &[], Ok("Bearer other")).await;
        assert!(asked[1].contains(":generateAccessToken") && asked[1].contains("https://scope"), "{asked:?}");
        check(settings(), &[("GCE_METADATA_HOST", "meta")], Ok("Bearer machine")).await;
        check(settings(), &[("GCE_METADATA_HOST", "none")], Err(NONE)).await;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.json");
        std::fs::write(&path, user).unwrap();
        let path = path.display().to_string();
        check(settings(), &[("GOOGLE_APPLICATION_CREDENTIALS", &path)], Ok("Bearer user")).await;
    }
}
