//! Signatures of RSA keys under 2048 bits, which our TLS library refuses. Plugins of some libraries have such keys. The
//! certificate is pinned, so the key needs only to prove that the other end of the connection has it.

use rsa::pkcs8::DecodePublicKey;
use rsa::sha2::{Digest, Sha256, Sha384, Sha512};
use rsa::traits::PublicKeyParts;
use rsa::{Pss, RsaPublicKey};
use rustls::SignatureScheme;
use rustls::pki_types::CertificateDer;
use rustls::server::ParsedCertificate;

/// The shortest key that is worth asking for a proof, in bytes.
const SHORTEST: usize = 1024 / 8;

/// Whether the key in the certificate (DER) made this RSA-PSS signature over the message.
pub fn verify(message: &[u8], certificate: &[u8], scheme: SignatureScheme, signature: &[u8]) -> bool {
    let Some(key) = public_key(certificate).filter(|key| key.size() >= SHORTEST) else { return false };
    let verified = match scheme {
        SignatureScheme::RSA_PSS_SHA256 => key.verify(Pss::new::<Sha256>(), &Sha256::digest(message), signature),
        SignatureScheme::RSA_PSS_SHA384 => key.verify(Pss::new::<Sha384>(), &Sha384::digest(message), signature),
        SignatureScheme::RSA_PSS_SHA512 => key.verify(Pss::new::<Sha512>(), &Sha512::digest(message), signature),
        _ => return false,
    };
    verified.is_ok()
}

fn public_key(certificate: &[u8]) -> Option<RsaPublicKey> {
    let certificate = CertificateDer::from(certificate);
    let parsed = ParsedCertificate::try_from(&certificate).ok()?;
    RsaPublicKey::from_public_key_der(parsed.subject_public_key_info().as_ref()).ok()
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;

    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        base64::engine::general_purpose::STANDARD.decode(text).unwrap()
    }

    /// Made by OpenSSL 3: a self-signed certificate of 1024 bits, and `dgst -sha256 -sigopt rsa_padding_mode:pss`.
    #[test]
    fn signatures_of_short_keys() {
        let certificate = bytes(CERTIFICATE);
        let signature = bytes(SIGNATURE);
        let check = |message: &[u8], signature: &[u8]| {
            verify(message, &certificate, SignatureScheme::RSA_PSS_SHA256, signature)
        };
        assert!(check(b"message", &signature));
        assert!(!check(b"another message", &signature));
        let mut broken = signature.clone();
        broken[5] ^= 1;
        assert!(!check(b"message", &broken) && !check(b"message", b"") && !check(b"message", &[0xff; 128]));
        assert!(!verify(b"message", &certificate[..200], SignatureScheme::RSA_PSS_SHA256, &signature));
    }

    const CERTIFICATE: &str = "\
        MIICBDCCAW2gAwIBAgIUOwbjSFMkbLZgB2V4a1N3X1yxVhkwDQYJKoZIhvcNAQELBQAwFDESMBAGA1UEAwwJbG9jYWxob3N0MB4X\
        DTI2MTEyMjE3MTE1NFoXDTM2MTExOTE3MTE1NFowFDESMBAGA1UEAwwJbG9jYWxob3N0MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCB\
        iQKBgQCv3nOhwuSJICUqhIqSrw20AMhWh5pzHEx2cdXNItO6u6OdMZV27BJYNmBKP0g8sfN3VxDyWwGofNmJPHXws92CS6r8E3qj\
        4JzOvCzX3CTB0DDqX41zk4ZXZFeajIvXBLgcB91aFaq7ekq1gUgFqnAWBc8PTvvrpnNMP4ypnrqqLwIDAQABo1MwUTAdBgNVHQ4E\
        FgQUeJQ0eZsOk6iKQI3bTleMVnZMSF4wHwYDVR0jBBgwFoAUeJQ0eZsOk6iKQI3bTleMVnZMSF4wDwYDVR0TAQH/BAUwAwEB/zAN\
        BgkqhkiG9w0BAQsFAAOBgQBr1hJV4rWgB46IwsOhjGUkIFpZGwtPtVBRnWbXawAr6P0FKc/oOQqBtQuV3vA+IiVZf/13XtMZhmxg\
        18PHlIRPiKzOCvvcYeCDI5cXeq0lIrNkDpfbtBFPo7/xkL1B+bmhrj3ssVhE1Vyej6X8WSvx6ZTt3v7MTsHLnNOZ7gaqkw==";
    const SIGNATURE: &str = "\
        E28zf8F2Qofa+91PMy4Jtf/pr7Z/RcCI7taSqDFx5rntmhRxkyACUcQaEEveWR/G5vQOHEPhDs021eA2F0MgmA+hHClYfk35f46n\
        6JS6COJ9uJl30nhIez/dI0VdhAIAsLFeDnJsVdVW50H4s1lEReD2wnN4nNFlX01de7KRF7g=";
}
