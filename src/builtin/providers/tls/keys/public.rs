//! Public keys: SubjectPublicKeyInfo, OpenSSH's notation, fingerprints and identifiers.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::algorithm::algorithm;
use super::{Curve, openssh};
use crate::providers::tls::der::read::Reader;
use crate::providers::tls::der::{oid, write};
use crate::providers::tls::pem;
use crate::providers::tls::x509_error::X509Error;

/// A public key of a request or certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicKey {
    /// The numbers' bytes, without zeros in front.
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// An uncompressed point.
    Ecdsa {
        curve: Curve,
        point: Vec<u8>,
    },
    Ed25519([u8; 32]),
    /// One that certificates cannot be issued for, as the name of Go's type.
    Unsupported(&'static str),
}

/// A key that has no identifier: the name of Go's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedKey(&'static str);

impl fmt::Display for UnsupportedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let go_type = self.0;
        write!(f, "failed to marshal public key of type {go_type}: unsupported public key type {go_type}")
    }
}

impl std::error::Error for UnsupportedKey {}

/// The texts of a public key, as attributes hold them. OpenSSH does not know P-224: what is its own is empty then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicTexts {
    pub pem: String,
    pub openssh: String,
    pub fingerprint_md5: String,
    pub fingerprint_sha256: String,
    pub id: String,
}

impl PublicKey {
    pub fn texts(&self) -> PublicTexts {
        let blob = openssh::public_blob(self);
        let of_blob = |text: fn(&[u8]) -> String| blob.as_deref().map(text).unwrap_or_default();
        PublicTexts {
            pem: pem::encode(pem::PUBLIC_KEY, &self.info()),
            openssh: of_blob(openssh_line),
            fingerprint_md5: of_blob(fingerprint_md5),
            fingerprint_sha256: of_blob(fingerprint_sha256),
            id: self.id(),
        }
    }

    pub fn id(&self) -> String {
        id_of(&self.info())
    }

    /// SubjectPublicKeyInfo. An unsupported key has none: it is empty.
    pub fn info(&self) -> Vec<u8> {
        let algorithm = match self {
            PublicKey::Rsa { .. } => algorithm(oid::RSA_ENCRYPTION, &write::null()),
            PublicKey::Ecdsa { curve, .. } => algorithm(oid::EC_PUBLIC_KEY, &write::object_identifier(curve.oid())),
            PublicKey::Ed25519(_) => algorithm(oid::ED25519, &[]),
            PublicKey::Unsupported(_) => return Vec::new(),
        };
        write::sequence(&[&algorithm, &write::bit_string(&self.bits())])
    }

    /// What the bit string of SubjectPublicKeyInfo holds.
    fn bits(&self) -> Vec<u8> {
        match self {
            PublicKey::Rsa { modulus, exponent } => {
                write::sequence(&[&write::unsigned(modulus), &write::unsigned(exponent)])
            }
            PublicKey::Ecdsa { point, .. } => point.clone(),
            PublicKey::Ed25519(bytes) => bytes.to_vec(),
            PublicKey::Unsupported(_) => Vec::new(),
        }
    }

    /// The provider's subject key identifier: the SHA-1 of the key, which for Ed25519 is an octet string.
    pub fn subject_key_id(&self) -> Result<Vec<u8>, UnsupportedKey> {
        let bytes = match self {
            PublicKey::Ed25519(bytes) => write::octet_string(bytes),
            PublicKey::Unsupported(name) => {
                return Err(UnsupportedKey(name));
            }
            _ => self.bits(),
        };
        Ok(Sha1::digest(bytes).to_vec())
    }

    /// Reads SubjectPublicKeyInfo. The error is Go's.
    pub fn from_info(info: &[u8]) -> Result<PublicKey, X509Error> {
        let mut info = Reader::new(info).sequence().ok_or(X509Error::Malformed("spki"))?;
        let mut identifier = info.sequence().ok_or(X509Error::Malformed("public key algorithm identifier"))?;
        let oid = identifier.object_identifier().ok_or(X509Error::Malformed("OID"))?;
        let parameters = match identifier.is_empty() {
            true => &[][..],
            false => identifier.any().ok_or(X509Error::Malformed("parameters"))?.whole,
        };
        let key = info.right_aligned_bit_string().ok_or(X509Error::Malformed("subjectPublicKey"))?;
        match &oid[..] {
            oid::RSA_ENCRYPTION => rsa_key(parameters, &key),
            oid::EC_PUBLIC_KEY => ec_key(parameters, key),
            oid::ED25519 if !parameters.is_empty() => {
                Err(X509Error::Rule("Ed25519 key encoded with illegal parameters"))
            }
            oid::ED25519 => {
                let key = key.try_into().map_err(|_| X509Error::Rule("wrong Ed25519 public key size"))?;
                Ok(PublicKey::Ed25519(key))
            }
            oid::DSA => dsa_key(parameters, &key),
            _ => Ok(PublicKey::Unsupported("<nil>")),
        }
    }
}

fn rsa_key(parameters: &[u8], key: &[u8]) -> Result<PublicKey, X509Error> {
    if parameters != write::null() {
        return Err(X509Error::Rule("RSA key missing NULL parameters"));
    }
    let mut key = Reader::new(key).sequence().ok_or(X509Error::Invalid("RSA public key"))?;
    let modulus = key.integer().ok_or(X509Error::Invalid("RSA modulus"))?;
    let exponent = key.small().ok_or(X509Error::Invalid("RSA public exponent"))?;
    if modulus == [0] || modulus[0] >= 0x80 {
        return Err(X509Error::Rule("RSA modulus is not a positive number"));
    }
    if exponent <= 0 {
        return Err(X509Error::Rule("RSA public exponent is not a positive number"));
    }
    let digits = |bytes: &[u8]| bytes.iter().copied().skip_while(|byte| *byte == 0).collect();
    Ok(PublicKey::Rsa { modulus: digits(modulus), exponent: digits(&exponent.to_be_bytes()) })
}

fn ec_key(parameters: &[u8], point: Vec<u8>) -> Result<PublicKey, X509Error> {
    let curve = Reader::new(parameters).object_identifier().ok_or(X509Error::Invalid("ECDSA parameters"))?;
    let curve = Curve::from_oid(&curve).ok_or(X509Error::Rule("unsupported elliptic curve"))?;
    curve.check_point(&point)?;
    Ok(PublicKey::Ecdsa { curve, point })
}

fn dsa_key(parameters: &[u8], key: &[u8]) -> Result<PublicKey, X509Error> {
    let is_positive = |bytes: &[u8]| bytes != [0] && bytes[0] < 0x80;
    let key = Reader::new(key).integer().ok_or(X509Error::Invalid("DSA public key"))?;
    let numbers = || {
        let mut numbers = Reader::new(parameters).sequence()?;
        Some([numbers.integer()?, numbers.integer()?, numbers.integer()?])
    };
    let numbers = numbers().ok_or(X509Error::Invalid("DSA parameters"))?;
    if !is_positive(key) || !numbers.into_iter().all(is_positive) {
        return Err(X509Error::Rule("zero or negative DSA parameter"));
    }
    Ok(PublicKey::Unsupported("*dsa.PublicKey"))
}

/// `ssh-... BASE64` and a line feed.
fn openssh_line(blob: &[u8]) -> String {
    let name = super::ssh_wire::SshFields::new(blob).text().unwrap_or_default();
    format!("{name} {}\n", STANDARD.encode(blob))
}

fn fingerprint_md5(blob: &[u8]) -> String {
    Md5::digest(blob).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

fn fingerprint_sha256(blob: &[u8]) -> String {
    format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(blob)))
}

/// The identifier of most objects of the provider: the SHA-1 of the bytes without white space around them.
pub fn id_of(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return String::new();
    }
    Sha1::digest(trim_space(bytes)).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Removes white space as Go does from texts that need not be UTF-8: bytes of no valid character are no white space.
fn trim_space(bytes: &[u8]) -> &[u8] {
    let leading = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let bytes = &bytes[leading.len() - leading.trim_start().len()..];
    let last = bytes.utf8_chunks().last().filter(|chunk| chunk.invalid().is_empty());
    let trailing = last.map_or("", |chunk| chunk.valid());
    &bytes[..bytes.len() - (trailing.len() - trailing.trim_end().len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::tls::golden::{bytes, cases, hex, key, text};

    #[test]
    fn public_keys_have_the_texts_of_go() {
        for record in cases("keys.json") {
            let public = key(text(&record, "name")).public();
            let expected = PublicTexts {
                pem: text(&record, "public_pem").to_owned(),
                openssh: text(&record, "public_openssh").to_owned(),
                fingerprint_md5: text(&record, "md5").to_owned(),
                fingerprint_sha256: text(&record, "sha256").to_owned(),
                id: text(&record, "id").to_owned(),
            };
            assert_eq!(public.texts(), expected);
            assert_eq!(hex(&public.subject_key_id().expect("id")), text(&record, "subject_key_id"));
            assert_eq!(PublicKey::from_info(&public.info()), Ok(public));
        }
    }

    #[test]
    fn ids_ignore_white_space_around_bytes() {
        let id = id_of(b"a");
        for text in ["61", "2061", "61090a0b0c0d20", "c285610d", "e2808061e38080"] {
            assert_eq!(id_of(&bytes(text)), id, "{text}");
        }
        for text in ["8561", "6185", "ff6120ff"] {
            assert_ne!(id_of(&bytes(text)), id, "{text}");
        }
        assert_eq!(id_of(b""), "");
    }
}
