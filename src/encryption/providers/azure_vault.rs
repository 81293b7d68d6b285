//! Keys wrapped by a key of Azure Key Vault, or of a managed HSM.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use base::env::{self, Environment};
use base::files::reason;
use base::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::Request;
use lang::syntax::body::BodySchema;
use net::azure::{self, Cloud};
use net::pkcs12;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use url::Url;

use super::{BuildError, KeyProvider, Kind, Need, ProvideError, Provided, kept, stored};
use crate::aes::random;
use crate::key::{Key, Keys};
use crate::payload::from_base64;
use crate::services::{Answer, HttpClient, HttpSettings, Services};
use crate::settings::{Settings, SettingsOrVariables};

pub struct AzureVault;

const API: &str = "7.6";
const NO_LOGIN: &str = "problem getting an auth method";
const RULES: &str =
    "https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules#microsoftkeyvault";

#[rustfmt::skip]
const OPTIONAL: &[&str] = &[
    "use_cli", "client_id", "client_id_file_path", "client_secret", "client_secret_file_path", "client_certificate",
    "client_certificate_password", "client_certificate_path", "use_oidc", "oidc_token", "oidc_token_file_path", "oidc_request_url",
    "oidc_request_token", "use_msi", "msi_endpoint", "use_aks_workload_identity", "metadata_host", "environment", "subscription_id",
    "tenant_id", "symmetric", "symmetric_key_size",
];

#[async_trait]
impl Kind for AzureVault {
    fn name(&self) -> &'static str {
        "azure_vault"
    }

    fn schema(&self) -> BodySchema {
        let required = BodySchema::new().required("vault_uri").required("vault_key_name").required("key_length");
        OPTIONAL.iter().fold(required, |schema, name| schema.attribute(name))
    }

    async fn build(
        &self,
        settings: &mut Settings,
        _: Option<Keys>,
        services: &Services,
    ) -> Result<Box<dyn KeyProvider>, BuildError> {
        let algorithm = algorithm(settings)?;
        let (vault, name) = (settings.text("vault_uri"), settings.text("vault_key_name"));
        let length = settings.number("key_length").unwrap_or_default();
        check_names(&vault, &name)?;
        if length < 1 {
            return Err(BuildError::setting("key_length must be at least 1"));
        }
        let login = login(settings, services).await?;
        let url = Url::parse(&vault).map_err(|e| BuildError::Setting(format!("problem making vault client: {e}")))?;
        Ok(Box::new(AzureVaultProvider {
            client: services.http.client(&HttpSettings::default())?,
            token: tokio::sync::OnceCell::new(),
            service: service(&url),
            vault: vault.trim_end_matches('/').to_owned(),
            login,
            name,
            length: usize::try_from(length).unwrap_or_default(),
            algorithm,
        }))
    }
}

fn algorithm(settings: &mut Settings) -> Result<&'static str, BuildError> {
    if settings.flag("symmetric") != Some(true) {
        return Ok("RSA-OAEP-256");
    }
    match settings.number("symmetric_key_size") {
        Some(128) => Ok("A128GCM"),
        Some(192) => Ok("A192GCM"),
        Some(256) => Ok("A256GCM"),
        _ => Err(BuildError::setting(
            "when symmetric is set to true, symmetric_key_size must be given a value of 128, 192, or 256",
        )),
    }
}

fn check_names(vault: &str, name: &str) -> Result<(), BuildError> {
    if name.is_empty() {
        return Err(BuildError::setting("vault_key_name must be provided"));
    }
    if vault.is_empty() {
        return Err(BuildError::setting("vault_uri must be provided"));
    }
    let wrong = |why: String| BuildError::Setting(format!("misconfigured key vault name or key name: {why}"));
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if name.len() > 127 || !name.chars().all(allowed) {
        return Err(wrong(format!(
            "invalid key name: Azure requires a key name consists of 1-127 letters, numbers, or hyphens. See documentation here: {RULES}"
        )));
    }
    let url = Url::parse(vault).map_err(|e| wrong(format!("invalid key vault URL: {e}")))?;
    let host = url.host_str().unwrap_or_default().split('.').next().unwrap_or_default();
    let well_formed = (3..=24).contains(&host.len())
        && host.chars().all(allowed)
        && host.starts_with(|c: char| c.is_ascii_alphabetic())
        && !host.ends_with('-');
    if !well_formed {
        return Err(wrong(format!(
            "invalid key vault name: Azure requires a key vault name consists of 3-24 letters, numbers, and hyphens only. It must start with a letter and cannot end with a hyphen. See documentation here: {RULES}"
        )));
    }
    match host.contains("--") {
        true => Err(wrong(format!(
            "invalid key vault name: Hyphens in a key vault name must be nonconsecutive. See documentation here: {RULES}"
        ))),
        false => Ok(()),
    }
}

/// The service that a vault belongs to.
fn service(vault: &Url) -> String {
    let host = vault.host_str().unwrap_or_default();
    format!("https://{}", host.split_once('.').map_or(host, |(_, service)| service))
}

/// Who asks for a token, as the backend `azurerm` has it.
async fn login(settings: &mut Settings, services: &Services) -> Result<azure::AzureLogin, BuildError> {
    let environment = &services.environment;
    let aks = flag(settings, environment, "use_aks_workload_identity", env::ARM_USE_AKS_WORKLOAD_IDENTITY)?;
    let of_aks = |variable: &str| environment.non_empty(variable).filter(|_| aks == Some(true)).map(str::to_owned);
    let mut given = SettingsOrVariables { settings, services };
    let archive = given.text("client_certificate", &[env::ARM_CLIENT_CERTIFICATE]);
    let archive_path = given.file("client_certificate_path", &[env::ARM_CLIENT_CERTIFICATE_PATH]);
    let password =
        given.text("client_certificate_password", &[env::ARM_CLIENT_CERTIFICATE_PASSWORD]).unwrap_or_default();
    let certificate = pkcs12::of_settings(archive.as_deref(), archive_path.as_deref(), &password);
    let certificate = certificate.map_err(|why| BuildError::Credentials(format!("{NO_LOGIN}: {why}")))?;
    let client = given.text("client_id", &[env::ARM_CLIENT_ID]).or_else(|| of_aks(env::AZURE_CLIENT_ID));
    let client = (client, given.file("client_id_file_path", &[env::ARM_CLIENT_ID_FILE_PATH]));
    let secret = (
        given.text("client_secret", &[env::ARM_CLIENT_SECRET]),
        given.file("client_secret_file_path", &[env::ARM_CLIENT_SECRET_FILE_PATH]),
    );
    let token_path = given.file("oidc_token_file_path", &[env::ARM_OIDC_TOKEN_FILE_PATH]);
    let token_path = token_path.or_else(|| of_aks(env::AZURE_FEDERATED_TOKEN_FILE).map(PathBuf::from));
    let token = (given.text("oidc_token", &[env::ARM_OIDC_TOKEN]), token_path);
    let tenant = given.text("tenant_id", &[env::ARM_TENANT_ID]).or_else(|| of_aks(env::AZURE_TENANT_ID));
    let url = [env::ARM_OIDC_REQUEST_URL, env::ACTIONS_ID_TOKEN_REQUEST_URL, env::SYSTEM_OIDCREQUESTURI];
    let request = [env::ARM_OIDC_REQUEST_TOKEN, env::ACTIONS_ID_TOKEN_REQUEST_TOKEN, env::SYSTEM_ACCESSTOKEN];
    let request = given.text("oidc_request_url", &url).zip(given.text("oidc_request_token", &request));
    let endpoint = given.text("msi_endpoint", &[env::ARM_MSI_ENDPOINT]);
    let cloud = given.text("environment", &[env::ARM_ENVIRONMENT]);
    let cloud = match given.text("metadata_host", &[env::ARM_METADATA_HOSTNAME, env::ARM_METADATA_HOST]) {
        Some(host) => Cloud::of_host(&host, &services.http.client(&HttpSettings::default())?.context()).await,
        None => Cloud::named(cloud.as_deref().unwrap_or("public")),
    };
    let cloud =
        cloud.map_err(|why| BuildError::Setting(format!("while obtaining Azure cloud configuration: {why}")))?;
    let pipeline = [env::ARM_ADO_PIPELINE_SERVICE_CONNECTION_ID, env::ARM_OIDC_AZURE_SERVICE_CONNECTION_ID];
    let pipeline = pipeline.iter().find_map(|variable| environment.non_empty(variable)).map(str::to_owned);
    let oidc = aks == Some(true) || flag(settings, environment, "use_oidc", env::ARM_USE_OIDC)? == Some(true);
    Ok(azure::AzureLogin {
        cloud,
        tenant: tenant.unwrap_or_default(),
        client: from_file(client).await?.unwrap_or_default(),
        certificate,
        secret: from_file(secret).await?.map(Secret::new),
        assertion: from_file(token).await?.filter(|_| oidc).map(Secret::new),
        assertion_request: request.filter(|_| oidc).map(|(url, token)| (url, Secret::new(token))),
        pipeline,
        managed_identity: flag(settings, environment, "use_msi", env::ARM_USE_MSI)? == Some(true),
        managed_identity_endpoint: endpoint,
        cli: flag(settings, environment, "use_cli", env::ARM_USE_CLI)?.unwrap_or(true),
    })
}

fn flag(
    settings: &mut Settings,
    environment: &Environment,
    name: &str,
    variable: &str,
) -> Result<Option<bool>, BuildError> {
    match (settings.flag(name), environment.non_empty(variable)) {
        (None, Some("1" | "t" | "T" | "true" | "TRUE" | "True")) => Ok(Some(true)),
        (None, Some("0" | "f" | "F" | "false" | "FALSE" | "False")) => Ok(Some(false)),
        (None, Some(text)) => {
            Err(BuildError::Setting(format!("invalid value for {variable}: {text:?} is not a boolean")))
        }
        (set, _) => Ok(set),
    }
}

/// A value, or else the content of a file.
async fn from_file((value, path): (Option<String>, Option<PathBuf>)) -> Result<Option<String>, BuildError> {
    let (None, Some(path)) = (&value, path) else { return Ok(value) };
    let read = tokio::fs::read_to_string(&path).await;
    let failed = |e| BuildError::File { purpose: NO_LOGIN, path: path.display().to_string(), why: reason(&e) };
    let read = read.map_err(failed)?;
    Ok(Some(read.trim().to_owned()).filter(|text| !text.is_empty()))
}

struct AzureVaultProvider {
    client: Arc<dyn HttpClient>,
    login: azure::AzureLogin,
    token: tokio::sync::OnceCell<Secret>,
    /// What tokens are for.
    service: String,
    vault: String,
    name: String,
    length: usize,
    algorithm: &'static str,
}

/// Bytes that may be null, in standard base64.
type Text = Option<String>;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct AzureVaultMetadata {
    ciphertext: Text,
    iv: Text,
    authentication_tag: Text,
    additional_authenticated_data: Text,
    key_version: String,
    algo: String,
}

fn from_url(text: &Json) -> Result<Option<Vec<u8>>, String> {
    let Some(text) = text.as_str() else { return Ok(None) };
    URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map(Some).map_err(|e| e.to_string())
}

impl AzureVaultProvider {
    async fn new_token(&self) -> Result<Secret, String> {
        let token = azure::token(&self.login, &self.service, &self.client.context()).await;
        token.map(|token| token.text).map_err(|why| format!("{NO_LOGIN}: {why}"))
    }

    async fn call(&self, version: &str, verb: &str, question: &Map<String, Json>) -> Result<Json, String> {
        let token = self.token.get_or_try_init(|| self.new_token()).await?;
        let version = if version.is_empty() { String::new() } else { format!("/{version}") };
        let url = format!("{}/keys/{}{version}/{verb}?api-version={API}", self.vault, self.name);
        let request = Request::post(&url)
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", token.reveal()))
            .body(Bytes::from(Json::Object(question.clone()).to_string()))
            .map_err(|e| e.to_string())?;
        let Answer { status, body, .. } = self.client.send(request).await.map_err(|e| e.to_string())?;
        let said: Json = serde_json::from_slice(&body).unwrap_or_default();
        if (200..300).contains(&status) {
            return Ok(said);
        }
        let (code, message) = (said["error"]["code"].as_str(), said["error"]["message"].as_str());
        Err(format!(
            "POST {}/keys/{}{version}/{verb}: RESPONSE {status}: {}: {}",
            self.vault,
            self.name,
            code.unwrap_or("UNAVAILABLE"),
            message.unwrap_or_default()
        ))
    }

    async fn wrap(&self, key: &[u8]) -> Result<AzureVaultMetadata, String> {
        let mut question = Map::new();
        question.insert("alg".into(), self.algorithm.into());
        question.insert("value".into(), URL_SAFE_NO_PAD.encode(key).into());
        let answer = self.call("", "encrypt", &question).await?;
        let text = |name: &str| Ok::<_, String>(from_url(&answer[name])?.map(|bytes| STANDARD.encode(bytes)));
        Ok(AzureVaultMetadata {
            ciphertext: text("value")?,
            iv: text("iv")?,
            authentication_tag: text("tag")?,
            additional_authenticated_data: text("aad")?,
            key_version: answer["kid"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned(),
            algo: self.algorithm.to_owned(),
        })
    }

    async fn unwrap(&self, old: &AzureVaultMetadata) -> Result<Vec<u8>, String> {
        let algorithm = if old.algo.is_empty() { self.algorithm } else { &old.algo };
        let mut question = Map::new();
        question.insert("alg".into(), algorithm.into());
        let fields = [
            ("value", &old.ciphertext),
            ("iv", &old.iv),
            ("tag", &old.authentication_tag),
            ("aad", &old.additional_authenticated_data),
        ];
        for (name, text) in fields {
            let Some(text) = text else { continue };
            let bytes = from_base64(text).map_err(|why| why.to_string())?;
            if !bytes.is_empty() {
                question.insert(name.into(), URL_SAFE_NO_PAD.encode(bytes).into());
            }
        }
        let answer = self.call(&old.key_version, "decrypt", &question).await?;
        from_url(&answer["value"])?.ok_or_else(|| "the vault gives no value".to_owned())
    }
}

#[async_trait]
impl KeyProvider for AzureVaultProvider {
    async fn provide(&self, metadata: Option<&[u8]>, need: Need) -> Result<Provided, ProvideError> {
        let old: AzureVaultMetadata = stored(metadata)?;
        let mut provided = Provided { keys: Keys::default(), metadata: Vec::new() };
        if need == Need::Both {
            let mut key = vec![0; self.length];
            random(&mut key)?;
            let wrapped = self.wrap(&key).await;
            let wrapped = wrapped.map_err(|why| ProvideError::Service(format!("failed to encrypt key: {why}")))?;
            provided.keys.encryption = Some(Key::new(key));
            provided.metadata = kept(&wrapped)?;
        }
        if old.ciphertext.as_deref().is_some_and(|text| !text.is_empty()) {
            let key = self.unwrap(&old).await;
            let key = key.map_err(|why| ProvideError::Service(format!("failed to decrypt key: {why}")))?;
            provided.keys.decryption = Some(Key::new(key));
        }
        Ok(provided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn login_of(variables: &[(&str, &str)]) -> Result<azure::AzureLogin, BuildError> {
        let environment = Environment::of(variables.iter().copied());
        let services = Services { environment, ..Services::offline() };
        login(&mut Settings::default(), &services).await
    }

    #[tokio::test]
    async fn logins_are_those_of_the_backend() {
        let machine = login_of(&[("ARM_USE_MSI", "true"), ("ARM_CLIENT_ID", "c")]).await.unwrap();
        assert!(machine.managed_identity && machine.cli && machine.client == "c");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "jwt\n").unwrap();
        let path = file.to_str().unwrap();
        let kubernetes = [
            ("ARM_USE_AKS_WORKLOAD_IDENTITY", "1"),
            ("AZURE_CLIENT_ID", "c"),
            ("AZURE_TENANT_ID", "t"),
            ("AZURE_FEDERATED_TOKEN_FILE", path),
        ];
        let pod = login_of(&kubernetes).await.unwrap();
        assert_eq!((pod.client.as_str(), pod.tenant.as_str()), ("c", "t"));
        assert_eq!(pod.assertion.unwrap().reveal(), "jwt");
        let github =
            [("ARM_USE_OIDC", "true"), ("ACTIONS_ID_TOKEN_REQUEST_URL", "u"), ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "r")];
        assert_eq!(login_of(&github).await.unwrap().assertion_request.unwrap().0, "u");
        for refused in [("ARM_CLIENT_CERTIFICATE_PATH", "p"), ("ARM_USE_CLI", "perhaps"), ("ARM_ENVIRONMENT", "mars")] {
            assert!(login_of(&[refused]).await.is_err(), "{refused:?}");
        }
    }

    #[test]
    fn names_are_checked() {
        let vault = "https://kit-vault.vault.azure.net/";
        let cases = [
            (vault, "k1", ""),
            (vault, "k_1", "invalid key name: "),
            ("https://ab.vault.azure.net/", "k", "invalid key vault name: Azure"),
            ("https://a--b.vault.azure.net/", "k", "invalid key vault name: Hyphens"),
            ("", "k", "vault_uri must be provided"),
        ];
        for (vault, name, expected) in cases {
            let why = check_names(vault, name).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(why.contains(expected) && why.is_empty() == expected.is_empty(), "{vault} {name}: {why}");
        }
        assert_eq!(service(&Url::parse(vault).unwrap()), "https://vault.azure.net");
    }
}
