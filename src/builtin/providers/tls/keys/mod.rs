//! Private and public keys: RSA, ECDSA on four curves, Ed25519.
//!
//! `rsa`, `ec` and `ed25519` own the arithmetic, `generate` new keys; `private` and `public` their encodings; `parse` reads texts in PEM,
//! `openssh` and `openssh_read` OpenSSH's notation; `sign` chooses algorithms of signatures, and `error` says what
//! is wrong with a key. Never knows certificates.

pub mod algorithm;
pub mod ec;
pub mod ed25519;
pub mod error;
pub mod generate;
pub mod openssh;
pub mod openssh_read;
pub mod parse;
pub mod private;
pub mod public;
pub mod random;
pub mod rsa;
pub mod sign;
mod ssh_wire;

pub use ec::{Curve, EcKey};
pub use ed25519::EdKey;
pub use generate::KeyKind;
pub use public::PublicKey;
pub use rsa::RsaKey;

/// The `algorithm` of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Rsa,
    Ecdsa,
    Ed25519,
}

impl Algorithm {
    /// The value of the attribute.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Rsa => "RSA",
            Algorithm::Ecdsa => "ECDSA",
            Algorithm::Ed25519 => "ED25519",
        }
    }

    pub fn from_name(name: &str) -> Option<Algorithm> {
        [Algorithm::Rsa, Algorithm::Ecdsa, Algorithm::Ed25519].into_iter().find(|algorithm| algorithm.name() == name)
    }
}

/// A key with its private part.
#[derive(Clone)]
pub enum PrivateKey {
    Rsa(RsaKey),
    Ecdsa(EcKey),
    Ed25519(EdKey),
}

impl PrivateKey {
    pub fn algorithm(&self) -> Algorithm {
        match self {
            PrivateKey::Rsa(_) => Algorithm::Rsa,
            PrivateKey::Ecdsa(_) => Algorithm::Ecdsa,
            PrivateKey::Ed25519(_) => Algorithm::Ed25519,
        }
    }

    pub fn public(&self) -> PublicKey {
        match self {
            PrivateKey::Rsa(key) => PublicKey::Rsa { modulus: key.modulus_bytes(), exponent: key.exponent_bytes() },
            PrivateKey::Ecdsa(key) => PublicKey::Ecdsa { curve: key.curve(), point: key.point().to_vec() },
            PrivateKey::Ed25519(key) => PublicKey::Ed25519(*key.public()),
        }
    }
}
