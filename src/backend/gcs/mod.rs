//! The `gcs` backend: states in a bucket of Google Cloud Storage, locked by objects beside them.
//!
//! Owns the settings, the service's interface and the layout in the store. Never knows the content of states, and of credentials only that
//! requests carry them.

mod client;
mod store;

use std::sync::Arc;

use async_trait::async_trait;
use base::env;
use base::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use client::Objects;
use net::cloud;
use net::google::{self, path_or_contents};
use net::http::Client;
use store::GcsBackend;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::{Attribute, Block};
use terrane_value::{Type, Value};

use super::settings::{Settings, failure};
use super::store::Backend;
use super::table::{Context, Kind, block, optional};
use super::web;

/// The kind of this backend.
pub struct Gcs;

const SCOPE: &str = "https://www.googleapis.com/auth/devstorage.read_write";
const BOTH_KEYS: &str = "can't set both encryption_key and kms_encryption_key";

#[async_trait]
impl Kind for Gcs {
    fn name(&self) -> &'static str {
        "gcs"
    }

    fn schema(&self) -> Block {
        let text = |description: &str| optional(Type::String, description);
        let bucket = text("The name of the Google Cloud Storage bucket");
        block(&[
            ("bucket", Attribute { optional: false, required: true, ..bucket }),
            ("prefix", text("The folder in the bucket.")),
            ("credentials", text("JSON of an account, or the path of a file with it.")),
            ("access_token", text("An OAuth 2.0 token.")),
            ("impersonate_service_account", text("A service account to act as.")),
            (
                "impersonate_service_account_delegates",
                optional(Type::list(Type::String), "Accounts that lead to the service account to act as."),
            ),
            (
                "encryption_key",
                text("Base64 of the key that states are encrypted with, or the path of a file with it."),
            ),
            ("kms_encryption_key", text("The Cloud KMS key that states are encrypted with.")),
            ("storage_custom_endpoint", text("Where the storage service is.")),
        ])
    }

    fn check(&self, config: &Value, context: &Context) -> Vec<ProviderDiagnostic> {
        let settings = Settings { config, environment: &context.environment };
        let set = |name: &str| config.get(name).is_some_and(|value| !value.is_null());
        let both = (set("encryption_key") && set("kms_encryption_key"))
            || (customer_key(&settings).is_some() && kms_key(&settings).is_some());
        if both { vec![failure(BOTH_KEYS)] } else { Vec::new() }
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Arc<dyn Backend>, Vec<ProviderDiagnostic>> {
        let objects = objects(config, context).await.map_err(|why| vec![failure(why)])?;
        let prefix = config.get("prefix").and_then(Value::as_str).unwrap_or_default().trim_start_matches('/');
        let slash = if prefix.is_empty() || prefix.ends_with('/') { "" } else { "/" };
        Ok(Arc::new(GcsBackend {
            objects: Arc::new(objects),
            prefix: format!("{prefix}{slash}"),
            context: context.clone(),
        }))
    }
}

fn customer_key<'a>(settings: &Settings<'a>) -> Option<&'a str> {
    settings.text("encryption_key", &[env::GOOGLE_ENCRYPTION_KEY])
}

fn kms_key<'a>(settings: &Settings<'a>) -> Option<&'a str> {
    settings.text("kms_encryption_key", &[env::GOOGLE_KMS_ENCRYPTION_KEY])
}

async fn objects(config: &Value, context: &Context) -> Result<Objects, String> {
    let environment = &context.environment;
    let settings = Settings { config, environment };
    let credentials = credentials(&settings)?;
    let key = customer_key(&settings).map(|text| {
        let text = path_or_contents(text, environment).map_err(|e| format!("Error loading encryption key: {e}"))?;
        STANDARD.decode(&text).map_err(|e| format!("Error decoding encryption key: {e}"))?;
        Ok::<_, String>(Secret::new(text))
    });
    let client = Client::build(web::settings(environment))?;
    let endpoint = [env::GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT, env::GOOGLE_STORAGE_CUSTOM_ENDPOINT];
    let endpoint = settings.text("storage_custom_endpoint", &endpoint);
    let emulator = environment.non_empty(env::STORAGE_EMULATOR_HOST);
    let base = match (endpoint, emulator) {
        (Some(url), _) => url.trim_end_matches('/').to_owned(),
        (None, Some(host)) if host.contains("://") => format!("{}/storage/v1", host.trim_end_matches('/')),
        (None, Some(host)) => format!("http://{}/storage/v1", host.trim_end_matches('/')),
        (None, None) => "https://storage.googleapis.com/storage/v1".to_owned(),
    };
    let signer = match emulator {
        // Emulators have no authentication.
        Some(_) => None,
        None => {
            let found = google::signer(&credentials, environment, &cloud::client_context(environment, &client)).await;
            Some(found.map_err(|e| format!("storage.NewClient() failed: dialing: {e}"))?)
        }
    };
    Ok(Objects {
        client,
        signer,
        bucket: settings.text("bucket", &[]).unwrap_or_default().to_owned(),
        base,
        key: key.transpose()?,
        kms_key: kms_key(&settings).map(str::to_owned),
    })
}

fn credentials(settings: &Settings) -> Result<google::GoogleLogin, String> {
    let token = settings.text("access_token", &[env::GOOGLE_OAUTH_ACCESS_TOKEN]);
    let variables = [env::GOOGLE_BACKEND_CREDENTIALS, env::GOOGLE_CREDENTIALS];
    let json = settings.text("credentials", &variables).filter(|_| token.is_none()).map(|text| {
        let json =
            path_or_contents(text, settings.environment).map_err(|e| format!("Error loading credentials: {e}"))?;
        match serde_json::from_str::<serde::de::IgnoredAny>(&json) {
            Ok(_) => Ok(Secret::new(json)),
            Err(_) => Err("the string provided in credentials is neither valid json nor a valid file path".to_owned()),
        }
    });
    let account = [env::GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT, env::GOOGLE_IMPERSONATE_SERVICE_ACCOUNT];
    let delegates =
        settings.config.get("impersonate_service_account_delegates").map(Value::elements).unwrap_or_default();
    let delegates: Option<Vec<String>> = delegates.iter().map(|value| value.as_str().map(str::to_owned)).collect();
    let delegates = delegates.ok_or("impersonate_service_account_delegates elements must not be null")?;
    Ok(google::GoogleLogin {
        access_token: token.map(Secret::new),
        credentials: json.transpose()?,
        impersonate: settings.text("impersonate_service_account", &account).map(|name| (name.to_owned(), delegates)),
        scope: SCOPE,
    })
}

#[cfg(test)]
mod tests;
