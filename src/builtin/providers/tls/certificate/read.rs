//! Certificates, read as strictly as Go reads them.

use super::algorithms::{public_key_algorithm, signature_algorithm};
use super::known_extensions::{Facts, check};
use crate::providers::failure::Failure;
use crate::providers::tls::der::read::Reader;
use crate::providers::tls::der::time::{DerTime, read_time};
use crate::providers::tls::der::{oid, tag};
use crate::providers::tls::keys::PublicKey;
use crate::providers::tls::name::{Name, Strictness};
use crate::providers::tls::pem;
use crate::providers::tls::x509_error::X509Error;

/// A certificate that was read.
#[derive(Clone, Debug)]
pub struct Certificate {
    pub der: Vec<u8>,
    /// 1 to 3.
    pub version: i64,
    /// The bytes of a number that is not negative.
    pub serial: Vec<u8>,
    pub signature_algorithm: &'static str,
    pub public_key_algorithm: &'static str,
    pub issuer: Name,
    pub subject: Name,
    pub subject_der: Vec<u8>,
    pub not_before: DerTime,
    pub not_after: DerTime,
    /// Unsupported, if it is not one of an algorithm that Go knows.
    pub key: PublicKey,
    pub is_ca: bool,
    /// -1 without one, 0 without basic constraints.
    pub max_path_length: i64,
    pub subject_key_id: Vec<u8>,
}

/// Reads `ca_cert_pem`.
pub fn parse_pem(text: &str) -> Result<Certificate, Failure> {
    let failure = |detail: String| Failure::new("Failed to parse CA certificate PEM", detail);
    let der = pem::decode_kind(text, pem::CERTIFICATE).map_err(|error| failure(error.to_string()))?;
    if der.is_empty() {
        return Err(failure("no certificates found".to_owned()));
    }
    let (certificate, rest) = parse(&der).map_err(|error| failure(format!("failed to parse certificate: {error}")))?;
    if !rest.is_empty() {
        return Err(failure("multiple certificates found in".to_owned()));
    }
    Ok(certificate)
}

/// Reads one certificate, with nothing behind it. The error is Go's.
pub fn parse_one(der: &[u8]) -> Result<Certificate, X509Error> {
    let (certificate, rest) = parse(der)?;
    if rest.is_empty() { Ok(certificate) } else { Err(X509Error::Rule("trailing data")) }
}

/// Reads the first certificate; gives what is behind it too.
fn parse(der: &[u8]) -> Result<(Certificate, &[u8]), X509Error> {
    const MALFORMED: X509Error = X509Error::Malformed("certificate");
    let mut input = Reader::new(der);
    let whole = input.element(tag::SEQUENCE).ok_or(MALFORMED)?;
    let mut outer = Reader::new(whole.contents);
    let mut tbs = outer.sequence().ok_or(X509Error::Malformed("tbs certificate"))?;
    let version = read_version(&mut tbs)?;
    let serial = tbs.integer().ok_or(X509Error::Malformed("serial number"))?;
    if serial.first().is_some_and(|byte| *byte >= 0x80) {
        return Err(X509Error::Rule("negative serial number"));
    }
    let inner_algorithm = tbs.contents(tag::SEQUENCE).ok_or(X509Error::Malformed("signature algorithm identifier"))?;
    let outer_algorithm = outer.contents(tag::SEQUENCE).ok_or(X509Error::Malformed("algorithm identifier"))?;
    if inner_algorithm != outer_algorithm {
        return Err(X509Error::Rule("inner and outer signature algorithm identifiers don't match"));
    }
    let signature_algorithm = signature_algorithm(inner_algorithm)?;
    let issuer = tbs.element(tag::SEQUENCE).ok_or(X509Error::Malformed("issuer"))?;
    let issuer = Name::from_der(issuer.whole, Strictness::Certificate)?;
    let mut validity = tbs.sequence().ok_or(X509Error::Malformed("validity"))?;
    let (not_before, not_after) = (time(&mut validity)?, time(&mut validity)?);
    let subject_der = tbs.element(tag::SEQUENCE).ok_or(X509Error::Malformed("issuer"))?.whole.to_vec();
    let subject = Name::from_der(&subject_der, Strictness::Certificate)?;
    let info = tbs.element(tag::SEQUENCE).ok_or(X509Error::Malformed("spki"))?.whole;
    let key = PublicKey::from_info(info)?;
    let facts = read_extensions(&mut tbs, version)?;
    outer.bit_string().ok_or(X509Error::Malformed("signature"))?;
    let certificate = Certificate {
        der: whole.whole.to_vec(),
        version,
        serial: serial.to_vec(),
        signature_algorithm,
        public_key_algorithm: public_key_algorithm(info),
        issuer,
        subject,
        subject_der,
        not_before,
        not_after,
        key,
        is_ca: facts.is_ca,
        max_path_length: facts.max_path_length,
        subject_key_id: facts.subject_key_id,
    };
    Ok((certificate, input.rest()))
}

fn time(validity: &mut Reader<'_>) -> Result<DerTime, X509Error> {
    read_time(validity).map_err(X509Error::Time)
}

/// Counted from one.
fn read_version(tbs: &mut Reader<'_>) -> Result<i64, X509Error> {
    const MALFORMED: X509Error = X509Error::Malformed("version");
    let explicit = tbs.optional(tag::context_constructed(0)).ok_or(MALFORMED)?;
    let version = match explicit {
        None => 0,
        Some(contents) => {
            let mut contents = Reader::new(contents);
            contents.small().filter(|version| *version >= 0 && contents.is_empty()).ok_or(MALFORMED)?
        }
    };
    if version > 2 { Err(X509Error::Invalid("version")) } else { Ok(version + 1) }
}

fn read_extensions(tbs: &mut Reader<'_>, version: i64) -> Result<Facts, X509Error> {
    const MALFORMED: X509Error = X509Error::Malformed("extensions");
    let mut facts = Facts::default();
    if version == 1 {
        return Ok(facts);
    }
    tbs.optional(tag::context(1)).ok_or(X509Error::Malformed("issuerUniqueID"))?;
    tbs.optional(tag::context(2)).ok_or(X509Error::Malformed("subjectUniqueID"))?;
    if version < 3 {
        return Ok(facts);
    }
    let Some(contents) = tbs.optional(tag::context_constructed(3)).ok_or(MALFORMED)? else { return Ok(facts) };
    let mut list = Reader::new(contents).sequence().ok_or(MALFORMED)?;
    let mut extensions: Vec<(Vec<u32>, bool, &[u8])> = Vec::new();
    while !list.is_empty() {
        let mut extension = list.sequence().ok_or(X509Error::Malformed("extension"))?;
        let oid = extension.object_identifier().ok_or(X509Error::Malformed("extension OID field"))?;
        let mut is_critical = false;
        if extension.is_next(tag::BOOLEAN) {
            is_critical = extension.boolean().ok_or(X509Error::Malformed("extension critical field"))?;
        }
        let value = extension.contents(tag::OCTET_STRING).ok_or(X509Error::Malformed("extension value field"))?;
        if extensions.iter().any(|other| other.0 == oid) {
            return Err(X509Error::DuplicateExtension(oid::dotted(&oid)));
        }
        extensions.push((oid, is_critical, value));
    }
    for (oid, is_critical, value) in extensions {
        check(&oid, is_critical, value, &mut facts)?;
    }
    Ok(facts)
}
