//! Schemas as renderers look them up, and what they say about showing values.

use std::sync::Arc;

use model::addr::Provider;
use model::schema::decode;
use terrane_protocol::schema::{Block, ResourceMode, Schema};
use terrane_value::{Marks, Path, Value};

/// Finds the schema of a resource type; None if the provider is not available (objects are then shown by their values).
pub type SchemaLookup<'a> = dyn Fn(&Provider, ResourceMode, &str) -> Option<Arc<Schema>> + 'a;

/// Finds the schema of a provider's own configuration.
pub type ProviderSchemaLookup<'a> = dyn Fn(&Provider) -> Option<Arc<Schema>> + 'a;

/// Finds the schema of an action's configuration; None if the provider is not available.
pub type ActionLookup<'a> = dyn Fn(&Provider, &str) -> Option<Arc<Schema>> + 'a;

/// The value with the attributes marked that the schema calls sensitive.
pub fn with_schema_marks(value: &Value, schema: &Block) -> Value {
    if value.is_null() || !value.is_known() {
        return value.clone();
    }
    let paths = decode::sensitive_paths(schema, value);
    if paths.is_empty() {
        return value.clone();
    }
    let paths: Vec<(Path, Marks)> = paths.into_iter().map(|path| (path, Marks::SENSITIVE)).collect();
    value.mark_at_paths(&paths)
}
