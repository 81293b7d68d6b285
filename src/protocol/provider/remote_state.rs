//! How a provider reads the state of another configuration without knowing where states are kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use terrane_value::Value;

use super::ProviderDiagnostic;

/// States of other configurations, by the type and configuration of their backend. The process that serves the provider implements it.
#[async_trait]
pub trait RemoteStates: Send + Sync {
    /// Checks a backend's type and configuration (of any type, as written by the user; unknown parts are accepted).
    fn validate(&self, backend: &str, config: &Value) -> Vec<ProviderDiagnostic>;

    /// The root module's outputs, without marks; none if there is no stored state. No workspace is the default one.
    async fn outputs(
        &self,
        backend: &str,
        config: &Value,
        workspace: Option<&str>,
    ) -> Result<Option<BTreeMap<Arc<str>, Value>>, ProviderDiagnostic>;
}
