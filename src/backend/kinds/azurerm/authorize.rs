//! How requests for blobs are authorized: by a key, a signature, a token, or a key that Azure's management service gives out.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use base::env;
use base::secret::Secret;
use bytes::Bytes;
use http::Request;
use net::azure::{self, Cloud};
use net::percent::encoded;
use net::pkcs12;
use reqsign_azure_storage::{Credential, RequestSigner};
use reqsign_core::{Context, Error, ProvideCredential, Signer};
use serde::Deserialize;
use terrane_protocol::provider::ProviderDiagnostic;

use crate::contract::settings::{Settings, failure};

const STORAGE: &str = "https://storage.azure.com";

/// Where the account is, and what opens it.
pub struct Access {
    /// `https://ACCOUNT.blob.core.windows.net`
    pub endpoint: String,
    method: AuthMethod,
}

#[derive(Clone)]
enum AuthMethod {
    Key {
        account: String,
        key: Secret,
    },
    Signature(Secret),
    /// With the token that was requested first, until it is used.
    Token(Box<azure::AzureLogin>, Arc<Mutex<Option<azure::Token>>>),
}

/// Never shows a secret.
impl fmt::Debug for AuthMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuthMethod")
    }
}

impl ProvideCredential for AuthMethod {
    type Credential = Credential;

    async fn provide_credential(&self, context: &Context) -> reqsign_core::Result<Option<Credential>> {
        Ok(Some(match self {
            AuthMethod::Key { account, key } => Credential::with_shared_key(account, key.reveal()),
            AuthMethod::Signature(token) => Credential::with_sas_token(token.reveal().trim_start_matches('?')),
            AuthMethod::Token(settings, first) => {
                let first = first.lock().unwrap_or_else(|e| e.into_inner()).take();
                let token = match first {
                    Some(token) => token,
                    None => azure::token(settings, STORAGE, context).await.map_err(Error::credential_invalid)?,
                };
                Credential::with_bearer_token(token.text.reveal(), token.expires)
            }
        }))
    }
}

type Problems = Vec<ProviderDiagnostic>;

fn failed(why: impl Into<String>) -> Problems {
    vec![failure(why)]
}

fn not_logged_in(why: String) -> Problems {
    let how = "Log in with \"az login\", or configure a service principal, OIDC or a managed identity for the backend.";
    vec![ProviderDiagnostic::error(why, how)]
}

impl Access {
    pub fn signer(&self, context: &Context) -> Signer<Credential> {
        Signer::new(context.clone(), self.method.clone(), RequestSigner::new())
    }

    /// Decides by the settings. Asks Azure's management service only where a key or the address is to be looked up.
    pub async fn find(settings: &Settings<'_>, context: &Context) -> Result<Access, Problems> {
        let account = settings.text("storage_account_name", &[]).unwrap_or_default().to_owned();
        let cloud = match settings.text("metadata_host", &[env::ARM_METADATA_HOSTNAME, env::ARM_METADATA_HOST]) {
            Some(host) => Cloud::of_host(host, context).await.map_err(failed)?,
            None => {
                let name = settings.text("environment", &[env::ARM_ENVIRONMENT]).unwrap_or("public");
                Cloud::named(name).map_err(failed)?
            }
        };
        let key = settings.text("access_key", &[env::ARM_ACCESS_KEY]);
        let signature = settings.text("sas_token", &[env::ARM_SAS_TOKEN]);
        let by_token = flag(settings, "use_azuread_auth", &[env::ARM_USE_AZUREAD])?;
        let group = settings.text("resource_group_name", &[]);
        let lookup = flag(settings, "lookup_blob_endpoint", &[env::ARM_USE_DNS_ZONE_ENDPOINT])?;
        let needs_key = key.is_none() && signature.is_none() && !by_token;
        if group.is_none() && needs_key {
            return Err(failed(
                "One of `access_key`, `sas_token`, `use_azuread_auth` and `resource_group_name` must be specifieid",
            ));
        }
        if group.is_none() && lookup {
            return Err(failed("`resource_group_name` is required when `lookup_blob_endpoint` is set"));
        }
        let mut endpoint = format!("https://{account}.blob.{}", cloud.storage_suffix);
        let management = Management { account: &account, group: group.unwrap_or_default(), settings, context };
        if lookup {
            endpoint = management.endpoint(&cloud).await?;
        }
        let method = match (key, signature) {
            (Some(key), _) => AuthMethod::Key { account, key: Secret::new(key) },
            (None, Some(signature)) => AuthMethod::Signature(Secret::new(signature)),
            (None, None) if by_token => {
                // At once: without a login the error is about the login, not about the first request.
                let settings = identity(settings, cloud)?;
                let token = azure::token(&settings, STORAGE, context).await.map_err(|why| not_logged_in(why.into()))?;
                AuthMethod::Token(Box::new(settings), Arc::new(Mutex::new(Some(token))))
            }
            (None, None) => {
                let key = management.key(&cloud).await?;
                AuthMethod::Key { account: account.clone(), key }
            }
        };
        Ok(Access { endpoint, method })
    }
}

fn flag(settings: &Settings, name: &str, variables: &[&str]) -> Result<bool, Problems> {
    settings.flag(name, variables).map(|set| set == Some(true)).map_err(|error| vec![error])
}

/// Azure's management service, about one storage account.
struct Management<'a> {
    account: &'a str,
    group: &'a str,
    settings: &'a Settings<'a>,
    context: &'a Context,
}

#[derive(Deserialize)]
struct Keys {
    #[serde(default)]
    keys: Vec<Key>,
}

#[derive(Deserialize)]
struct Key {
    #[serde(default)]
    permissions: String,
    value: Option<String>,
}

#[derive(Deserialize)]
struct Account {
    properties: Properties,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Properties {
    primary_endpoints: Endpoints,
}

#[derive(Deserialize)]
struct Endpoints {
    blob: Option<String>,
}

impl Management<'_> {
    async fn ask<T: serde::de::DeserializeOwned>(&self, cloud: &Cloud, action: &str) -> Result<T, Problems> {
        let subscription = self.settings.text("subscription_id", &[env::ARM_SUBSCRIPTION_ID]).unwrap_or_default();
        let identity = identity(self.settings, cloud.clone())?;
        let token = azure::token(&identity, &cloud.management, self.context).await.map_err(failed)?;
        let (subscription, group) = (encoded(subscription, false), encoded(self.group, false));
        let account = encoded(self.account, false);
        let url = format!(
            "{}/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Storage/storageAccounts/{account}{action}?api-version=2023-01-01",
            cloud.management
        );
        let request = if action.is_empty() { Request::get(url) } else { Request::post(url) };
        let request = request.header("authorization", format!("Bearer {}", token.text.reveal())).body(Bytes::new());
        let request = request.map_err(|_| failed("the request to Azure's management service cannot be sent"))?;
        let what = if action.is_empty() { "retrieving" } else { "listing Keys for" };
        azure::json(self.context, request, &format!("{what} Storage Account {:?}", self.account)).await.map_err(failed)
    }

    async fn key(&self, cloud: &Cloud) -> Result<Secret, Problems> {
        let found: Keys = self.ask(cloud, "/listKeys").await?;
        let full = found.keys.into_iter().filter(|key| key.permissions.eq_ignore_ascii_case("full"));
        let key = full.filter_map(|key| key.value).next().map(Secret::new);
        key.ok_or_else(|| failed(format!("unable to determine the Write Key for Storage Account {:?}", self.account)))
    }

    async fn endpoint(&self, cloud: &Cloud) -> Result<String, Problems> {
        let found: Account = self.ask(cloud, "").await?;
        let blob = found.properties.primary_endpoints.blob.map(|url| url.trim_end_matches('/').to_owned());
        blob.ok_or_else(|| {
            failed(format!("determining blob endpoint for {:?}: missing primary endpoint", self.account))
        })
    }
}

/// Who we are to Microsoft Entra ID.
fn identity(settings: &Settings, cloud: Cloud) -> Result<azure::AzureLogin, Problems> {
    let certificate = pkcs12::of_settings(
        settings.text("client_certificate", &[env::ARM_CLIENT_CERTIFICATE]),
        settings.path("client_certificate_path", &[env::ARM_CLIENT_CERTIFICATE_PATH]).as_deref(),
        settings.text("client_certificate_password", &[env::ARM_CLIENT_CERTIFICATE_PASSWORD]).unwrap_or_default(),
    );
    let certificate = certificate.map_err(failed)?;
    let aks = flag(settings, "use_aks_workload_identity", &[env::ARM_USE_AKS_WORKLOAD_IDENTITY])?;
    let of_aks = |variable: &str| settings.environment.non_empty(variable).filter(|_| aks);
    let oidc = aks || flag(settings, "use_oidc", &[env::ARM_USE_OIDC])?;
    let client = same(
        "Client ID",
        &[
            settings.text("client_id", &[env::ARM_CLIENT_ID]).map(str::to_owned),
            file(settings, "client_id_file_path", env::ARM_CLIENT_ID_FILE_PATH, "Client ID")?,
            of_aks(env::AZURE_CLIENT_ID).map(str::to_owned),
        ],
    )?;
    let tenant = same(
        "Tenant ID",
        &[
            settings.text("tenant_id", &[env::ARM_TENANT_ID]).map(str::to_owned),
            of_aks(env::AZURE_TENANT_ID).map(str::to_owned),
        ],
    )?;
    let secret = same(
        "Client Secret",
        &[
            settings.text("client_secret", &[env::ARM_CLIENT_SECRET]).map(str::to_owned),
            file(settings, "client_secret_file_path", env::ARM_CLIENT_SECRET_FILE_PATH, "Client Secret")?,
        ],
    )?;
    let federated =
        of_aks(env::AZURE_FEDERATED_TOKEN_FILE).map(|path| read(Path::new(path), "OIDC Token")).transpose()?;
    let assertion = same(
        "OIDC token",
        &[
            settings.text("oidc_token", &[env::ARM_OIDC_TOKEN]).map(str::to_owned),
            file(settings, "oidc_token_file_path", env::ARM_OIDC_TOKEN_FILE_PATH, "OIDC Token")?,
            federated,
        ],
    )?;
    let url = [env::ARM_OIDC_REQUEST_URL, env::ACTIONS_ID_TOKEN_REQUEST_URL, env::SYSTEM_OIDCREQUESTURI];
    let token = [env::ARM_OIDC_REQUEST_TOKEN, env::ACTIONS_ID_TOKEN_REQUEST_TOKEN, env::SYSTEM_ACCESSTOKEN];
    let request = settings.text("oidc_request_url", &url).zip(settings.text("oidc_request_token", &token));
    let pipeline = [env::ARM_ADO_PIPELINE_SERVICE_CONNECTION_ID, env::ARM_OIDC_AZURE_SERVICE_CONNECTION_ID];
    let cli = settings.flag("use_cli", &[env::ARM_USE_CLI]).map_err(|error| vec![error])?;
    Ok(azure::AzureLogin {
        cloud,
        tenant: tenant.unwrap_or_default(),
        client: client.unwrap_or_default(),
        certificate,
        secret: secret.map(Secret::new),
        assertion: assertion.filter(|_| oidc).map(Secret::new),
        assertion_request: request.filter(|_| oidc).map(|(url, token)| (url.to_owned(), Secret::new(token))),
        pipeline: settings.text("ado_pipeline_service_connection_id", &pipeline).map(str::to_owned),
        managed_identity: flag(settings, "use_msi", &[env::ARM_USE_MSI])?,
        managed_identity_endpoint: settings.text("msi_endpoint", &[env::ARM_MSI_ENDPOINT]).map(str::to_owned),
        cli: cli.unwrap_or(true),
    })
}

/// What several settings say, if they agree.
fn same(what: &str, values: &[Option<String>]) -> Result<Option<String>, Problems> {
    let mut values = values.iter().flatten().map(|text| text.trim()).filter(|text| !text.is_empty());
    let first = values.next();
    match values.all(|other| Some(other) == first) {
        true => Ok(first.map(str::to_owned)),
        false => Err(failed(format!(
            "mismatch between supplied {what} and supplied {what} file contents - please either remove one or ensure they match"
        ))),
    }
}

fn file(settings: &Settings, name: &str, variable: &str, what: &str) -> Result<Option<String>, Problems> {
    settings.path(name, &[variable]).map(|path| read(&path, what)).transpose()
}

fn read(path: &Path, what: &str) -> Result<String, Problems> {
    std::fs::read_to_string(path).map_err(|e| failed(format!("reading {what} from file {path:?}: {e}")))
}
