//! `rsadecrypt`: private keys as they stand in files, and RSA decryption with PKCS #1 v1.5 padding.
//!
//! Owns the three forms of unencrypted RSA keys (PKCS #1, PKCS #8, OpenSSH), as PEM. What cannot be used is worded as the
//! reference words it.

use std::fmt;

use aws_lc_rs::rsa::{Pkcs1PrivateDecryptingKey, PrivateDecryptingKey};
use gotext::pem;
use num_bigint::BigUint;
use num_traits::{One, Zero};
use terrane_value::Value;

use super::base64_text;
use super::builtin::{Outcome, fail, fail_argument, quoted, text};
use super::signature::CallContext;

pub(super) fn decrypt(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let Ok(cipher) = base64_text::decode(text(a, 0)) else {
        let message = format!("failed to decode input {}: cipher text must be base64-encoded", quoted(text(a, 0)));
        return fail_argument(0, message);
    };
    let key = match private_key(text(a, 1)) {
        Ok(key) => key,
        Err(why) => return fail_argument(1, why.to_string()),
    };
    match key.decrypt(&cipher) {
        Some(plain) => Ok(Value::string(String::from_utf8_lossy(&plain))),
        None => fail("failed to decrypt: crypto/rsa: decryption error"),
    }
}

/// Why a key cannot be used, in the words of the reference.
enum KeyError {
    /// What Go's library for SSH says.
    Ssh(String),
    /// What Go's library for X.509 says.
    X509(&'static str),
    /// The type in Go of a key that cannot decrypt; the reference prints it with the wrong verb.
    OtherType(&'static str),
    /// DER that ends too early.
    Truncated(&'static str),
    /// DER of another kind.
    Structure(String),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::Ssh(why) => write!(f, "invalid private key: ssh: {why}"),
            KeyError::X509(why) => write!(f, "invalid private key: x509: {why}"),
            KeyError::OtherType(value) => write!(f, "invalid private key type %!t({value})"),
            KeyError::Truncated(what) => write!(f, "invalid ASN1 data in the given private key: {what} truncated"),
            KeyError::Structure(why) => write!(f, "asn1: structure error: {why}"),
        }
    }
}

const EC_KEY: KeyError = KeyError::OtherType("*ecdsa.PrivateKey=<nil>");

struct PrivateKey {
    modulus: BigUint,
    exponent: BigUint,
    /// The whole key, as PKCS #1 has it.
    pkcs1: Vec<u8>,
}

impl PrivateKey {
    /// Nothing where the text was not encrypted for this key, without a word about why.
    fn decrypt(&self, cipher: &[u8]) -> Option<Vec<u8>> {
        let size = usize::try_from(self.modulus.bits().div_ceil(8)).ok()?;
        if cipher.len() > size {
            return None;
        }
        let cipher = [&vec![0; size - cipher.len()], cipher].concat();
        match self.library_key() {
            Some(key) => {
                let mut plain = vec![0; key.min_output_size()];
                key.decrypt(&cipher, &mut plain).ok().map(|plain| plain.to_vec())
            }
            None => self.decrypt_here(&cipher, size),
        }
    }

    /// The key for the library of cryptography. None: the library refuses it, as all that are not of 2048 to 8192 bits.
    fn library_key(&self) -> Option<Pkcs1PrivateDecryptingKey> {
        let algorithm = der(SEQUENCE, &[der(OBJECT, &RSA), der(NULL, &[])].concat());
        let pkcs8 = der(SEQUENCE, &[der(INTEGER, &[0]), algorithm, der(OCTETS, &self.pkcs1)].concat());
        PrivateDecryptingKey::from_pkcs8(&pkcs8).ok().and_then(|key| Pkcs1PrivateDecryptingKey::new(key).ok())
    }

    /// For keys that the library refuses: the reference decrypts with them. The time of this depends on the key. Blinding would need
    /// randomness, which the language does not have; and keys of such sizes are weak in easier ways.
    fn decrypt_here(&self, cipher: &[u8], size: usize) -> Option<Vec<u8>> {
        const LEAST_PADDING: usize = 8;
        let number = BigUint::from_bytes_be(cipher);
        if number >= self.modulus {
            return None;
        }
        let plain = number.modpow(&self.exponent, &self.modulus).to_bytes_be();
        // 00 02, at least eight bytes that are not zero, 00, the text. The first zero is not in the number.
        let rest = plain.strip_prefix(&[2]).filter(|_| plain.len() + 1 == size)?;
        let padding = rest.iter().position(|b| *b == 0).filter(|n| *n >= LEAST_PADDING)?;
        Some(rest[padding + 1..].to_vec())
    }
}

fn passphrase() -> KeyError {
    KeyError::Ssh("this private key is passphrase protected".to_owned())
}

fn private_key(source: &str) -> Result<PrivateKey, KeyError> {
    let block = pem::decode(source).ok_or_else(|| KeyError::Ssh("no key found".to_owned()))?;
    if block.header("Proc-Type").is_some_and(|value| value.contains("ENCRYPTED")) {
        return Err(passphrase());
    }
    match block.kind.as_str() {
        "RSA PRIVATE KEY" => match pkcs1(&block.contents, "pkcs1PrivateKey") {
            Err(_) if pkcs8(&block.contents).is_ok() => Err(KeyError::X509(
                "failed to parse private key (use ParsePKCS8PrivateKey instead for this key format)",
            )),
            other => other,
        },
        "PRIVATE KEY" => match pkcs8(&block.contents) {
            Err(_) if pkcs1(&block.contents, "").is_ok() => Err(KeyError::X509(
                "failed to parse private key (use ParsePKCS1PrivateKey instead for this key format)",
            )),
            other => other,
        },
        "OPENSSH PRIVATE KEY" => openssh(&block.contents),
        "EC PRIVATE KEY" => Err(EC_KEY),
        "DSA PRIVATE KEY" => Err(KeyError::OtherType("*dsa.PrivateKey=<nil>")),
        kind => Err(KeyError::Ssh(format!("unsupported key type {}", quoted(kind)))),
    }
}

/// A reader of DER: tag, length, content.
struct Der<'d>(&'d [u8]);

const INTEGER: u8 = 2;
const OCTETS: u8 = 4;
const OBJECT: u8 = 6;
const NULL: u8 = 5;
const SEQUENCE: u8 = 0x30;

/// The algorithm of RSA keys.
const RSA: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];

/// A piece of DER: tag, length, content.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let digits = &length[length.iter().take_while(|byte| **byte == 0).count()..];
    let mut out = vec![tag];
    match content.len() {
        short @ 0..0x80 => out.push(short as u8),
        _ => {
            out.push(0x80 | digits.len() as u8);
            out.extend(digits);
        }
    }
    out.extend(content);
    out
}

fn der_number(number: &BigUint) -> Vec<u8> {
    let mut digits = number.to_bytes_be();
    // A first bit that is set would mean a negative number.
    if digits.first().is_some_and(|first| first & 0x80 != 0) {
        digits.insert(0, 0);
    }
    der(INTEGER, &digits)
}

impl<'d> Der<'d> {
    fn next(&mut self, tag: u8, of: &str) -> Result<&'d [u8], KeyError> {
        let truncated = || KeyError::Truncated("data");
        if self.0.is_empty() {
            return Err(KeyError::Truncated("sequence"));
        }
        let [found, short, rest @ ..] = self.0 else { return Err(truncated()) };
        if *found != tag {
            let wanted = if tag == SEQUENCE { 16 } else { tag };
            return Err(KeyError::Structure(format!(
                "tags don't match ({wanted} vs {{class:{} tag:{} length:{short} isCompound:{}}}) {{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}} {of} @2",
                found >> 6,
                found & 31,
                found & 32 != 0
            )));
        }
        let (length, rest) = match *short {
            0..=0x7f => (usize::from(*short), rest),
            0x81..=0x84 => {
                let n = usize::from(short & 0x7f);
                let digits = rest.get(..n).ok_or_else(truncated)?;
                (digits.iter().fold(0, |all, b| all << 8 | usize::from(*b)), &rest[n..])
            }
            _ => return Err(truncated()),
        };
        let content = rest.get(..length).ok_or_else(truncated)?;
        self.0 = &rest[length..];
        Ok(content)
    }

    fn number(&mut self) -> Result<BigUint, KeyError> {
        self.next(INTEGER, "big.Int").map(BigUint::from_bytes_be)
    }
}

fn pkcs1(content: &[u8], name: &str) -> Result<PrivateKey, KeyError> {
    let mut fields = Der(Der(content).next(SEQUENCE, name)?);
    let _version = fields.number()?;
    let modulus = fields.number()?;
    let _public = fields.number()?;
    usable(PrivateKey { modulus, exponent: fields.number()?, pkcs1: content.to_vec() })
}

fn usable(key: PrivateKey) -> Result<PrivateKey, KeyError> {
    // A limit for time: larger keys have no use.
    const MOST_BITS: u64 = 16 * 1024;
    let usable = key.modulus.bits() > 0 && key.modulus.bits() <= MOST_BITS && key.exponent < key.modulus;
    if usable { Ok(key) } else { Err(KeyError::X509("private key contains zero or negative value")) }
}

fn pkcs8(content: &[u8]) -> Result<PrivateKey, KeyError> {
    const EC: [u8; 7] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
    const ED25519: [u8; 3] = [0x2b, 0x65, 0x70];
    let mut fields = Der(Der(content).next(SEQUENCE, "pkcs8")?);
    let _version = fields.number()?;
    let algorithm = Der(fields.next(SEQUENCE, "pkix.AlgorithmIdentifier")?).next(OBJECT, "asn1.ObjectIdentifier")?;
    let key = fields.next(OCTETS, "[]uint8")?;
    match algorithm {
        _ if algorithm == RSA => pkcs1(key, "pkcs1PrivateKey"),
        _ if algorithm == EC => Err(EC_KEY),
        _ if algorithm == ED25519 => Err(KeyError::OtherType("ed25519.PrivateKey=[]")),
        _ => Err(KeyError::X509("PKCS#8 wrapping contained private key with unknown algorithm")),
    }
}

/// A reader of the parts of OpenSSH's format: each begins with its length.
struct Parts<'d>(&'d [u8]);

impl<'d> Parts<'d> {
    fn word(&mut self) -> Option<usize> {
        let (digits, rest) = self.0.split_at_checked(4)?;
        self.0 = rest;
        usize::try_from(u32::from_be_bytes(digits.try_into().ok()?)).ok()
    }

    fn part(&mut self) -> Option<&'d [u8]> {
        let length = self.word()?;
        let (part, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(part)
    }
}

/// Of the private exponent by a prime less one.
fn remainder(exponent: &BigUint, prime: &BigUint) -> BigUint {
    let less = prime - 1u32;
    if less.is_zero() { BigUint::ZERO } else { exponent % less }
}

fn openssh(content: &[u8]) -> Result<PrivateKey, KeyError> {
    let invalid = |why: &str| KeyError::Ssh(why.to_owned());
    let rest =
        content.strip_prefix(b"openssh-key-v1\0").ok_or_else(|| invalid("invalid openssh private key format"))?;
    let mut outer = Parts(rest);
    let broken = || invalid("unmarshal error for field PrivKeyBlock of type openSSHEncryptedPrivateKey");
    let cipher = outer.part().ok_or_else(broken)?;
    let derivation = outer.part().ok_or_else(broken)?;
    let _options = outer.part().ok_or_else(broken)?;
    let count = outer.word().ok_or_else(broken)?;
    let _public = outer.part().ok_or_else(broken)?;
    let private = outer.part().ok_or_else(broken)?;
    if count != 1 {
        return Err(invalid("multi-key files are not supported"));
    }
    if derivation != b"none" || cipher != b"none" {
        return Err(passphrase());
    }
    let mut inner = Parts(private);
    if inner.word().zip(inner.word()).is_none_or(|(a, b)| a != b) {
        return Err(invalid("malformed OpenSSH key"));
    }
    match inner.part() {
        Some(b"ssh-rsa") => {
            let mut number = || inner.part().map(BigUint::from_bytes_be).ok_or_else(broken);
            let (modulus, public, exponent) = (number()?, number()?, number()?);
            // Without these, the key is one for `decrypt_here`.
            let (inverse, p, q) = match (number(), number(), number()) {
                (Ok(inverse), Ok(p), Ok(q)) if !p.is_zero() && !q.is_zero() => (inverse, p, q),
                _ => (BigUint::ZERO, BigUint::one(), BigUint::one()),
            };
            let (p_exponent, q_exponent) = (remainder(&exponent, &p), remainder(&exponent, &q));
            let fields = [&BigUint::ZERO, &modulus, &public, &exponent, &p, &q, &p_exponent, &q_exponent, &inverse];
            let pkcs1 = der(SEQUENCE, &fields.map(der_number).concat());
            usable(PrivateKey { modulus, exponent, pkcs1 })
        }
        Some(b"ssh-ed25519") => Err(KeyError::OtherType("*ed25519.PrivateKey=<nil>")),
        Some(kind) if kind.starts_with(b"ecdsa-") => Err(EC_KEY),
        _ => Err(invalid("unhandled key type")),
    }
}
