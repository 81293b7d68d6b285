//! New keys.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::KeySize;
use num_bigint::BigUint;
use rsa::RsaPrivateKey;
use rsa::traits::{PrivateKeyParts, PublicKeyParts};

use super::error::KeyError;
use super::random::SeededRng;
use super::rsa::{RsaParts, check_size, library};
use super::{Curve, EcKey, EdKey, PrivateKey, RsaKey, private};
use crate::providers::failure::Failure;

/// Go needs minutes for keys of this size too; larger ones would never be ready.
const MOST_BITS: i64 = 65536;

/// What kind of key to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    Rsa { bits: i64 },
    Ecdsa(Curve),
    Ed25519,
}

impl PrivateKey {
    /// A new random key. Large RSA keys take seconds.
    pub fn generate(kind: KeyKind) -> Result<PrivateKey, Failure> {
        let key = match kind {
            KeyKind::Rsa { bits } => generate_rsa(bits).map(PrivateKey::Rsa),
            KeyKind::Ecdsa(curve) => EcKey::generate(curve).map(PrivateKey::Ecdsa),
            KeyKind::Ed25519 => EdKey::generate().map(PrivateKey::Ed25519),
        };
        key.map_err(|detail| Failure::new("Unable to generate Key from configuration", detail))
    }
}

/// A new key.
fn generate_rsa(bits: i64) -> Result<RsaKey, KeyError> {
    check_size(bits)?;
    if bits > MOST_BITS {
        return Err(KeyError::TooManyBits(bits));
    }
    // These are generated several times faster.
    match bits {
        2048 => generate_quickly(KeySize::Rsa2048),
        3072 => generate_quickly(KeySize::Rsa3072),
        4096 => generate_quickly(KeySize::Rsa4096),
        8192 => generate_quickly(KeySize::Rsa8192),
        _ => generate_slowly(bits as usize),
    }
}

fn generate_quickly(size: KeySize) -> Result<RsaKey, KeyError> {
    let failed = |_| KeyError::Rsa("the key cannot be generated");
    let pair = aws_lc_rs::rsa::KeyPair::generate(size).map_err(failed)?;
    let der: Pkcs8V1Der<'_> = pair.as_der().map_err(failed)?;
    match private::from_pkcs8(der.as_ref())? {
        PrivateKey::Rsa(key) => Ok(key),
        _ => Err(KeyError::Rsa("the key cannot be generated")),
    }
}

fn generate_slowly(bits: usize) -> Result<RsaKey, KeyError> {
    let key = RsaPrivateKey::new(&mut SeededRng::new()?, bits).map_err(library)?;
    let number = |number: &rsa::BigUint| BigUint::from_bytes_be(&number.to_bytes_be());
    RsaKey::from_parts(RsaParts {
        modulus: number(key.n()),
        exponent: number(key.e()),
        private_exponent: number(key.d()),
        primes: key.primes().iter().map(number).collect(),
        remainders: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::tls::golden::{cases, text};
    use crate::providers::tls::keys::PublicKey;
    use crate::providers::tls::keys::parse::parse_pem;

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
