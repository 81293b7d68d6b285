//! OpenSSH's notations of keys, written.

use num_bigint::BigUint;

use super::ssh_wire::{write_bytes, write_unsigned};
use super::{PrivateKey, PublicKey};
use crate::providers::tls::pem;

pub const MAGIC: &[u8] = b"openssh-key-v1\0";
pub const RSA: &str = "ssh-rsa";
pub const ED25519: &str = "ssh-ed25519";
/// In front of the curve's name.
pub const ECDSA: &str = "ecdsa-sha2-";

/// The size of blocks where there is no cipher.
const BLOCK: usize = 8;

/// A public key in the form of the wire; P-224 has none.
pub fn public_blob(key: &PublicKey) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    match key {
        PublicKey::Rsa { modulus, exponent } => {
            write_bytes(RSA.as_bytes(), &mut out);
            write_unsigned(exponent, &mut out);
            write_unsigned(modulus, &mut out);
        }
        PublicKey::Ecdsa { curve, point } => {
            let curve = curve.ssh_name()?;
            write_bytes(format!("{ECDSA}{curve}").as_bytes(), &mut out);
            write_bytes(curve.as_bytes(), &mut out);
            write_bytes(point, &mut out);
        }
        PublicKey::Ed25519(bytes) => {
            write_bytes(ED25519.as_bytes(), &mut out);
            write_bytes(bytes, &mut out);
        }
        PublicKey::Unsupported(_) => return None,
    }
    Some(out)
}

/// A private key without passphrase and comment; P-224 has none. The check number is written twice: it
/// shows after decryption whether the passphrase was right.
pub fn private_text(key: &PrivateKey, check: u32) -> Option<String> {
    let blob = public_blob(&key.public())?;
    let mut inner = [check.to_be_bytes(), check.to_be_bytes()].concat();
    write_private(key, &mut inner);
    // An empty comment.
    write_bytes(&[], &mut inner);
    let padding = (BLOCK - inner.len() % BLOCK) % BLOCK;
    inner.extend((1..=padding).map(|number| number as u8));

    let mut out = MAGIC.to_vec();
    for field in [&b"none"[..], b"none", b""] {
        write_bytes(field, &mut out);
    }
    out.extend_from_slice(&1u32.to_be_bytes());
    write_bytes(&blob, &mut out);
    write_bytes(&inner, &mut out);
    Some(pem::encode(pem::OPENSSH_KEY, &out))
}

fn write_private(key: &PrivateKey, out: &mut Vec<u8>) {
    match key {
        PrivateKey::Rsa(key) => {
            let number = |number: &BigUint, out: &mut Vec<u8>| write_unsigned(&number.to_bytes_be(), out);
            write_bytes(RSA.as_bytes(), out);
            write_unsigned(&key.modulus_bytes(), out);
            write_unsigned(&key.exponent_bytes(), out);
            number(key.private_exponent(), out);
            number(key.remainders()[2], out);
            number(&key.primes()[0], out);
            number(&key.primes()[1], out);
        }
        PrivateKey::Ecdsa(key) => {
            let curve = key.curve().ssh_name().unwrap_or_default();
            write_bytes(format!("{ECDSA}{curve}").as_bytes(), out);
            write_bytes(curve.as_bytes(), out);
            write_bytes(key.point(), out);
            write_unsigned(key.scalar(), out);
        }
        PrivateKey::Ed25519(key) => {
            write_bytes(ED25519.as_bytes(), out);
            write_bytes(key.public(), out);
            write_bytes(&[*key.seed(), *key.public()].concat(), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::tls::golden::{cases, key, text};
    use crate::providers::tls::keys::ssh_wire::SshFields;

    /// The check number of a recorded key.
    fn check_of(recorded: &str) -> u32 {
        let block = pem::decode(recorded).expect("PEM");
        let mut wire = SshFields::new(&block.contents[MAGIC.len()..]);
        for _ in 0..3 {
            wire.bytes().expect("cipher");
        }
        wire.number().expect("count");
        wire.bytes().expect("public key");
        SshFields::new(wire.bytes().expect("private key")).number().expect("check number")
    }

    #[test]
    fn private_keys_are_written_as_go_writes_them() {
        for record in cases("keys.json") {
            let recorded = text(&record, "openssh");
            let key = key(text(&record, "name"));
            match recorded {
                "" if key.texts().pem.contains("BEGIN EC") => assert_eq!(private_text(&key, 1), None),
                "" => {}
                _ => assert_eq!(private_text(&key, check_of(recorded)).as_deref(), Some(recorded)),
            }
        }
    }
}
