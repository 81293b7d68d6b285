//! Signatures of P-521 keys, which plugins and hosts written in Go have and our TLS library does not know.

use p521::ecdsa::signature::Verifier as _;
use p521::ecdsa::{DerSignature, VerifyingKey};
use rustls::SignatureScheme;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, alg_id};

/// For the functions of the TLS library that verify handshakes.
pub const ALGORITHMS: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: &[&P521Sha512],
    mapping: &[(SignatureScheme::ECDSA_NISTP521_SHA512, &[&P521Sha512])],
};

#[derive(Debug)]
struct P521Sha512;

impl SignatureVerificationAlgorithm for P521Sha512 {
    fn verify_signature(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let key = VerifyingKey::from_sec1_bytes(public_key).map_err(|_| InvalidSignature)?;
        let signature = DerSignature::from_bytes(signature).map_err(|_| InvalidSignature)?;
        key.verify(message, &signature).map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_P521
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_SHA512
    }
}

#[cfg(test)]
mod tests {
    use p521::ecdsa::SigningKey;
    use p521::ecdsa::signature::Signer as _;

    use super::*;

    #[test]
    fn only_signatures_of_the_key_over_the_message_are_good() {
        let key = SigningKey::from_slice(&[&[0][..], &[7; 65]].concat()).unwrap();
        let public = VerifyingKey::from(&key).to_sec1_point(false).as_bytes().to_vec();
        let signature: DerSignature = key.sign(b"message");
        let signature = signature.as_bytes();
        assert!(P521Sha512.verify_signature(&public, b"message", signature).is_ok());
        let mut other = signature.to_vec();
        *other.last_mut().unwrap() ^= 1;
        let bad: [(&[u8], &[u8], &[u8]); 5] = [
            (&public, b"another", signature),
            (&public, b"message", &other),
            (&public, b"message", b""),
            (&public[1..], b"message", signature),
            (&[], b"message", signature),
        ];
        for (key, message, signature) in bad {
            assert!(P521Sha512.verify_signature(key, message, signature).is_err());
        }
    }
}
