//! OpenSSH's notation of private keys, read.

use num_bigint::BigUint;

use super::error::KeyError;
use super::openssh::{ECDSA, ED25519, MAGIC, RSA};
use super::rsa::RsaParts;
use super::ssh_wire::SshFields;
use super::{Curve, EcKey, EdKey, PrivateKey, RsaKey};
use crate::providers::tls::der::read::Reader;

pub const PASSPHRASE: KeyError = KeyError::OpenSsh("this private key is passphrase protected");
const SHORT: KeyError = KeyError::OpenSsh("short read");
const MALFORMED: KeyError = KeyError::OpenSsh("malformed OpenSSH key");

/// The contents of an `OPENSSH PRIVATE KEY` block.
pub fn parse(contents: &[u8]) -> Result<PrivateKey, KeyError> {
    let rest = contents.strip_prefix(MAGIC).ok_or(KeyError::OpenSsh("invalid openssh private key format"))?;
    let mut wire = SshFields::new(rest);
    let [cipher, derivation, options] = [0; 3].map(|_| wire.bytes());
    let count = wire.number();
    let (_public, private) = (wire.bytes().ok_or(SHORT)?, wire.bytes().ok_or(SHORT)?);
    let (cipher, derivation, options) = (cipher.ok_or(SHORT)?, derivation.ok_or(SHORT)?, options.ok_or(SHORT)?);
    if count != Some(1) {
        return Err(KeyError::OpenSsh("multi-key files are not supported"));
    }
    if cipher != b"none" || derivation != b"none" {
        return Err(PASSPHRASE);
    }
    if !options.is_empty() {
        return Err(KeyError::OpenSsh("invalid openssh private key"));
    }
    let mut wire = SshFields::new(private);
    let checks = [wire.number(), wire.number()];
    let name = wire.bytes().filter(|_| checks[0] == checks[1]).ok_or(MALFORMED)?;
    match std::str::from_utf8(name).unwrap_or_default() {
        RSA => rsa_key(&mut wire),
        ED25519 => ed25519_key(&mut wire),
        name if name.strip_prefix(ECDSA).is_some_and(|curve| Curve::from_ssh_name(curve).is_some()) => {
            ec_key(&mut wire)
        }
        _ => Err(KeyError::OpenSsh("unhandled key type")),
    }
}

/// The comment, and the bytes that fill the last block.
fn check_end(wire: &mut SshFields<'_>) -> Result<(), KeyError> {
    wire.bytes().ok_or(SHORT)?;
    let is_padding = wire.rest().iter().enumerate().all(|(at, byte)| usize::from(*byte) == at + 1);
    if is_padding { Ok(()) } else { Err(KeyError::OpenSsh("padding not as expected")) }
}

/// An integer; negative ones are read as if they were not, and rejected by what checks the key.
fn number(wire: &mut SshFields<'_>) -> Result<BigUint, KeyError> {
    Ok(BigUint::from_bytes_be(wire.bytes().ok_or(SHORT)?))
}

fn rsa_key(wire: &mut SshFields<'_>) -> Result<PrivateKey, KeyError> {
    let (modulus, exponent, private_exponent) = (number(wire)?, number(wire)?, number(wire)?);
    // Computed anew.
    let _coefficient = number(wire)?;
    let primes = vec![number(wire)?, number(wire)?];
    check_end(wire)?;
    RsaKey::from_parts(RsaParts { modulus, exponent, private_exponent, primes, remainders: None }).map(PrivateKey::Rsa)
}

fn ed25519_key(wire: &mut SshFields<'_>) -> Result<PrivateKey, KeyError> {
    let _public = wire.bytes().ok_or(SHORT)?;
    let private = wire.bytes().ok_or(SHORT)?;
    let seed = private.first_chunk::<32>().filter(|_| private.len() == 64);
    if let Some(seed) = seed {
        check_end(wire)?;
        return EdKey::from_seed(*seed).map(PrivateKey::Ed25519);
    }
    let has_comment = wire.bytes().is_some();
    Err(if has_comment { KeyError::OpenSsh("private key unexpected length") } else { SHORT })
}

fn ec_key(wire: &mut SshFields<'_>) -> Result<PrivateKey, KeyError> {
    let name = wire.bytes().ok_or(SHORT)?;
    let point = wire.bytes().ok_or(SHORT)?;
    let digits = wire.bytes().ok_or(SHORT)?;
    check_end(wire)?;
    let name = String::from_utf8_lossy(name);
    let curve = Curve::from_ssh_name(&name).ok_or_else(|| KeyError::OpenSshCurve(name.into_owned()))?;
    curve.check_point(point).map_err(|_| KeyError::OpenSsh("failed to unmarshal public key"))?;
    let digits: Vec<u8> = digits.iter().copied().skip_while(|byte| *byte == 0).collect();
    let Some(zeros) = curve.size().checked_sub(digits.len()) else {
        return Err(KeyError::OpenSsh("scalar is out of range"));
    };
    let scalar = [vec![0; zeros], digits].concat();
    let key = EcKey::from_scalar(curve, scalar).map_err(|_| KeyError::OpenSsh("scalar is out of range"))?;
    if key.point() != point {
        return Err(KeyError::OpenSsh("public key does not match private key"));
    }
    Ok(PrivateKey::Ecdsa(key))
}

/// The error of a DSA key: one that is whole can be read, but not used.
pub fn dsa_error(contents: &[u8]) -> KeyError {
    let mut outer = Reader::new(contents);
    let is_key = outer.sequence().is_some_and(|mut key| [0; 6].iter().all(|_| key.integer().is_some()));
    match (is_key, outer.is_empty()) {
        (true, true) => KeyError::UnsupportedType("*dsa.PrivateKey"),
        (true, false) => KeyError::OpenSsh("garbage after DSA key"),
        (false, _) => KeyError::OpenSsh("failed to parse DSA key: asn1: structure error"),
    }
}
