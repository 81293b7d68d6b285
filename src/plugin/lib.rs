//! Plugin processes: handshake, TLS, the wire formats of both protocols, client and server.
//!
//! [`start`] starts a provider or provisioner and returns it as the trait of `model::provider`; [`serve`] serves such a
//! trait object on a socket. Between the two: [`process`] and [`tls`] and [`handshake`], [`grpc`], and [`wire`], where
//! messages are converted. Never knows configuration, state or the engine.

pub mod start;

mod diagnose;
mod failure;
mod output;
pub mod process;
pub mod reattach;
pub mod schema_cache;
mod schema_source;
mod small_rsa;
pub mod stdio;

mod action_client;
mod function_client;
mod identity_client;
mod import_client;
mod list_client;
pub mod provider_client;
pub mod provisioner_client;
mod resource_client;

mod state_store_client;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use terrane_protocol::tls::Crypto;

/// The cryptography of TLS connections to plugins.
pub fn crypto() -> Crypto {
    Crypto {
        provider: Arc::new(rustls::crypto::aws_lc_rs::default_provider()),
        generate_key: || {
            let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new());
            key.map(|key| key.as_ref().to_vec()).ok()
        },
    }
}
