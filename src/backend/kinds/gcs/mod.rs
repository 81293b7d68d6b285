//! The `gcs` backend: states in a bucket of Google Cloud Storage, locked by objects beside them.
//!
//! Owns the settings, the service's interface and the layout in the store. Never knows the content of states, and of credentials only that
//! requests carry them.

mod client;
mod settings;
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
use settings::{credentials, customer_key, kms_key};
use store::GcsBackend;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::Value;

use crate::contract::settings::{Settings, failure};
use crate::contract::{Context, StoreError};
use crate::kinds::{Kind, Opened};
use crate::web;

/// The kind of this backend.
pub struct Gcs;

#[async_trait]
impl Kind for Gcs {
    fn name(&self) -> &'static str {
        "gcs"
    }

    fn schema(&self) -> Block {
        settings::schema()
    }

    fn check(&self, config: &Value, context: &Context) -> Vec<ProviderDiagnostic> {
        settings::check(&Settings::of(config, context))
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>> {
        let objects = objects(config, context).await.map_err(|why| vec![failure(why)])?;
        let prefix = config.get("prefix").and_then(Value::as_str).unwrap_or_default().trim_start_matches('/');
        let slash = if prefix.is_empty() || prefix.ends_with('/') { "" } else { "/" };
        Ok(Opened::States(Arc::new(GcsBackend {
            objects: Arc::new(objects),
            prefix: format!("{prefix}{slash}"),
            context: context.clone(),
        })))
    }
}

async fn objects(config: &Value, context: &Context) -> Result<Objects, StoreError> {
    let environment = &context.environment;
    let settings = Settings::of(config, context);
    let credentials = credentials(&settings)?;
    let key = customer_key(&settings).map(|text| {
        let folder = settings.folder_of("encryption_key");
        let text =
            path_or_contents(text, folder, environment).map_err(|e| format!("Error loading encryption key: {e}"))?;
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

#[cfg(test)]
mod tests;
