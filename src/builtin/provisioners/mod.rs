//! The built-in provisioners, a file each, and the shared connection settings.
//!
//! Each owns its arguments. Of the resource, they never know more than its connection.

mod connection;
pub mod file;
pub mod local_exec;
pub mod remote_exec;
#[cfg(test)]
mod sshd_tests;

use std::sync::Arc;

use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::{Attribute, Block, Schema};
use terrane_value::{Type, Value};

/// A provisioner's attributes: name, type, required.
fn schema(attributes: &[(&str, Type, bool)]) -> Arc<Schema> {
    let attribute =
        |ty: &Type, required: bool| Attribute { required, optional: !required, ..Attribute::new(ty.clone()) };
    let attributes = attributes.iter().map(|(name, ty, required)| (Arc::from(*name), attribute(ty, *required)));
    Arc::new(Schema::new(0, Block { attributes: attributes.collect(), ..Block::default() }))
}

/// An argument as text; none if it is null, unknown or absent.
fn text_of<'v>(config: &'v Value, name: &str) -> Option<&'v str> {
    config.get(name).and_then(Value::as_str)
}

fn failed(name: &str, detail: impl Into<String>) -> Vec<ProviderDiagnostic> {
    vec![ProviderDiagnostic::error(format!("{name} provisioner error"), detail)]
}
