//! The wire formats of the plugin protocols, and their conversion from and to the messages of `provider`.
//!
//! Owns the messages, not the transport. Never decides which requests are sent.

pub mod capabilities;
pub mod chunks;
pub mod diagnostic;
pub mod dynamic_value;
mod error;
pub mod function;
pub mod identity;
pub mod protocol;
pub mod provisioner;
pub mod schema;
pub mod v5;
pub mod v6;
pub mod value;

pub use error::WireError;

/// The summary where a caller sends what cannot be read.
pub const INVALID_CALL: &str = "Invalid value from the caller";

/// Whether a description is Markdown, as messages say it.
pub(crate) fn string_kind(markdown: bool) -> i32 {
    let kind = if markdown { message::StringKind::Markdown } else { message::StringKind::Plain };
    kind as i32
}

/// The messages of `proto/tfplugin6.proto`. On the wire they are those of protocol 5 too, but for the attributes of schemas.
#[allow(clippy::all)]
pub mod message {
    include!("generated/tfplugin6.rs");
}

/// A schema response read one level deep: `proto/schema_index.proto`.
#[allow(clippy::all)]
pub mod index {
    include!("generated/schema_index.rs");
}

/// The messages of `proto/goplugin.proto`.
#[allow(clippy::all)]
pub mod goplugin {
    include!("generated/plugin.rs");
}

/// The messages of `proto/health.proto`.
#[allow(clippy::all)]
pub mod health {
    include!("generated/grpc.health.v1.rs");
}
