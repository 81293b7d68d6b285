//! Plugin processes, and what is said to them.
//!
//! [`start`] starts a provider or provisioner and returns it as the trait of `protocol::provider`. `process` owns the
//! processes and the connections to them, `client` the calls, [`schema_cache`] the schemas on disk, [`reattach`] the
//! providers that their developers start. Never knows configuration, state or the engine, nor how messages are written:
//! that is `protocol`.

mod client;
pub mod process;
pub mod reattach;
pub mod schema_cache;
pub mod start;
mod status;

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
