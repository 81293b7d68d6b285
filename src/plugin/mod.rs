//! The door to plugin processes: handshake, TLS, the wire of both protocols, client and server.

mod diagnose;
pub mod grpc;
pub mod handshake;
mod output;
pub mod process;
pub mod reattach;
pub mod stdio;
pub mod tls;
pub mod wire;
