//! The `oss` backend: states in a bucket of Alibaba Cloud's object store, locked by rows of a table of Tablestore.
//!
//! Owns the settings, the two services' interfaces and the layout in the store. Never knows the content of states.

mod client;
mod credentials;
mod plain_buffer;
mod settings;
mod store;
mod table;

use std::sync::Arc;

use async_trait::async_trait;
use base::env;
use client::Objects;
use credentials::Access;
use net::cloud;
use net::http::Client;
use reqsign_aliyun_oss::RequestSigner;
use reqsign_core::Signer;
use store::{OssBackend, Place};
use table::{Table, TableSigner};
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::Value;

use crate::contract::settings::{Settings, failure};
use crate::contract::{Context, StoreError};
use crate::kinds::{Kind, Opened};
use crate::web;

/// The kind of this backend.
pub struct Oss;

const DEFAULT_PREFIX: &str = "env:";
const DEFAULT_KEY: &str = "terraform.tfstate";

#[async_trait]
impl Kind for Oss {
    fn name(&self) -> &'static str {
        "oss"
    }

    fn schema(&self) -> Block {
        settings::schema()
    }

    fn check(&self, config: &Value, _: &Context) -> Vec<ProviderDiagnostic> {
        settings::check(config)
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>> {
        let settings = Settings::of(config, context);
        let place = place(&settings).map_err(|why| vec![failure(why)])?;
        // An empty text is not the default one.
        let text = |name: &str, default: &str| config.get(name).and_then(Value::as_str).unwrap_or(default).to_owned();
        let prefix = text("prefix", DEFAULT_PREFIX);
        let prefix = prefix.trim_matches('/');
        Ok(Opened::States(Arc::new(OssBackend {
            place: Arc::new(place),
            prefix: prefix.strip_prefix("./").unwrap_or(prefix).to_owned(),
            key: text("key", DEFAULT_KEY),
            context: context.clone(),
        })))
    }
}

fn place(settings: &Settings<'_>) -> Result<Place, StoreError> {
    let environment = settings.environment;
    let client = Client::build(web::settings(environment))?;
    let access = Access::read(settings);
    let bucket = settings.text("bucket", &[]).unwrap_or_default().to_owned();
    let with_scheme = |endpoint: &str| match endpoint.starts_with("http") {
        true => endpoint.trim_end_matches('/').to_owned(),
        false => format!("https://{}", endpoint.trim_end_matches('/')),
    };
    let endpoint = settings.text("endpoint", &[env::ALICLOUD_OSS_ENDPOINT, env::OSS_ENDPOINT]);
    let endpoint = endpoint.map_or_else(|| format!("https://oss-{}.aliyuncs.com", access.region), with_scheme);
    let base = client::base(&endpoint, &bucket)?;
    let tables = settings.text("tablestore_endpoint", &[env::ALICLOUD_TABLESTORE_ENDPOINT]).map(with_scheme);
    let signer = Signer::new(cloud::client_context(environment, &client), access, RequestSigner::new(&bucket));
    let table = match (settings.text("tablestore_table", &[]), tables) {
        (None, _) => None,
        (Some(_), None) => return Err("tablestore_table needs tablestore_endpoint".into()),
        (Some(name), Some(endpoint)) => {
            let host = endpoint.split_once("://").map_or("", |(_, host)| host);
            let instance = host.split('.').next().unwrap_or_default().to_owned();
            let signer = signer.clone().with_request_signer(TableSigner { instance });
            Some(Table { client: client.clone(), signer, endpoint, name: name.to_owned() })
        }
    };
    let acl = settings.text("acl", &[]).map(str::to_owned);
    let encrypt = settings.config.get("encrypt").and_then(Value::as_bool).unwrap_or(false);
    Ok(Place { objects: Objects { client, signer, bucket, base, encrypt, acl }, table })
}

#[cfg(test)]
mod tests;
