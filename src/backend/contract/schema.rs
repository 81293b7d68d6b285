//! Schemas of the blocks of backends.

use std::sync::Arc;

use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::{Attribute, Block};
use terrane_value::{Path, Type, Value};

/// What is wrong with settings that lack one that the schema requires, for kinds that do not say it better themselves.
pub fn missing_setting(schema: &Block, config: &Value) -> Option<ProviderDiagnostic> {
    let is_missing = |name: &Arc<str>| config.get(name).is_none_or(Value::is_null);
    let (name, _) = schema.attributes.iter().find(|(name, attribute)| attribute.required && is_missing(name))?;
    let detail = format!("The backend configuration is incorrect: attribute {:?} is required.", &**name);
    Some(ProviderDiagnostic::error(INVALID_SETTINGS, detail).at(Path::default()))
}

/// The summary where settings are not what the schema says.
pub const INVALID_SETTINGS: &str = "Invalid backend configuration";

/// An optional setting.
pub fn optional(ty: Type, description: &str) -> Attribute {
    Attribute { optional: true, description: description.into(), ..Attribute::new(ty) }
}

/// A schema of these settings.
pub fn block(attributes: &[(&str, Attribute)]) -> Block {
    Block { attributes: attributes.iter().map(|(n, a)| ((*n).into(), a.clone())).collect(), ..Block::default() }
}
