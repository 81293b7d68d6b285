//! The wire formats of the plugin protocols, and their conversion from and to `model::provider`.
//!
//! Owns the messages, not the transport. Never decides which requests are sent.

pub mod capabilities;
pub mod chunks;
pub mod diagnostic;
pub mod dynamic_value;
pub mod function;
pub mod identity;
pub mod protocol;
pub mod provisioner;
pub mod schema;
pub mod v5;
pub mod v6;
pub mod value;

/// The summary where a caller sends what cannot be read.
pub const INVALID_CALL: &str = "Invalid value from the caller";

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
