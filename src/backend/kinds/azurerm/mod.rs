//! The `azurerm` backend: states in a container of Azure's blob storage, locked by leases.
//!
//! Owns the settings, the service's interface and the layout in the store. Never knows the content of states, and of credentials only that
//! requests carry them.

mod authorize;
mod client;
mod settings;
mod store;

use std::sync::Arc;

use async_trait::async_trait;
use authorize::Access;
use client::Blobs;
use net::cloud;
use net::http::Client;
use store::AzureBackend;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::Value;

use crate::contract::Context;
use crate::contract::settings::{Settings, failure};
use crate::kinds::{Kind, Opened};
use crate::web;

/// The kind of this backend.
pub struct AzureRm;

#[async_trait]
impl Kind for AzureRm {
    fn name(&self) -> &'static str {
        "azurerm"
    }

    fn schema(&self) -> Block {
        settings::schema()
    }

    fn check(&self, config: &Value, _context: &Context) -> Vec<ProviderDiagnostic> {
        let warning =
            "`endpoint` is deprecated in favor of `msi_endpoint`, it will be removed in a future version of Terraform";
        match config.get("endpoint").is_some_and(|value| !value.is_null()) {
            true => vec![ProviderDiagnostic::warning("Deprecated Argument", warning)],
            false => Vec::new(),
        }
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>> {
        let settings = Settings::of(config, context);
        let failed = |why: String| vec![failure(why)];
        let client = Client::build(web::settings(&context.environment)).map_err(failed)?;
        let surroundings = cloud::client_context(&context.environment, &client);
        let access = Access::find(&settings, &surroundings).await?;
        let text = |name: &str| settings.text(name, &[]).unwrap_or_default().to_owned();
        let blobs = Blobs {
            client,
            signer: access.signer(&surroundings),
            base: access.endpoint,
            container: text("container_name"),
        };
        let snapshot = settings.flag("snapshot", &[base::env::ARM_SNAPSHOT]).map_err(|e| vec![e])?;
        Ok(Opened::States(Arc::new(AzureBackend {
            blobs: Arc::new(blobs),
            key: text("key"),
            snapshot: snapshot == Some(true),
            context: context.clone(),
        })))
    }
}

#[cfg(test)]
mod tests;
