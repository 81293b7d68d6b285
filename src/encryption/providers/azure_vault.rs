//! Keys wrapped by a key of Azure Key Vault, or of a managed HSM.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::Request;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use url::Url;

use super::{KeyProvider, Kind, Need, ProvideError, Provided, stored};
use crate::base::env;
use crate::base::secret::Secret;
use crate::encryption::aes::random;
use crate::encryption::key::{Key, Keys};
use crate::encryption::payload::from_base64;
use crate::encryption::services::{Answer, HttpClient, HttpSettings, Services};
use crate::encryption::settings::Settings;
use crate::lang::syntax::body::BodySchema;

pub struct AzureVault;

const API: &str = "7.6";
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
    ) -> Result<Box<dyn KeyProvider>, String> {
        let algorithm = algorithm(settings)?;
        let (vault, name) = (settings.text("vault_uri"), settings.text("vault_key_name"));
        let length = settings.number("key_length").unwrap_or_default();
        check_names(&vault, &name)?;
        if length < 1 {
            return Err("key_length must be at least 1".into());
        }
        let login = Login::read(settings, services).await?;
        let url = Url::parse(&vault).map_err(|e| format!("problem making vault client: {e}"))?;
        Ok(Box::new(Provider {
            client: services.http.client(&HttpSettings::default())?,
            token: tokio::sync::OnceCell::new(),
            scope: scope(&url),
            vault: vault.trim_end_matches('/').to_owned(),
            login,
            name,
            length: usize::try_from(length).map_err(|e| e.to_string())?,
            algorithm,
        }))
    }
}

fn algorithm(settings: &mut Settings) -> Result<&'static str, String> {
    if settings.flag("symmetric") != Some(true) {
        return Ok("RSA-OAEP-256");
    }
    match settings.number("symmetric_key_size") {
        Some(128) => Ok("A128GCM"),
        Some(192) => Ok("A192GCM"),
        Some(256) => Ok("A256GCM"),
        _ => Err("when symmetric is set to true, symmetric_key_size must be given a value of 128, 192, or 256".into()),
    }
}

fn check_names(vault: &str, name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("vault_key_name must be provided".into());
    }
    if vault.is_empty() {
        return Err("vault_uri must be provided".into());
    }
    let wrong = |why: String| format!("misconfigured key vault name or key name: {why}");
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

/// What tokens for a vault are for: the service that it belongs to.
fn scope(vault: &Url) -> String {
    let host = vault.host_str().unwrap_or_default();
    format!("https://{}/.default", host.split_once('.').map_or(host, |(_, service)| service))
}

/// An application that has a secret, or a token of another identity provider.
struct Login {
    authority: String,
    tenant: String,
    client: String,
    proof: Proof,
}

enum Proof {
    Secret(Secret),
    Token(Secret),
}

impl Login {
    async fn read(settings: &mut Settings, services: &Services) -> Result<Login, String> {
        let environment = &services.environment;
        let given = |text: String, variable: &str| {
            if text.is_empty() { environment.non_empty(variable).unwrap_or_default().to_owned() } else { text }
        };
        let client = from_file(
            given(settings.text("client_id"), env::ARM_CLIENT_ID),
            given(settings.text("client_id_file_path"), env::ARM_CLIENT_ID_FILE_PATH),
        );
        let secret = from_file(
            given(settings.text("client_secret"), env::ARM_CLIENT_SECRET),
            given(settings.text("client_secret_file_path"), env::ARM_CLIENT_SECRET_FILE_PATH),
        );
        let token = from_file(
            given(settings.text("oidc_token"), env::ARM_OIDC_TOKEN),
            given(settings.text("oidc_token_file_path"), env::ARM_OIDC_TOKEN_FILE_PATH),
        );
        let authority = match given(settings.text("environment"), env::ARM_ENVIRONMENT).as_str() {
            "" | "public" => "https://login.microsoftonline.com",
            "usgovernment" => "https://login.microsoftonline.us",
            "china" => "https://login.chinacloudapi.cn",
            other => return Err(format!("while obtaining Azure cloud configuration: unknown environment {other:?}")),
        };
        let uses_oidc = settings.flag("use_oidc") == Some(true);
        let (client, secret, token) = (client.await?, secret.await?, token.await?);
        let proof = match (uses_oidc && !token.is_empty(), secret.is_empty()) {
            (true, _) => Proof::Token(Secret::new(token)),
            (false, false) => Proof::Secret(Secret::new(secret)),
            (false, true) => {
                return Err(
                    "problem getting an auth method: only a client secret and an OIDC token are supported here".into(),
                );
            }
        };
        let tenant = given(settings.text("tenant_id"), env::ARM_TENANT_ID);
        Ok(Login { authority: authority.to_owned(), tenant, client, proof })
    }

    fn form(&self, scope: &str) -> String {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("client_id", &self.client)
            .append_pair("grant_type", "client_credentials")
            .append_pair("scope", scope);
        match &self.proof {
            Proof::Secret(secret) => form.append_pair("client_secret", secret.reveal()),
            Proof::Token(token) => form
                .append_pair("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
                .append_pair("client_assertion", token.reveal()),
        };
        form.finish()
    }

    async fn token(&self, client: &dyn HttpClient, scope: &str) -> Result<Secret, String> {
        let url = format!("{}/{}/oauth2/v2.0/token", self.authority, self.tenant);
        let request = Request::post(&url)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(Bytes::from(self.form(scope)))
            .map_err(|e| e.to_string())?;
        let answer = client.send(request).await?;
        let said: Json = serde_json::from_slice(&answer.body).unwrap_or_default();
        match said["access_token"].as_str() {
            Some(token) => Ok(Secret::new(token)),
            None => {
                let why = said["error_description"].as_str().or(said["error"].as_str()).unwrap_or("no token");
                Err(format!("ClientSecretCredential authentication failed. POST {url}: {}: {why}", answer.status))
            }
        }
    }
}

/// A value, or else the content of a file.
async fn from_file(value: String, path: String) -> Result<String, String> {
    if !value.is_empty() || path.is_empty() {
        return Ok(value);
    }
    let read = tokio::fs::read_to_string(&path).await;
    read.map(|text| text.trim().to_owned()).map_err(|e| format!("problem getting an auth method: open {path}: {e}"))
}

struct Provider {
    client: Arc<dyn HttpClient>,
    login: Login,
    token: tokio::sync::OnceCell<Secret>,
    scope: String,
    vault: String,
    name: String,
    length: usize,
    algorithm: &'static str,
}

/// Bytes that may be null, in standard base64.
type Text = Option<String>;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Metadata {
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

impl Provider {
    async fn call(&self, version: &str, verb: &str, question: &Map<String, Json>) -> Result<Json, String> {
        let token = self.token.get_or_try_init(|| self.login.token(&*self.client, &self.scope)).await?;
        let version = if version.is_empty() { String::new() } else { format!("/{version}") };
        let url = format!("{}/keys/{}{version}/{verb}?api-version={API}", self.vault, self.name);
        let request = Request::post(&url)
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", token.reveal()))
            .body(Bytes::from(Json::Object(question.clone()).to_string()))
            .map_err(|e| e.to_string())?;
        let Answer { status, body, .. } = self.client.send(request).await?;
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

    async fn wrap(&self, key: &[u8]) -> Result<Metadata, String> {
        let mut question = Map::new();
        question.insert("alg".into(), self.algorithm.into());
        question.insert("value".into(), URL_SAFE_NO_PAD.encode(key).into());
        let answer = self.call("", "encrypt", &question).await?;
        let text = |name: &str| Ok::<_, String>(from_url(&answer[name])?.map(|bytes| STANDARD.encode(bytes)));
        Ok(Metadata {
            ciphertext: text("value")?,
            iv: text("iv")?,
            authentication_tag: text("tag")?,
            additional_authenticated_data: text("aad")?,
            key_version: answer["kid"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned(),
            algo: self.algorithm.to_owned(),
        })
    }

    async fn unwrap(&self, old: &Metadata) -> Result<Vec<u8>, String> {
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
            let bytes = from_base64(text)?;
            if !bytes.is_empty() {
                question.insert(name.into(), URL_SAFE_NO_PAD.encode(bytes).into());
            }
        }
        let answer = self.call(&old.key_version, "decrypt", &question).await?;
        from_url(&answer["value"])?.ok_or_else(|| "the vault gives no value".to_owned())
    }
}

#[async_trait]
impl KeyProvider for Provider {
    async fn provide(&self, metadata: Option<&[u8]>, need: Need) -> Result<Provided, ProvideError> {
        let old: Metadata = stored(metadata)?;
        let mut provided = Provided { keys: Keys::default(), metadata: Vec::new() };
        if need == Need::Both {
            let mut key = vec![0; self.length];
            random(&mut key)?;
            let wrapped = self.wrap(&key).await.map_err(|why| format!("failed to encrypt key: {why}"))?;
            provided.keys.encryption = Some(Key::new(key));
            provided.metadata = serde_json::to_vec(&wrapped).map_err(|e| e.to_string())?;
        }
        if old.ciphertext.as_deref().is_some_and(|text| !text.is_empty()) {
            let key = self.unwrap(&old).await.map_err(|why| format!("failed to decrypt key: {why}"))?;
            provided.keys.decryption = Some(Key::new(key));
        }
        Ok(provided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let why = check_names(vault, name).err().unwrap_or_default();
            assert!(why.contains(expected) && why.is_empty() == expected.is_empty(), "{vault} {name}: {why}");
        }
        assert_eq!(scope(&Url::parse(vault).unwrap()), "https://vault.azure.net/.default");
    }
}
