//! The door to plugin processes: handshake, TLS, the wire of both protocols, client and server.

pub mod grpc;
pub mod handshake;
pub mod tls;
pub mod wire;
