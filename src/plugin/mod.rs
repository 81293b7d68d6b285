//! Plugin processes: handshake, TLS, the wire formats of both protocols, client and server.
//!
//! [`start`] starts a provider or provisioner and returns it as the trait of `model::provider`; [`serve`] serves such a
//! trait object on a socket. Between the two: [`process`] and [`tls`] and [`handshake`], [`grpc`], and [`wire`], where
//! messages are converted. Never knows configuration, state or the engine.

#[cfg(feature = "cli")]
pub mod start;

#[cfg(feature = "cli")]
mod diagnose;
#[cfg(feature = "cli")]
mod failure;
pub mod handshake;
#[cfg(feature = "cli")]
mod output;
mod p521;
#[cfg(feature = "cli")]
pub mod process;
#[cfg(feature = "cli")]
pub mod reattach;
#[cfg(feature = "cli")]
pub mod schema_cache;
#[cfg(feature = "cli")]
mod schema_source;
#[cfg(feature = "cli")]
mod small_rsa;
#[cfg(feature = "cli")]
pub mod stdio;
pub mod tls;

#[cfg(feature = "cli")]
mod action_client;
#[cfg(feature = "cli")]
mod function_client;
#[cfg(feature = "cli")]
mod identity_client;
#[cfg(feature = "cli")]
mod import_client;
#[cfg(feature = "cli")]
mod list_client;
#[cfg(feature = "cli")]
pub mod provider_client;
#[cfg(feature = "cli")]
pub mod provisioner_client;
#[cfg(feature = "cli")]
mod resource_client;

mod action_server;
mod identity_server;
mod list_server;
mod progress;
pub mod provider_server;
pub mod provisioner_server;
mod resource_server;
mod schema_server;
pub mod serve;
mod socket;
#[cfg(feature = "cli")]
mod state_store_client;
mod state_store_server;

pub mod grpc;
pub mod wire;

#[cfg(test)]
#[cfg(feature = "cli")]
mod tests;
