//! Plugin processes: handshake, TLS, the wire formats of both protocols, client and server.
//!
//! [`start`] starts a provider or provisioner and returns it as the trait of `model::provider`; [`serve`] serves such a
//! trait object on a socket. Between the two: [`process`] and [`tls`] and [`handshake`], [`grpc`], and [`wire`], where
//! messages are converted. Never knows configuration, state or the engine.

pub mod start;

mod diagnose;
mod failure;
pub mod handshake;
mod output;
pub mod process;
pub mod reattach;
pub mod schema_cache;
mod schema_source;
mod small_rsa;
pub mod stdio;
pub mod tls;

mod function_client;
mod import_client;
pub mod provider_client;
pub mod provisioner_client;

pub mod provider_server;
pub mod provisioner_server;
pub mod serve;
mod socket;
mod state_store_client;
mod state_store_server;

pub mod grpc;
pub mod wire;

#[cfg(test)]
mod tests;
