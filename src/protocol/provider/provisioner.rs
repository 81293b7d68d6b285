//! What a provisioner is.

use std::sync::Arc;

use async_trait::async_trait;
use terrane_value::Value;

use super::ProviderDiagnostics;
use crate::schema::Schema;

/// Where the output of a provisioner or the progress of an action goes while it runs: pieces of text, in order.
pub type Output = Arc<dyn Fn(&str) + Send + Sync>;

#[derive(Clone)]
pub struct ProvisionRequest {
    pub config: Value,
    /// An object with the attributes of the connection, all of them optional; null if there is no connection.
    pub connection: Value,
    pub output: Output,
}

#[async_trait]
pub trait Provisioner: Send + Sync {
    async fn schema(&self) -> Result<Arc<Schema>, ProviderDiagnostics>;
    async fn validate(&self, config: Value) -> ProviderDiagnostics;
    async fn provision(&self, request: ProvisionRequest) -> ProviderDiagnostics;
    async fn stop(&self) -> Result<(), String>;
}
