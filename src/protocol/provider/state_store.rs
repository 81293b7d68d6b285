//! State stores that a provider implements.

use std::sync::Arc;

use async_trait::async_trait;
use terrane_value::Value;

use super::ProviderDiagnostics;

/// The state stores of a provider: what protocol 6 has for them since 6.10.
///
/// `kind` is the type of the store; `state` identifies a state within it, which is the name of its workspace. As with the calls of
/// [`super::Provider`], a call that fails gives an error diagnostic.
#[async_trait]
pub trait StateStores: Send + Sync {
    /// `config` is of the type that the schema of the store implies.
    async fn validate_state_store(&self, kind: &str, config: Value) -> ProviderDiagnostics;
    /// Must be called before the calls below; one process serves one configuration of a store.
    async fn configure_state_store(&self, kind: &str, config: Value) -> ProviderDiagnostics;
    /// The content of a state; empty if there is none.
    async fn read_state(&self, kind: &str, state: &str) -> Result<Vec<u8>, ProviderDiagnostics>;
    async fn write_state(&self, kind: &str, state: &str, content: Arc<[u8]>) -> ProviderDiagnostics;
    /// Returns the ID of the lock.
    async fn lock_state(&self, kind: &str, state: &str, operation: &str) -> Result<String, ProviderDiagnostics>;
    async fn unlock_state(&self, kind: &str, state: &str, lock: &str) -> ProviderDiagnostics;
    /// The states that there are, in any order.
    async fn states(&self, kind: &str) -> Result<Vec<String>, ProviderDiagnostics>;
    async fn delete_state(&self, kind: &str, state: &str) -> ProviderDiagnostics;
}
