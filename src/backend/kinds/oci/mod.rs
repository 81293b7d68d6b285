//! The `oci` backend: states in a bucket of Oracle's Object Storage, locked by objects beside them.
//!
//! Owns the settings, the sources of keys and tokens, the signatures, the service's interface and the layout in the store. Never knows the
//! content of states.

mod access;
mod client;
mod principal;
mod profile;
mod region;
mod schema;
mod settings;
mod sign;
mod store;

use std::sync::Arc;

use access::Access;
use async_trait::async_trait;
use base::secret::Secret;
use client::{Encryption, Objects};
use net::http::Client;
use net::percent::encoded;
use settings::{DEFAULT_KEY, DEFAULT_PREFIX, text_or_variable, variable};
use store::OciBackend;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::Value;

use crate::contract::settings::{Settings, boolean, failure};
use crate::contract::{Context, StoreError};
use crate::kinds::{Kind, Opened};
use crate::web;

/// The kind of this backend.
pub struct Oci;

const DEFAULT_ALGORITHM: &str = "AES256";
/// The name of the service in `CLIENT_HOST_OVERRIDES`.
const SERVICE: &str = "oci_object_storage.ObjectStorageClient";

#[async_trait]
impl Kind for Oci {
    fn name(&self) -> &'static str {
        "oci"
    }

    fn schema(&self) -> Block {
        schema::schema()
    }

    fn check(&self, config: &Value, context: &Context) -> Vec<ProviderDiagnostic> {
        schema::check(&Settings::of(config, context))
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>> {
        let settings = Settings::of(config, context);
        let objects = objects(&settings).map_err(|why| vec![failure(why)])?;
        let text = |name: &str, default| text_or_variable(&settings, name).unwrap_or(default).to_owned();
        Ok(Opened::States(Arc::new(OciBackend {
            objects: Arc::new(objects),
            bucket: text("bucket", ""),
            prefix: text("workspace_key_prefix", DEFAULT_PREFIX),
            key: text("key", DEFAULT_KEY),
            context: context.clone(),
        })))
    }
}

fn objects(settings: &Settings<'_>) -> Result<Objects, StoreError> {
    let client = client(settings)?;
    if variable(settings, "use_obo_token").is_some_and(|text| !matches!(boolean("use_obo_token", text), Ok(false))) {
        return Err("OCI_use_obo_token: tokens on behalf of other users are not supported".into());
    }
    let (access, region) = Access::find(settings, &client)?;
    let text = |name: &str| text_or_variable(settings, name);
    let host = host_override(settings).map_or_else(
        || format!("https://objectstorage.{region}.{}", region::domain(&region)),
        |host| host.trim_end_matches('/').to_owned(),
    );
    let [namespace, bucket] = ["namespace", "bucket"].map(|name| encoded(text(name).unwrap_or_default(), false));
    let encryption = match (text("kms_key_id"), text("sse_customer_key"), text("sse_customer_key_sha256")) {
        (Some(key), ..) => Encryption::Kms(key.to_owned()),
        (None, Some(key), Some(hash)) => Encryption::Customer {
            key: Secret::new(key),
            hash: hash.to_owned(),
            algorithm: text("sse_customer_algorithm").unwrap_or(DEFAULT_ALGORITHM).to_owned(),
        },
        _ => Encryption::Default,
    };
    Ok(Objects { client, access, base: format!("{host}/n/{namespace}/b/{bucket}"), encryption })
}

/// A client that trusts the certificates of `OCI_custom_cert_location`, or any with `OCI_accept_local_certs`.
fn client(settings: &Settings<'_>) -> Result<Client, StoreError> {
    let mut web = web::settings(settings.environment);
    if let Some(path) = variable(settings, "custom_cert_location") {
        let text = std::fs::read_to_string(path).map_err(|e| format!("open {path}: {e}"))?;
        web.tls.authorities = Some(text);
    }
    let accept = variable(settings, "accept_local_certs").map(|text| boolean("accept_local_certs", text));
    web.tls.skip_verification = matches!(accept, Some(Ok(true)));
    Ok(Client::build(web)?)
}

/// The address in `CLIENT_HOST_OVERRIDES`: pairs `SERVICE=ADDRESS` with semicolons between them.
fn host_override<'a>(settings: &Settings<'a>) -> Option<&'a str> {
    let pairs = variable(settings, "CLIENT_HOST_OVERRIDES")?.split(';');
    pairs.filter_map(|pair| pair.split_once('=')).find(|(name, _)| *name == SERVICE).map(|(_, address)| address)
}

#[cfg(test)]
mod tests;
