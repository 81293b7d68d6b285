//! The door to plugin processes: handshake, TLS, the wire of both protocols, client and server.

mod diagnose;
mod failure;
pub mod grpc;
pub mod handshake;
mod output;
pub mod process;
pub mod provider_client;
pub mod reattach;
pub mod schema_cache;
pub mod stdio;
pub mod tls;
pub mod wire;
