//! Go's names of algorithms of keys and signatures.

use crate::providers::tls::der::oid::{self, Oid};
use crate::providers::tls::der::read::Reader;
use crate::providers::tls::der::write;
use crate::providers::tls::x509_error::X509Error;

/// The name of an algorithm that is not known.
const UNKNOWN: &str = "0";

const SIGNATURES: [(&Oid, &str); 12] = [
    (oid::RSA_MD5, "MD5-RSA"),
    (oid::RSA_SHA1, "SHA1-RSA"),
    (oid::ISO_RSA_SHA1, "SHA1-RSA"),
    (oid::RSA_SHA256, "SHA256-RSA"),
    (oid::RSA_SHA384, "SHA384-RSA"),
    (oid::RSA_SHA512, "SHA512-RSA"),
    (oid::DSA_SHA1, "DSA-SHA1"),
    (oid::DSA_SHA256, "DSA-SHA256"),
    (oid::ECDSA_SHA1, "ECDSA-SHA1"),
    (oid::ECDSA_SHA256, "ECDSA-SHA256"),
    (oid::ECDSA_SHA384, "ECDSA-SHA384"),
    (oid::ECDSA_SHA512, "ECDSA-SHA512"),
];

/// The name of a signature's algorithm, from the contents of its identifier. The error is Go's.
pub fn signature_algorithm(contents: &[u8]) -> Result<&'static str, X509Error> {
    let mut identifier = Reader::new(contents);
    let oid = identifier.object_identifier().ok_or(X509Error::Malformed("OID"))?;
    let parameters = match identifier.is_empty() {
        true => &[][..],
        false => identifier.any().ok_or(X509Error::Malformed("parameters"))?.whole,
    };
    Ok(match &oid[..] {
        oid::ED25519 if parameters.is_empty() => "Ed25519",
        oid::RSA_PSS => pss_algorithm(parameters).unwrap_or(UNKNOWN),
        other => SIGNATURES.iter().find(|(oid, _)| *oid == other).map_or(UNKNOWN, |(_, name)| name),
    })
}

/// PSS with the usual parameters: one hash for everything, and a salt of its length.
fn pss_algorithm(parameters: &[u8]) -> Option<&'static str> {
    let mut parameters = Reader::new(parameters).sequence()?;
    let mut explicit =
        |number| parameters.contents(crate::providers::tls::der::tag::context_constructed(number)).map(Reader::new);
    let (hash, _) = hash_identifier(&mut explicit(0)?)?;
    let mut generator = explicit(1)?.sequence()?;
    let is_mgf1 = generator.object_identifier()? == oid::MGF1;
    let (generator_hash, has_null) = hash_identifier(&mut generator)?;
    let salt = explicit(2)?.small()?;
    if !is_mgf1 || hash != generator_hash || !has_null {
        return None;
    }
    match (&hash[..], salt) {
        (oid::SHA256, 32) => Some("SHA256-RSAPSS"),
        (oid::SHA384, 48) => Some("SHA384-RSAPSS"),
        (oid::SHA512, 64) => Some("SHA512-RSAPSS"),
        _ => None,
    }
}

/// The identifier of a hash, and whether its parameters are NULL, not missing.
fn hash_identifier(reader: &mut Reader<'_>) -> Option<(Vec<u32>, bool)> {
    let mut identifier = reader.sequence()?;
    let oid = identifier.object_identifier()?;
    let has_null = identifier.rest() == write::null();
    (has_null || identifier.is_empty()).then_some((oid, has_null))
}

/// The name of a key's algorithm, from SubjectPublicKeyInfo.
pub fn public_key_algorithm(info: &[u8]) -> &'static str {
    let oid = || Reader::new(info).sequence()?.sequence()?.object_identifier();
    match oid().as_deref() {
        Some(oid::RSA_ENCRYPTION) => "RSA",
        Some(oid::DSA) => "DSA",
        Some(oid::EC_PUBLIC_KEY) => "ECDSA",
        Some(oid::ED25519) => "Ed25519",
        _ => UNKNOWN,
    }
}
