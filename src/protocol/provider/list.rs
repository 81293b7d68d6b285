//! Listing the objects of a resource type that exist.

use std::ops::ControlFlow;
use std::sync::Arc;

use async_trait::async_trait;
use terrane_value::Value;

use super::{Identity, ProviderDiagnostic, ProviderDiagnostics};

/// The error of a provider that lists objects of a type that has no identity.
pub fn no_identity_schema(kind: &str) -> ProviderDiagnostic {
    let summary = format!(
        "Identity schema not found for resource type {kind}; this is a bug in the provider - please report it there"
    );
    ProviderDiagnostic::error(summary, "")
}

#[derive(Clone, Debug)]
pub struct ValidateListRequest {
    pub kind: Arc<str>,
    /// Of the type that the schema of the list resource implies.
    pub config: Value,
    /// A boolean; unknown or null if it is not known yet or not set.
    pub include_object: Value,
    /// A number; unknown or null if it is not known yet or not set.
    pub limit: Value,
}

#[derive(Clone, Debug)]
pub struct ListRequest {
    pub kind: Arc<str>,
    /// Of the type that the schema of the list resource implies.
    pub config: Value,
    /// Each result is to contain the object, not only its identity.
    pub include_object: bool,
    /// The most results that the caller takes. None: all.
    pub limit: Option<u64>,
}

/// An object that exists.
#[derive(Clone, Debug, PartialEq)]
pub struct ListResult {
    pub identity: Identity,
    /// For people.
    pub display_name: String,
    /// Of the type that the schema of the managed resource type of the same name implies.
    pub object: Option<Value>,
    /// Warnings about this object.
    pub diagnostics: ProviderDiagnostics,
}

/// Where the results of a list go while it runs.
#[async_trait]
pub trait ListSink: Send + Sync {
    /// Takes a result, when there is room for it. `Break`: the caller takes no more results.
    async fn add(&self, result: ListResult) -> ControlFlow<()>;
}
