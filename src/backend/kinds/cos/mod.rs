//! The `cos` backend: states in a bucket of Tencent Cloud's object store, locked by objects beside them. A tag of the account guards the
//! moment in which a lock is made.
//!
//! Owns the settings, the services' interfaces and the layout in the store. Never knows the content of states.

mod api;
mod client;
mod credentials;
mod settings;
mod store;

use std::sync::Arc;

use api::Api;
use async_trait::async_trait;
use base::env;
use client::Objects;
use credentials::{Access, Keys};
use net::cloud;
use net::http::Client;
use regex_automata::meta::Regex;
use store::{CosBackend, Place};
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::Value;

use crate::contract::settings::{Settings, failure};
use crate::contract::{Context, StoreError};
use crate::kinds::{Kind, Opened};
use crate::web;

/// The kind of this backend.
pub struct Cos;

const DEFAULT_KEY: &str = "terraform.tfstate";
const DEFAULT_ACL: &str = "private";
const DEFAULT_DOMAIN: &str = "tencentcloudapi.com";

#[async_trait]
impl Kind for Cos {
    fn name(&self) -> &'static str {
        "cos"
    }

    fn schema(&self) -> Block {
        settings::schema()
    }

    fn check(&self, config: &Value, context: &Context) -> Vec<ProviderDiagnostic> {
        settings::check(&Settings::of(config, context))
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>> {
        let settings = Settings::of(config, context);
        let place = place(&settings).await.map_err(|why| vec![failure(why)])?;
        let text = |name: &str, default: &str| config.get(name).and_then(Value::as_str).unwrap_or(default).to_owned();
        Ok(Opened::States(Arc::new(CosBackend {
            place: Arc::new(place),
            prefix: text("prefix", ""),
            key: text("key", DEFAULT_KEY),
            context: context.clone(),
        })))
    }
}

async fn place(settings: &Settings<'_>) -> Result<Place, StoreError> {
    let environment = settings.environment;
    let client = Client::build(web::settings(environment))?;
    let bucket = settings.text("bucket", &[]).unwrap_or_default().to_owned();
    let region = settings.text("region", &[env::TENCENTCLOUD_REGION]).unwrap_or_default().to_owned();
    let flag = |name: &str| settings.config.get(name).and_then(Value::as_bool);
    let base = match settings.text("endpoint", &[env::TENCENTCLOUD_ENDPOINT]) {
        Some(endpoint) => internal(endpoint, &bucket)?,
        None if flag("accelerate") == Some(true) => format!("https://{bucket}.cos.accelerate.myqcloud.com"),
        None => format!("https://{bucket}.cos.{region}.myqcloud.com"),
    };
    let domain = settings.text("domain", &[env::TENCENTCLOUD_DOMAIN]).unwrap_or(DEFAULT_DOMAIN);
    let api = Api { client: client.clone(), address: format!("https://{{service}}.{domain}/"), region };
    let keys = Keys::new(Access::read(settings)?, api.clone(), cloud::client_context(environment, &client));
    let acl = settings.config.get("acl").and_then(Value::as_str).unwrap_or(DEFAULT_ACL).to_owned();
    let encrypt = flag("encrypt").unwrap_or(true);
    Ok(Place { objects: Objects { client, keys, bucket, base, encrypt, acl }, api })
}

/// The bucket at an address inside of the cloud, which is all that `endpoint` may be.
fn internal(endpoint: &str, bucket: &str) -> Result<String, StoreError> {
    let form = Regex::new(r"^https?://cos-internal\.[^.]+\.tencentcos\.cn$").map_err(|e| e.to_string())?;
    match endpoint.split_once("://").filter(|_| form.is_match(endpoint)) {
        Some((scheme, host)) => Ok(format!("{scheme}://{bucket}.{host}")),
        None => Err(format!("Invalid URL: {endpoint} must be: http(s)://cos-internal.{{Region}}.tencentcos.cn").into()),
    }
}

#[cfg(test)]
mod tests;
