//! Signatures over requests and certificates.

use sha2::{Digest, Sha256, Sha384, Sha512};

use super::algorithm::algorithm;
use super::error::KeyError;
use super::{Curve, PrivateKey};
use crate::providers::tls::der::{oid, write};

impl PrivateKey {
    /// The AlgorithmIdentifier of the signatures that this key makes, in DER.
    pub fn signature_algorithm(&self) -> Vec<u8> {
        match self {
            PrivateKey::Rsa(_) => algorithm(oid::RSA_SHA256, &write::null()),
            PrivateKey::Ecdsa(key) => match key.curve() {
                Curve::P224 | Curve::P256 => algorithm(oid::ECDSA_SHA256, &[]),
                Curve::P384 => algorithm(oid::ECDSA_SHA384, &[]),
                Curve::P521 => algorithm(oid::ECDSA_SHA512, &[]),
            },
            PrivateKey::Ed25519(_) => algorithm(oid::ED25519, &[]),
        }
    }

    /// The signature of a message.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        match self {
            PrivateKey::Rsa(key) => key.sign(&Sha256::digest(message)),
            PrivateKey::Ecdsa(key) => match key.curve() {
                Curve::P224 | Curve::P256 => key.sign(&Sha256::digest(message)),
                Curve::P384 => key.sign(&Sha384::digest(message)),
                Curve::P521 => key.sign(&Sha512::digest(message)),
            },
            PrivateKey::Ed25519(key) => key.sign(message),
        }
    }

    /// A message with its signature, as requests and certificates are: message, algorithm, signature.
    pub fn sign_sequence(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        let signature = self.sign(message)?;
        Ok(write::sequence(&[message, &self.signature_algorithm(), &write::bit_string(&signature)]))
    }
}

#[cfg(test)]
mod tests {
    use p256::ecdsa::signature::hazmat::PrehashVerifier;

    use super::*;
    use crate::providers::tls::golden::key;

    /// Signatures of other keys are compared with Go's, where requests and certificates are.
    #[test]
    fn signatures_of_ecdsa_are_valid() {
        macro_rules! check {
            ($ecdsa:path, $name:literal, $hash:ty) => {{
                use $ecdsa as ecdsa;
                let key = key($name);
                let signature = key.sign(b"message").expect("signature");
                let signature = ecdsa::Signature::from_der(&signature).expect("DER");
                let PrivateKey::Ecdsa(key) = key else { panic!("not ECDSA") };
                let public = ecdsa::VerifyingKey::from_sec1_bytes(key.point()).expect("point");
                assert!(public.verify_prehash(&<$hash>::digest(b"message"), &signature).is_ok());
                assert!(public.verify_prehash(&<$hash>::digest(b"other"), &signature).is_err());
            }};
        }
        check!(p224::ecdsa, "p224", Sha256);
        check!(p256::ecdsa, "p256", Sha256);
        check!(p384::ecdsa, "p384", Sha384);
        check!(p521::ecdsa, "p521", Sha512);
    }
}
