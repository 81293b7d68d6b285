//! Signatures of RSA keys under 2048 bits, which our TLS library refuses. Plugins of some libraries have such keys. The
//! certificate is pinned, so the key needs only to prove that the other end of the connection has it.

use num_bigint::BigUint;
use rustls::SignatureScheme;
use sha2::{Digest, Sha256, Sha384, Sha512};

/// The shortest key that is worth asking for a proof.
const SHORTEST: u64 = 1024;

/// Whether the key in the certificate (DER) made this RSA-PSS signature over the message.
pub fn verify(message: &[u8], certificate: &[u8], scheme: SignatureScheme, signature: &[u8]) -> bool {
    match scheme {
        SignatureScheme::RSA_PSS_SHA256 => verify_pss::<Sha256>(message, certificate, signature),
        SignatureScheme::RSA_PSS_SHA384 => verify_pss::<Sha384>(message, certificate, signature),
        SignatureScheme::RSA_PSS_SHA512 => verify_pss::<Sha512>(message, certificate, signature),
        _ => None,
    }
    .unwrap_or(false)
}

/// RFC 8017, section 8.1.2, with a salt as long as the hash, as TLS has it.
fn verify_pss<D: Digest>(message: &[u8], certificate: &[u8], signature: &[u8]) -> Option<bool> {
    let (modulus, exponent) = public_key(certificate)?;
    let signature = BigUint::from_bytes_be(signature);
    if modulus.bits() < SHORTEST || signature >= modulus {
        return None;
    }
    let bits = modulus.bits() - 1;
    let length = usize::try_from(bits.div_ceil(8)).ok()?;
    let number = signature.modpow(&exponent, &modulus).to_bytes_be();
    let mut encoded = vec![0; length.checked_sub(number.len())?];
    encoded.extend(number);

    let hash_length = <D as Digest>::output_size();
    let (rest, trailer) = encoded.split_at(length - 1);
    let (masked, hash) = rest.split_at_checked(rest.len().checked_sub(hash_length)?)?;
    let mut block: Vec<u8> = masked.iter().zip(mask::<D>(hash, masked.len())).map(|(a, b)| a ^ b).collect();
    let unused = length as u64 * 8 - bits;
    *block.first_mut()? &= 0xff >> unused;
    let (padding, salt) = block.split_at_checked(block.len().checked_sub(hash_length)?)?;
    let (last, zeros) = padding.split_last()?;
    let expected = D::new().chain_update([0; 8]).chain_update(D::digest(message)).chain_update(salt).finalize();
    Some(trailer == [0xbc] && *last == 1 && zeros.iter().all(|byte| *byte == 0) && expected.as_slice() == hash)
}

/// MGF1.
fn mask<D: Digest>(seed: &[u8], length: usize) -> Vec<u8> {
    let piece = |i: u32| D::new().chain_update(seed).chain_update(i.to_be_bytes()).finalize().to_vec();
    let mut mask: Vec<u8> = (0..).map(piece).take(length.div_ceil(<D as Digest>::output_size())).flatten().collect();
    mask.truncate(length);
    mask
}

/// Modulus and exponent of a certificate with an RSA key.
fn public_key(certificate: &[u8]) -> Option<(BigUint, BigUint)> {
    let mut fields = Der(Der(Der(certificate).next(SEQUENCE)?).next(SEQUENCE)?);
    // The version stands first, but only in certificates of later versions.
    if fields.0.first() == Some(&0xa0) {
        fields.next(0xa0)?;
    }
    fields.next(INTEGER)?;
    // Algorithm, issuer, validity, subject.
    for _ in 0..4 {
        fields.next(SEQUENCE)?;
    }
    let mut key = Der(fields.next(SEQUENCE)?);
    key.next(SEQUENCE)?;
    let bits = key.next(BIT_STRING)?.strip_prefix(&[0])?;
    let mut numbers = Der(Der(bits).next(SEQUENCE)?);
    let mut number = || numbers.next(INTEGER).map(BigUint::from_bytes_be);
    Some((number()?, number()?))
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;

/// What is left of a list of DER elements.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The content of the next element, if it has this tag.
    fn next(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (&[found, short], rest) = self.0.split_first_chunk::<2>()?;
        let (length, rest) = match short {
            0..=0x7f => (usize::from(short), rest),
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(short - 0x80))?;
                (digits.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        (found == tag).then_some(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;

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
