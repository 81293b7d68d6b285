//! Keys encrypted by a key of Google Cloud KMS, over its REST interface.

use std::sync::Arc;

use async_trait::async_trait;
use base::env::{self, Environment};
use base::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Request;
use lang::syntax::body::BodySchema;
use net::google;
use reqsign_core::Signer;
use reqsign_google::Credential;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tokio::sync::OnceCell;

use super::{BuildError, KeyProvider, Kind, Need, ProvideError, Provided, base64_bytes, kept, stored};
use crate::aes::random;
use crate::key::{Key, Keys};
use crate::payload::from_base64;
use crate::services::{HttpClient, HttpSettings, Services};
use crate::settings::{Settings, SettingsOrVariables};

pub struct GcpKms;

const OPTIONAL: [&str; 5] = [
    "credentials",
    "access_token",
    "impersonate_service_account",
    "impersonate_service_account_delegates",
    "additional_authenticated_data",
];

const HOST: &str = "https://cloudkms.googleapis.com";
const SCOPE: &str = "https://www.googleapis.com/auth/cloudkms";

#[async_trait]
impl Kind for GcpKms {
    fn name(&self) -> &'static str {
        "gcp_kms"
    }

    fn schema(&self) -> BodySchema {
        let required = BodySchema::new().required("kms_encryption_key").required("key_length");
        OPTIONAL.iter().fold(required, |schema, name| schema.attribute(name))
    }

    async fn build(
        &self,
        settings: &mut Settings,
        _: Option<Keys>,
        services: &Services,
    ) -> Result<Box<dyn KeyProvider>, BuildError> {
        let client = services.http.client(&HttpSettings::default())?;
        let login = login(settings, services)?;
        let name = settings.text("kms_encryption_key");
        let length = settings.number("key_length").unwrap_or_default();
        if name.is_empty() {
            return Err(BuildError::setting("kms_key_name must be provided"));
        }
        if length < 1 {
            return Err(BuildError::setting("key_length must be at least 1"));
        }
        if length > 1024 {
            return Err(BuildError::setting("key_length must be less than the GCP limit of 1024"));
        }
        let length = usize::try_from(length).unwrap_or_default();
        let authenticated = settings.text("additional_authenticated_data");
        check_authenticated(&authenticated)?;
        let (environment, signer) = (services.environment.clone(), OnceCell::new());
        Ok(Box::new(GcpKmsProvider { client, environment, login, signer, name, length, authenticated }))
    }
}

/// As the backend `gcs` has it: a token, credentials, or those that Google's programs find, and accounts to impersonate.
fn login(settings: &mut Settings, services: &Services) -> Result<google::GoogleLogin, BuildError> {
    let mut given = SettingsOrVariables { settings, services };
    let token = given.text("access_token", &[env::GOOGLE_OAUTH_ACCESS_TOKEN]);
    let credentials = given.text("credentials", &[env::GOOGLE_CREDENTIALS]).filter(|_| token.is_none());
    let account = given.text(
        "impersonate_service_account",
        &[env::GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT, env::GOOGLE_IMPERSONATE_SERVICE_ACCOUNT],
    );
    let credentials = match credentials {
        None => None,
        Some(text) => {
            let json = google::path_or_contents(&text, given.folder_of("credentials"), &services.environment)
                .map_err(|e| BuildError::Credentials(format!("error loading credentials: {e}")))?;
            serde_json::from_str::<serde::de::IgnoredAny>(&json).map_err(|_| {
                BuildError::setting("the string provided in credentials is neither valid json nor a valid file path")
            })?;
            Some(Secret::new(json))
        }
    };
    let delegates = settings.texts("impersonate_service_account_delegates");
    Ok(google::GoogleLogin {
        access_token: token.map(Secret::new),
        credentials,
        impersonate: account.map(|account| (account, delegates)),
        scope: SCOPE,
    })
}

struct GcpKmsProvider {
    client: Arc<dyn HttpClient>,
    environment: Environment,
    login: google::GoogleLogin,
    /// Made for the first request.
    signer: OnceCell<Signer<Credential>>,
    name: String,
    length: usize,
    /// In base64: authenticated with the keys, but not stored.
    authenticated: String,
}

fn check_authenticated(text: &str) -> Result<(), BuildError> {
    let data = from_base64(text).map_err(|why| {
        BuildError::Setting(format!("additional_authenticated_data must be valid standard base64: {why}"))
    })?;
    match data.len() > 64 * 1024 {
        true => Err(BuildError::setting("additional_authenticated_data must be less than the GCP limit of 64 KiB")),
        false => Ok(()),
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct GcpKmsMetadata {
    #[serde(with = "base64_bytes")]
    ciphertext: Vec<u8>,
}

impl GcpKmsProvider {
    /// A request with the data that are authenticated as well.
    fn authenticated(&self, mut question: Json) -> Json {
        if !self.authenticated.is_empty() {
            question["additionalAuthenticatedData"] = json!(self.authenticated);
        }
        question
    }

    async fn signer(&self) -> Result<&Signer<Credential>, String> {
        let make = || async { google::signer(&self.login, &self.environment, &self.client.context()).await };
        self.signer.get_or_try_init(make).await.map_err(|e| e.to_string())
    }

    async fn call(&self, verb: &str, question: &Json, wanted: &str) -> Result<Vec<u8>, String> {
        let request = Request::post(format!("{HOST}/v1/{}:{verb}", self.name))
            .header("content-type", "application/json")
            .body(Bytes::from(question.to_string()))
            .map_err(|e| e.to_string())?;
        let (mut head, body) = request.into_parts();
        self.signer().await?.sign(&mut head, None).await.map_err(|e| e.to_string())?;
        let answer = self.client.send(Request::from_parts(head, body)).await.map_err(|e| e.to_string())?;
        let said: Json = serde_json::from_slice(&answer.body).unwrap_or_default();
        if (200..300).contains(&answer.status) {
            let text = said[wanted].as_str().unwrap_or_default();
            return from_base64(text).map_err(|why| why.to_string());
        }
        let (status, message) = (said["error"]["status"].as_str(), said["error"]["message"].as_str());
        Err(format!(
            "rpc error: code = {} desc = {}",
            status.map_or_else(|| answer.status.to_string(), camel_case),
            message.unwrap_or_default()
        ))
    }
}

/// `INVALID_ARGUMENT` as gRPC's library for Go shows it: `InvalidArgument`.
fn camel_case(status: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_owned() + &rest.to_lowercase()
    };
    status.split('_').map(word).collect()
}

#[async_trait]
impl KeyProvider for GcpKmsProvider {
    async fn provide(&self, metadata: Option<&[u8]>, need: Need) -> Result<Provided, ProvideError> {
        let old: GcpKmsMetadata = stored(metadata)?;
        let mut provided = Provided { keys: Keys::default(), metadata: Vec::new() };
        if need == Need::Both {
            let mut key = vec![0; self.length];
            random(&mut key)?;
            let question = self.authenticated(json!({ "plaintext": STANDARD.encode(&key) }));
            let ciphertext = self.call("encrypt", &question, "ciphertext").await;
            let ciphertext =
                ciphertext.map_err(|why| ProvideError::Service(format!("failed to encrypt key: {why}")))?;
            provided.keys.encryption = Some(Key::new(key));
            provided.metadata = kept(&GcpKmsMetadata { ciphertext })?;
        }
        if !old.ciphertext.is_empty() {
            let question = self.authenticated(json!({ "ciphertext": STANDARD.encode(&old.ciphertext) }));
            let key = self.call("decrypt", &question, "plaintext").await.map_err(ProvideError::Service)?;
            provided.keys.decryption = Some(Key::new(key));
        }
        Ok(provided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_those_of_the_backend() {
        let of = |variables: &[(&str, &str)]| {
            let environment = Environment::of(variables.iter().copied());
            login(&mut Settings::default(), &Services { environment, ..Services::offline() })
        };
        let account = ("GOOGLE_IMPERSONATE_SERVICE_ACCOUNT", "a@b");
        let found = of(&[("GOOGLE_CREDENTIALS", "{}"), account]).unwrap();
        assert_eq!(found.credentials.unwrap().reveal(), "{}");
        assert_eq!(found.impersonate, Some(("a@b".to_owned(), Vec::new())));
        let token = of(&[("GOOGLE_OAUTH_ACCESS_TOKEN", "t"), ("GOOGLE_CREDENTIALS", "{}")]).unwrap();
        assert!(token.credentials.is_none() && token.access_token.unwrap().reveal() == "t");
        assert!(of(&[]).unwrap().access_token.is_none());
        assert!(of(&[("GOOGLE_CREDENTIALS", "no file")]).is_err());
    }

    #[test]
    fn authenticated_data_are_base64_of_limited_size() {
        assert_eq!(check_authenticated(""), Ok(()));
        assert_eq!(check_authenticated("YQ=="), Ok(()));
        let invalid =
            "additional_authenticated_data must be valid standard base64: illegal base64 data at input byte 0";
        assert_eq!(check_authenticated("!"), Err(BuildError::setting(invalid)));
        assert!(check_authenticated(&STANDARD.encode(vec![0; 64 * 1024])).is_ok());
        assert!(check_authenticated(&STANDARD.encode(vec![0; 64 * 1024 + 1])).is_err());
    }

    #[test]
    fn statuses_are_those_of_grpc() {
        assert_eq!(camel_case("INVALID_ARGUMENT"), "InvalidArgument");
        assert_eq!(camel_case("NOT_FOUND"), "NotFound");
    }
}
