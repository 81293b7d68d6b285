//! `rsadecrypt`: private keys as they stand in files, and RSA decryption with PKCS #1 v1.5 padding.
//!
//! Owns the three forms of unencrypted RSA keys (PKCS #1, PKCS #8, OpenSSH), as PEM. What cannot be used is worded as the
//! reference words it.

use num_bigint::BigUint;
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
        Err(message) => return fail_argument(1, message),
    };
    match key.decrypt(&cipher) {
        Some(plain) => Ok(Value::string(String::from_utf8_lossy(&plain))),
        None => fail("failed to decrypt: crypto/rsa: decryption error"),
    }
}

struct PrivateKey {
    modulus: BigUint,
    exponent: BigUint,
}

impl PrivateKey {
    /// Nothing where the text was not encrypted for this key, without a word about why.
    fn decrypt(&self, cipher: &[u8]) -> Option<Vec<u8>> {
        const LEAST_PADDING: usize = 8;
        let size = usize::try_from(self.modulus.bits().div_ceil(8)).ok()?;
        let number = BigUint::from_bytes_be(cipher);
        if number >= self.modulus || cipher.len() > size {
            return None;
        }
        let plain = number.modpow(&self.exponent, &self.modulus).to_bytes_be();
        // 00 02, at least eight bytes that are not zero, 00, the text. The first zero is not in the number.
        let rest = plain.strip_prefix(&[2]).filter(|_| plain.len() + 1 == size)?;
        let padding = rest.iter().position(|b| *b == 0).filter(|n| *n >= LEAST_PADDING)?;
        Some(rest[padding + 1..].to_vec())
    }
}

struct Pem {
    kind: String,
    encrypted: bool,
    content: Vec<u8>,
}

/// The first well-formed block.
fn first_block(source: &str) -> Option<Pem> {
    let mut rest = source;
    loop {
        let at = rest.find("-----BEGIN ")?;
        let starts_line = at == 0 || rest.as_bytes()[at - 1] == b'\n';
        let body = &rest[at + "-----BEGIN ".len()..];
        rest = body;
        let Some((kind, body)) = body.split_once("-----").filter(|(kind, _)| starts_line && !kind.contains('\n'))
        else {
            continue;
        };
        let Some((body, _)) = body.split_once(&format!("-----END {kind}-----")) else { continue };
        let (headers, lines): (Vec<&str>, Vec<&str>) = body.lines().partition(|line| line.contains(':'));
        let encrypted = headers.iter().any(|h| h.starts_with("Proc-Type:") && h.contains("ENCRYPTED"));
        let digits: String = lines.iter().flat_map(|l| l.chars()).filter(|c| !c.is_whitespace()).collect();
        if let Ok(content) = base64_text::decode(&digits) {
            return Some(Pem { kind: kind.to_owned(), encrypted, content });
        }
    }
}

fn private_key(source: &str) -> Result<PrivateKey, String> {
    let invalid = |why: &str| format!("invalid private key: {why}");
    let block = first_block(source).ok_or_else(|| invalid("ssh: no key found"))?;
    if block.encrypted {
        return Err(invalid("ssh: this private key is passphrase protected"));
    }
    match block.kind.as_str() {
        "RSA PRIVATE KEY" => match pkcs1(&block.content, "pkcs1PrivateKey") {
            Err(_) if pkcs8(&block.content).is_ok() => {
                Err(invalid("x509: failed to parse private key (use ParsePKCS8PrivateKey instead for this key format)"))
            }
            other => other,
        },
        "PRIVATE KEY" => match pkcs8(&block.content) {
            Err(_) if pkcs1(&block.content, "").is_ok() => {
                Err(invalid("x509: failed to parse private key (use ParsePKCS1PrivateKey instead for this key format)"))
            }
            other => other,
        },
        "OPENSSH PRIVATE KEY" => openssh(&block.content),
        // Keys of other kinds cannot decrypt; the reference prints their type with the wrong verb.
        "EC PRIVATE KEY" => Err("invalid private key type %!t(*ecdsa.PrivateKey=<nil>)".to_owned()),
        "DSA PRIVATE KEY" => Err("invalid private key type %!t(*dsa.PrivateKey=<nil>)".to_owned()),
        kind => Err(invalid(&format!("ssh: unsupported key type {}", quoted(kind)))),
    }
}

/// A reader of DER: tag, length, content.
struct Der<'d>(&'d [u8]);

const INTEGER: u8 = 2;
const OCTETS: u8 = 4;
const OBJECT: u8 = 6;
const SEQUENCE: u8 = 0x30;

impl<'d> Der<'d> {
    fn next(&mut self, tag: u8, of: &str) -> Result<&'d [u8], String> {
        let truncated = || "invalid ASN1 data in the given private key: data truncated".to_owned();
        if self.0.is_empty() {
            return Err("invalid ASN1 data in the given private key: sequence truncated".to_owned());
        }
        let [found, short, rest @ ..] = self.0 else { return Err(truncated()) };
        if *found != tag {
            let wanted = if tag == SEQUENCE { 16 } else { tag };
            return Err(format!(
                "asn1: structure error: tags don't match ({wanted} vs {{class:{} tag:{} length:{short} isCompound:{}}}) {{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}} {of} @2",
                found >> 6,
                found & 31,
                found & 32 != 0
            ));
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

    fn number(&mut self) -> Result<BigUint, String> {
        self.next(INTEGER, "big.Int").map(BigUint::from_bytes_be)
    }
}

fn pkcs1(content: &[u8], name: &str) -> Result<PrivateKey, String> {
    let mut fields = Der(Der(content).next(SEQUENCE, name)?);
    let _version = fields.number()?;
    let modulus = fields.number()?;
    let _public = fields.number()?;
    usable(PrivateKey { modulus, exponent: fields.number()? })
}

fn usable(key: PrivateKey) -> Result<PrivateKey, String> {
    // A limit for time: larger keys have no use.
    const MOST_BITS: u64 = 16 * 1024;
    let usable = key.modulus.bits() > 0 && key.modulus.bits() <= MOST_BITS && key.exponent < key.modulus;
    if usable {
        Ok(key)
    } else {
        Err("invalid private key: x509: private key contains zero or negative value".to_owned())
    }
}

fn pkcs8(content: &[u8]) -> Result<PrivateKey, String> {
    const RSA: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
    const EC: [u8; 7] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
    const ED25519: [u8; 3] = [0x2b, 0x65, 0x70];
    let mut fields = Der(Der(content).next(SEQUENCE, "pkcs8")?);
    let _version = fields.number()?;
    let algorithm = Der(fields.next(SEQUENCE, "pkix.AlgorithmIdentifier")?).next(OBJECT, "asn1.ObjectIdentifier")?;
    let key = fields.next(OCTETS, "[]uint8")?;
    match algorithm {
        _ if algorithm == RSA => pkcs1(key, "pkcs1PrivateKey"),
        _ if algorithm == EC => Err("invalid private key type %!t(*ecdsa.PrivateKey=<nil>)".to_owned()),
        _ if algorithm == ED25519 => Err("invalid private key type %!t(ed25519.PrivateKey=[])".to_owned()),
        _ => Err("invalid private key: x509: PKCS#8 wrapping contained private key with unknown algorithm".to_owned()),
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

fn openssh(content: &[u8]) -> Result<PrivateKey, String> {
    let invalid = |why: &str| format!("invalid private key: ssh: {why}");
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
        return Err(invalid("this private key is passphrase protected"));
    }
    let mut inner = Parts(private);
    if inner.word().zip(inner.word()).is_none_or(|(a, b)| a != b) {
        return Err(invalid("malformed OpenSSH key"));
    }
    match inner.part() {
        Some(b"ssh-rsa") => {
            let mut number = || inner.part().map(BigUint::from_bytes_be).ok_or_else(broken);
            let (modulus, _public, exponent) = (number()?, number()?, number()?);
            usable(PrivateKey { modulus, exponent })
        }
        Some(b"ssh-ed25519") => Err("invalid private key type %!t(*ed25519.PrivateKey=<nil>)".to_owned()),
        Some(kind) if kind.starts_with(b"ecdsa-") => {
            Err("invalid private key type %!t(*ecdsa.PrivateKey=<nil>)".to_owned())
        }
        _ => Err(invalid("unhandled key type")),
    }
}
