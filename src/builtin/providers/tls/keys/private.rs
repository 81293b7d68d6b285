//! Private keys in PKCS#1, SEC1 and PKCS#8.

use num_bigint::BigUint;

use super::algorithm::algorithm;
use super::error::KeyError;
use super::random::random;
use super::rsa::RsaParts;
use super::{Curve, EcKey, EdKey, PrivateKey, RsaKey, openssh};
use crate::providers::failure::Failure;
use crate::providers::tls::der::oid;
use crate::providers::tls::der::read::Reader;
use crate::providers::tls::der::{tag, write};
use crate::providers::tls::pem;

/// The texts of a private key, as attributes hold them.
#[derive(Clone)]
pub struct PrivateTexts {
    /// PKCS#1 for RSA, SEC1 for ECDSA, PKCS#8 for Ed25519.
    pub pem: String,
    pub pkcs8: String,
}

impl PrivateKey {
    pub fn texts(&self) -> PrivateTexts {
        let pkcs8 = pem::encode(pem::PKCS8_KEY, &to_pkcs8(self));
        let pem = match self {
            PrivateKey::Rsa(key) => pem::encode(pem::RSA_KEY, &to_pkcs1(key)),
            PrivateKey::Ecdsa(key) => pem::encode(pem::EC_KEY, &to_sec1(key, Some(key.curve()))),
            PrivateKey::Ed25519(_) => pkcs8.clone(),
        };
        PrivateTexts { pem, pkcs8 }
    }

    /// OpenSSH's notation, empty for P-224. Its check number is random: the same key gets another text each time.
    pub fn openssh_text(&self) -> Result<String, Failure> {
        let check = random().map(u32::from_be_bytes);
        let check = check.map_err(|e| Failure::new("Unable to marshal private key into OpenSSH format", e))?;
        Ok(openssh::private_text(self, check).unwrap_or_default())
    }
}

fn to_pkcs1(key: &RsaKey) -> Vec<u8> {
    let number = |number: &BigUint| write::unsigned(&number.to_bytes_be());
    let more = key.more_primes();
    let more: Vec<Vec<u8>> =
        more.iter().map(|parts| write::sequence(&[&parts.each_ref().map(number).concat()])).collect();
    let [first, second, coefficient] = key.remainders();
    write::sequence(&[
        &write::small(u64::from(!more.is_empty())),
        &write::unsigned(&key.modulus_bytes()),
        &write::unsigned(&key.exponent_bytes()),
        &number(key.private_exponent()),
        &number(&key.primes()[0]),
        &number(&key.primes()[1]),
        &number(first),
        &number(second),
        &number(coefficient),
        &if more.is_empty() { Vec::new() } else { write::sequence(&[&more.concat()]) },
    ])
}

/// Inside of PKCS#8 the curve stands outside.
fn to_sec1(key: &EcKey, curve: Option<Curve>) -> Vec<u8> {
    let curve = curve.map(|curve| write::object_identifier(curve.oid()));
    let curve = curve.map(|oid| write::element(tag::context_constructed(0), &oid)).unwrap_or_default();
    let point = write::element(tag::context_constructed(1), &write::bit_string(key.point()));
    write::sequence(&[&write::small(1), &write::octet_string(key.scalar()), &curve, &point])
}

fn to_pkcs8(key: &PrivateKey) -> Vec<u8> {
    let (algorithm, contents) = match key {
        PrivateKey::Rsa(key) => (algorithm(oid::RSA_ENCRYPTION, &write::null()), to_pkcs1(key)),
        PrivateKey::Ecdsa(key) => {
            let curve = write::object_identifier(key.curve().oid());
            (algorithm(oid::EC_PUBLIC_KEY, &curve), to_sec1(key, None))
        }
        PrivateKey::Ed25519(key) => (algorithm(oid::ED25519, &[]), write::octet_string(key.seed())),
    };
    write::sequence(&[&write::small(0), &algorithm, &write::octet_string(&contents)])
}

/// The error of a key that is of another kind than its PEM says, and of one that is no key.
fn wrong_kind(der: &[u8], own: &str) -> KeyError {
    let others = [
        ("ParsePKCS1PrivateKey", pkcs1_parts(der).is_some()),
        ("ParseECPrivateKey", sec1_parts(der).is_some()),
        ("ParsePKCS8PrivateKey", pkcs8_parts(der).is_some()),
    ];
    match others.into_iter().find(|(name, is_it)| *is_it && *name != own) {
        Some((name, _)) => KeyError::OtherNotation(name),
        None => KeyError::NotDer,
    }
}

/// Version and numbers. Negative ones become zero, which is refused too.
fn pkcs1_parts(der: &[u8]) -> Option<(i64, RsaParts)> {
    let mut outer = Reader::new(der);
    let mut key = outer.sequence()?;
    let number = |reader: &mut Reader<'_>| {
        let bytes = reader.integer()?;
        Some(if bytes[0] >= 0x80 { BigUint::ZERO } else { BigUint::from_bytes_be(bytes) })
    };
    let version = key.small()?;
    let [modulus, exponent, private_exponent, p, q] = [0; 5].map(|_| number(&mut key));
    let mut primes = vec![p?, q?];
    let mut remainders = None;
    if key.is_next(tag::INTEGER) {
        let [first, second, coefficient] = [0; 3].map(|_| number(&mut key));
        remainders = Some([first?, second?, coefficient?]);
    }
    if key.is_next(tag::SEQUENCE) {
        let mut more = key.sequence()?;
        while !more.is_empty() {
            primes.push(number(&mut more.sequence()?)?);
        }
    }
    let parts =
        RsaParts { modulus: modulus?, exponent: exponent?, private_exponent: private_exponent?, primes, remainders };
    outer.is_empty().then_some((version, parts))
}

pub fn from_pkcs1(der: &[u8]) -> Result<PrivateKey, KeyError> {
    let (version, parts) = pkcs1_parts(der).ok_or_else(|| wrong_kind(der, "ParsePKCS1PrivateKey"))?;
    if version > 1 {
        return Err(KeyError::X509("unsupported private key version"));
    }
    let zero = BigUint::ZERO;
    let numbers = [&parts.modulus, &parts.private_exponent].into_iter().chain(&parts.primes);
    if numbers.chain(parts.remainders.iter().flatten()).any(|number| *number == zero) {
        return Err(KeyError::X509("private key contains zero or negative value"));
    }
    RsaKey::from_parts(parts).map(PrivateKey::Rsa)
}

struct Sec1<'a> {
    version: i64,
    scalar: &'a [u8],
    curve: Vec<u32>,
}

fn sec1_parts(der: &[u8]) -> Option<Sec1<'_>> {
    let mut key = Reader::new(der).sequence()?;
    let version = key.small()?;
    let scalar = key.contents(tag::OCTET_STRING)?;
    let mut curve = Vec::new();
    if key.is_next(tag::context_constructed(0)) {
        key.enter(tag::context_constructed(0))?;
        curve = key.object_identifier()?;
    }
    if key.is_next(tag::context_constructed(1)) {
        key.enter(tag::context_constructed(1))?;
        key.bit_string()?;
    }
    Some(Sec1 { version, scalar, curve })
}

/// A key in SEC1. The curve that PKCS#8 names goes before its own.
pub fn from_sec1(der: &[u8], outer_curve: Option<Vec<u32>>) -> Result<PrivateKey, KeyError> {
    let parts = sec1_parts(der).ok_or_else(|| match wrong_kind(der, "ParseECPrivateKey") {
        KeyError::NotDer => KeyError::NotSec1,
        other => other,
    })?;
    if parts.version != 1 {
        return Err(KeyError::Sec1Version(parts.version));
    }
    let curve = Curve::from_oid(&outer_curve.unwrap_or(parts.curve)).ok_or(KeyError::X509("unknown elliptic curve"))?;
    // Some tools write zeros in front, others leave them out.
    let zeros = parts.scalar.len().saturating_sub(curve.size());
    let (extra, digits) = parts.scalar.split_at(zeros);
    if extra.iter().any(|byte| *byte != 0) {
        return Err(KeyError::X509("invalid private key length"));
    }
    let mut scalar = vec![0; curve.size() - digits.len()];
    scalar.extend_from_slice(digits);
    EcKey::from_scalar(curve, scalar).map(PrivateKey::Ecdsa)
}

struct Pkcs8<'a> {
    algorithm: Vec<u32>,
    parameters: &'a [u8],
    key: &'a [u8],
}

fn pkcs8_parts(der: &[u8]) -> Option<Pkcs8<'_>> {
    let mut outer = Reader::new(der).sequence()?;
    outer.small()?;
    let mut identifier = outer.sequence()?;
    let algorithm = identifier.object_identifier()?;
    let parameters = if identifier.is_empty() { &[][..] } else { identifier.any()?.whole };
    let key = outer.contents(tag::OCTET_STRING)?;
    Some(Pkcs8 { algorithm, parameters, key })
}

pub fn from_pkcs8(der: &[u8]) -> Result<PrivateKey, KeyError> {
    let embedded = |kind| move |why| KeyError::Embedded { kind, why: Box::new(why) };
    let parts = pkcs8_parts(der).ok_or_else(|| wrong_kind(der, "ParsePKCS8PrivateKey"))?;
    match &parts.algorithm[..] {
        oid::RSA_ENCRYPTION => from_pkcs1(parts.key).map_err(embedded("RSA")),
        oid::EC_PUBLIC_KEY => {
            from_sec1(parts.key, Reader::new(parts.parameters).object_identifier()).map_err(embedded("EC"))
        }
        oid::ED25519 => {
            let seed = curve_25519_key(&parts, "Ed25519")?;
            let length = seed.len();
            let seed = seed.try_into().map_err(|_| KeyError::Ed25519Length(length))?;
            EdKey::from_seed(seed).map(PrivateKey::Ed25519)
        }
        oid::X25519 => match curve_25519_key(&parts, "X25519")?.len() {
            32 => Err(KeyError::UnsupportedType("*ecdh.PrivateKey")),
            _ => Err(KeyError::X25519Length),
        },
        other => Err(KeyError::UnknownAlgorithm(oid::dotted(other))),
    }
}

fn curve_25519_key<'a>(parts: &Pkcs8<'a>, name: &'static str) -> Result<&'a [u8], KeyError> {
    if !parts.parameters.is_empty() {
        return Err(KeyError::Parameters(name));
    }
    let seed = Reader::new(parts.key).contents(tag::OCTET_STRING);
    seed.ok_or(KeyError::NotAKeyOf(name))
}

#[cfg(test)]
mod tests {
    use crate::providers::tls::golden::{cases, key, text};

    #[test]
    fn keys_are_written_as_go_writes_them() {
        for record in cases("keys.json") {
            let texts = key(text(&record, "name")).texts();
            assert_eq!(texts.pem, text(&record, "pem"));
            assert_eq!(texts.pkcs8, text(&record, "pkcs8"));
        }
    }
}
