//! Private and public keys: RSA, ECDSA on four curves, Ed25519.
//!
//! `rsa`, `ec` and `ed25519` own the arithmetic; `private` and `public` their encodings; `parse` reads texts in PEM,
//! `openssh` and `openssh_read` OpenSSH's notation; `sign` chooses algorithms of signatures. Never knows certificates.

pub mod ec;
pub mod ed25519;
pub mod openssh;
pub mod openssh_read;
pub mod parse;
pub mod private;
pub mod public;
pub mod rsa;
pub mod sign;
mod ssh_wire;

pub use ec::{Curve, EcKey};
pub use ed25519::EdKey;
pub use public::PublicKey;
pub use rsa::RsaKey;

use crate::providers::failure::Failure;

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

/// What kind of key to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    Rsa { bits: i64 },
    Ecdsa(Curve),
    Ed25519,
}

/// A key with its private part.
#[derive(Clone)]
pub enum PrivateKey {
    Rsa(RsaKey),
    Ecdsa(EcKey),
    Ed25519(EdKey),
}

impl PrivateKey {
    /// A new random key. Large RSA keys take seconds.
    pub fn generate(kind: KeyKind) -> Result<PrivateKey, Failure> {
        let key = match kind {
            KeyKind::Rsa { bits } => RsaKey::generate(bits).map(PrivateKey::Rsa),
            KeyKind::Ecdsa(curve) => EcKey::generate(curve).map(PrivateKey::Ecdsa),
            KeyKind::Ed25519 => EdKey::generate().map(PrivateKey::Ed25519),
        };
        key.map_err(|detail| Failure::new("Unable to generate Key from configuration", detail))
    }

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

const NO_RANDOM_NUMBERS: &str = "the operating system gives no random numbers";

/// Bytes from the operating system.
pub fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| NO_RANDOM_NUMBERS)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::parse::parse_pem;
    use super::*;
    use crate::providers::tls::golden::{cases, text};

    #[test]
    fn generated_keys_have_the_size_that_was_asked_for() {
        for bits in [1024, 1031, 2048] {
            let key = PrivateKey::generate(KeyKind::Rsa { bits }).expect("key");
            let PublicKey::Rsa { modulus, exponent } = key.public() else { panic!("not RSA") };
            assert_eq!(modulus.len() as i64 * 8 - i64::from(modulus[0].leading_zeros()), bits);
            assert_eq!(exponent, [1, 0, 1]);
            let read = parse_pem(&key.texts().pem).expect("its own PEM");
            assert!(read.public() == key.public());
        }
    }

    #[test]
    fn each_key_is_another() {
        let kinds = [Curve::P224, Curve::P256, Curve::P384, Curve::P521].map(KeyKind::Ecdsa);
        for kind in kinds.into_iter().chain([KeyKind::Ed25519]) {
            let [first, second] = [0, 1].map(|_| PrivateKey::generate(kind).expect("key").texts().pem);
            assert_ne!(first, second);
            assert_eq!(parse_pem(&first).expect("its own PEM").texts().pem, first);
        }
    }

    #[test]
    fn small_rsa_keys_are_refused_as_in_go() {
        for case in cases("generate.json") {
            let generated = PrivateKey::generate(KeyKind::Rsa { bits: case["bits"].as_i64().expect("bits") });
            let error = generated.err().map(|failure| failure.detail).unwrap_or_default();
            assert_eq!(error, text(&case, "error"));
        }
    }
}
