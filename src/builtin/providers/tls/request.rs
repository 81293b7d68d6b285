//! Certificate requests: PKCS #10.

use crate::providers::failure::Failure;
use crate::providers::tls::alternative_names::AlternativeNames;
use crate::providers::tls::der::read::Reader;
use crate::providers::tls::der::{oid, tag, write};
use crate::providers::tls::extension::Extension;
use crate::providers::tls::keys::public::id_of;
use crate::providers::tls::keys::{PrivateKey, PublicKey};
use crate::providers::tls::name::{Name, Strictness};
use crate::providers::tls::pem;
use crate::providers::tls::x509_error::X509Error;

/// A request that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeRequest {
    pub pem: String,
    pub id: String,
}

/// Makes a request that is signed by its own key.
pub fn create(subject: &Name, names: &AlternativeNames, key: &PrivateKey) -> Result<MadeRequest, Failure> {
    const FAILED: &str = "Error creating certificate request";
    let unsigned = unsigned(subject, names, &key.public()).map_err(|error| Failure::new(FAILED, error))?;
    let der = key.sign_sequence(&unsigned).map_err(|error| Failure::new(FAILED, error))?;
    Ok(MadeRequest { id: id_of(&der), pem: pem::encode(pem::CERTIFICATE_REQUEST, &der) })
}

/// The part that is signed: CertificationRequestInfo.
pub fn unsigned(subject: &Name, names: &AlternativeNames, key: &PublicKey) -> Result<Vec<u8>, X509Error> {
    let mut attributes = Vec::new();
    if !names.is_empty() {
        let extension = Extension { oid: oid::SUBJECT_ALT_NAME, is_critical: false, value: names.to_der()? };
        let extensions = write::sequence(&[&extension.to_der()]);
        let request = write::object_identifier(oid::EXTENSION_REQUEST);
        attributes = write::sequence(&[&request, &write::set_of(vec![extensions])]);
    }
    let attributes = write::element(tag::context_constructed(0), &attributes);
    Ok(write::sequence(&[&write::small(0), &subject.to_der(), &key.info(), &attributes]))
}

/// A request that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateRequest {
    pub subject: Name,
    pub names: AlternativeNames,
    pub key: PublicKey,
}

/// Reads `cert_request_pem`. Its signature is not verified, as the reference does not.
pub fn parse_pem(text: &str) -> Result<CertificateRequest, Failure> {
    let failure = |detail: String| Failure::new("Failed to parse certificate request PEM", detail);
    let der = pem::decode_kind(text, pem::CERTIFICATE_REQUEST).map_err(|error| failure(error.to_string()))?;
    parse(&der).map_err(|error| failure(format!("failed to parse certificate request: {error}")))
}

struct RequestParts<'a> {
    subject: &'a [u8],
    key: &'a [u8],
    attributes: Reader<'a>,
}

fn split_request(der: &[u8]) -> Option<RequestParts<'_>> {
    let mut outer = Reader::new(der);
    let mut request = outer.sequence()?;
    let mut info = request.sequence()?;
    info.small()?;
    let subject = info.any()?.whole;
    let key = info.element(tag::SEQUENCE)?.whole;
    let attributes = Reader::new(info.contents(tag::context_constructed(0))?);
    let mut algorithm = request.sequence()?;
    algorithm.object_identifier()?;
    request.bit_string()?;
    outer.is_empty().then_some(RequestParts { subject, key, attributes })
}

fn parse(der: &[u8]) -> Result<CertificateRequest, X509Error> {
    let RequestParts { subject, key, attributes } =
        split_request(der).ok_or(X509Error::Structure("this is no certificate request"))?;
    let key = PublicKey::from_info(key)?;
    let subject = Name::from_der(subject, Strictness::Request)?;
    let mut names = AlternativeNames::default();
    for extension in requested_extensions(attributes)? {
        if extension.0 == oid::SUBJECT_ALT_NAME {
            names = AlternativeNames::from_der(extension.1)?;
        }
    }
    Ok(CertificateRequest { subject, names, key })
}

type RawExtension<'a> = (Vec<u32>, &'a [u8]);

/// The extensions that a request asks for: identifiers and values. Attributes that cannot be read are ignored.
fn requested_extensions(mut attributes: Reader<'_>) -> Result<Vec<RawExtension<'_>>, X509Error> {
    let mut out: Vec<RawExtension<'_>> = Vec::new();
    while !attributes.is_empty() {
        let attribute = attributes.any().ok_or(X509Error::Structure("invalid attributes"))?;
        let Some(values) = extension_request(attribute.whole) else { continue };
        for extension in extensions(values).ok_or(X509Error::Structure("invalid extensions"))? {
            if out.iter().any(|other| other.0 == extension.0) {
                return Err(X509Error::Rule("certificate request contains duplicate requested extensions"));
            }
            out.push(extension);
        }
    }
    Ok(out)
}

/// The first value of an attribute that asks for extensions.
fn extension_request(attribute: &[u8]) -> Option<&[u8]> {
    let mut attribute = Reader::new(attribute).sequence()?;
    let oid = attribute.object_identifier()?;
    let mut values = Reader::new(attribute.contents(tag::SET)?);
    let value = values.any()?;
    (oid == oid::EXTENSION_REQUEST).then_some(value.whole)
}

fn extensions(der: &[u8]) -> Option<Vec<RawExtension<'_>>> {
    let mut list = Reader::new(der).sequence()?;
    let mut out = Vec::new();
    while !list.is_empty() {
        let mut extension = list.sequence()?;
        let oid = extension.object_identifier()?;
        if extension.is_next(tag::BOOLEAN) {
            extension.boolean()?;
        }
        out.push((oid, extension.contents(tag::OCTET_STRING)?));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::tls::certificate::recorded::{expected_unsigned, names, subject};
    use crate::providers::tls::golden::{bytes, cases, key, text};

    #[test]
    fn requests_are_those_of_go() {
        for case in cases("requests.json") {
            let key = key(text(&case, "key"));
            let made = unsigned(&subject(&case), &names(&case), &key.public());
            assert_eq!(made.clone().unwrap_or_default(), expected_unsigned(&case), "{case}");
            assert_eq!(made.err().map(|error| error.to_string()).unwrap_or_default(), text(&case, "error"));
            // The signatures of ECDSA are random.
            if text(&case, "error").is_empty() && key.algorithm().name() != "ECDSA" {
                let expected = bytes(text(&case, "whole"));
                let made = create(&subject(&case), &names(&case), &key).expect("request");
                assert_eq!(made.pem, pem::encode(pem::CERTIFICATE_REQUEST, &expected));
                assert_eq!(made.id, id_of(&expected));
            }
        }
    }

    #[test]
    fn other_pems_are_refused() {
        let detail = |text: &str| parse_pem(text).expect_err("no request").detail;
        assert_eq!(detail("x"), "failed to decode PEM of expected type \"CERTIFICATE REQUEST\" from bytes");
        let other = pem::encode("NEW CERTIFICATE REQUEST", b"x");
        assert_eq!(
            detail(&other),
            "invalid PEM type - expected \"CERTIFICATE REQUEST\", got \"NEW CERTIFICATE REQUEST\""
        );
    }
}
