//! The two kinds whose states are in workspaces of HCP Terraform: the `remote` backend, and `cloud` blocks.

use std::sync::Arc;

use async_trait::async_trait;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::Value;

use crate::contract::Context;
use crate::hcp::{connect, settings};
use crate::kinds::{Kind, Opened};

/// The kind `remote`.
pub struct Remote;

/// The kind that a `cloud` block stands for.
pub struct Cloud;

#[async_trait]
impl Kind for Remote {
    fn name(&self) -> &'static str {
        "remote"
    }

    fn schema(&self) -> Block {
        settings::remote_schema()
    }

    fn check(&self, config: &Value, _context: &Context) -> Vec<ProviderDiagnostic> {
        settings::check_remote(config)
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>> {
        Ok(Opened::Hcp(Arc::new(connect::remote(config, context).await?)))
    }
}

#[async_trait]
impl Kind for Cloud {
    fn name(&self) -> &'static str {
        "cloud"
    }

    fn schema(&self) -> Block {
        settings::cloud_schema()
    }

    fn check(&self, config: &Value, _context: &Context) -> Vec<ProviderDiagnostic> {
        settings::check_cloud(config)
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>> {
        Ok(Opened::Hcp(Arc::new(connect::cloud(config, context).await?)))
    }
}
