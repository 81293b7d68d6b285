//! The plugin protocol of Terraform providers and provisioners: schemas, the traits that plugins implement, the wire formats of the
//! protocol's versions 5 and 6, handshake, TLS, and the server.
//!
//! - [`schema`]: what a provider's types look like. [`provider`]: the traits of plugins and their messages.
//! - [`wire`]: messages as protocol buffers. [`grpc`]: calls and answers over one HTTP/2 connection.
//! - [`handshake`], [`tls`]: how host and plugin find and trust each other. [`serve`]: puts a plugin on a socket.
//!
//! Never knows configuration, state, or how a host uses plugins.

pub mod grpc;
pub mod handshake;
mod p521;
pub mod private_folder;
mod progress;
pub mod provider;
pub mod schema;
pub mod serve;
pub mod socket;
pub mod tls;
pub mod wire;

mod action_server;
pub mod call_span;
mod identity_server;
mod list_server;
pub mod provider_server;
pub mod provisioner_server;
mod resource_server;
mod schema_server;
mod state_store_server;
