//! Certificates, issued by an authority or by their own key.

use super::extensions::{KeyIds, extensions};
use super::read::Certificate;
use super::template::Template;
use crate::providers::failure::Failure;
use crate::providers::tls::der::time::write_time;
use crate::providers::tls::der::{tag, write};
use crate::providers::tls::extension::Extension;
use crate::providers::tls::keys::random::random;
use crate::providers::tls::keys::{PrivateKey, PublicKey};
use crate::providers::tls::pem;
use crate::providers::tls::validity::Validity;
use crate::providers::tls::x509_error::X509Error;

/// The warning about an authority that is none: summary and detail.
pub const NOT_AN_AUTHORITY: (&str, &str) = (
    "Potentially Invalid Certificate Authority",
    "Certificate provided as Authority does not appear to be a valid Certificate Authority. \
     The resulting certificate might fail certificate validation.",
);

const FAILED: &str = "Failed to create certificate";

/// Who issues a certificate.
#[derive(Clone, Copy)]
pub enum Authority<'a> {
    /// The certificate's own key.
    Itself,
    Other(&'a Certificate),
}

/// A certificate that was issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    pub pem: String,
    /// The serial number in decimal digits.
    pub id: String,
    pub validity: Validity,
}

/// A serial number of 128 bits.
pub fn random_serial() -> Result<u128, Failure> {
    let bytes = random().map_err(|error| Failure::new("Failed to generate serial number", error))?;
    Ok(u128::from_be_bytes(bytes))
}

/// Issues a certificate with the authority's key.
pub fn issue(template: Template<'_>, authority: Authority<'_>, key: &PrivateKey) -> Result<Issued, Failure> {
    let unsigned = unsigned(template, authority, key)?;
    let der = key.sign_sequence(&unsigned).map_err(|detail| Failure::new(FAILED, detail))?;
    let pem = pem::encode(pem::CERTIFICATE, &der);
    Ok(Issued { pem, id: template.serial.to_string(), validity: template.validity })
}

/// The part that is signed: TBSCertificate.
pub fn unsigned(template: Template<'_>, authority: Authority<'_>, key: &PrivateKey) -> Result<Vec<u8>, Failure> {
    if template.options.is_ca && template.subject.is_blank() {
        return Err(Failure::new(
            "Invalid Certificate Subject",
            "Must contain at least one Distinguished Name when creating Certificate Authority (CA)",
        ));
    }
    let ids = key_ids(&template, authority)?;
    check(&template, authority, key).map_err(|detail| Failure::new(FAILED, detail))?;
    let extensions = extensions(&template, &ids).map_err(|detail| Failure::new(FAILED, detail))?;
    Ok(to_der(&template, authority, key, &extensions))
}

fn key_ids(template: &Template<'_>, authority: Authority<'_>) -> Result<KeyIds, Failure> {
    let mut subject = Vec::new();
    if template.options.is_ca || template.options.has_subject_key_id {
        let id = template.key.subject_key_id();
        subject = id.map_err(|detail| Failure::new("Failed to generate subject key identifier", detail))?;
    }
    let (issuer_id, has_other_name) = match authority {
        Authority::Itself => (&subject, false),
        Authority::Other(issuer) => (&issuer.subject_key_id, issuer.subject_der != template.subject.to_der()),
    };
    if template.options.has_authority_key_id && issuer_id.is_empty() {
        return Err(Failure::new("Invalid Certificate Authority", "Could not determine Authority Key Identifier"));
    }
    let has_authority = template.options.has_authority_key_id || has_other_name;
    let authority = if has_authority { issuer_id.clone() } else { Vec::new() };
    Ok(KeyIds { subject, authority })
}

/// What Go refuses to issue.
fn check(template: &Template<'_>, authority: Authority<'_>, key: &PrivateKey) -> Result<(), X509Error> {
    if !template.options.is_ca && template.options.path_length().is_some() {
        return Err(X509Error::Rule("only CAs are allowed to specify MaxPathLen"));
    }
    if let PublicKey::Unsupported(name) = template.key {
        return Err(X509Error::UnsupportedKey(name));
    }
    match authority {
        Authority::Other(issuer) if is_other_key(&issuer.key, &key.public()) => {
            Err(X509Error::Rule("provided PrivateKey doesn't match parent's PublicKey"))
        }
        _ => Ok(()),
    }
}

/// Whether the keys differ. Keys of unknown algorithms cannot be compared.
fn is_other_key(one: &PublicKey, other: &PublicKey) -> bool {
    *one != PublicKey::Unsupported("<nil>") && one != other
}

fn to_der(template: &Template<'_>, authority: Authority<'_>, key: &PrivateKey, extensions: &[Extension]) -> Vec<u8> {
    let subject = template.subject.to_der();
    let issuer = match authority {
        Authority::Itself => &subject,
        Authority::Other(issuer) => &issuer.subject_der,
    };
    let validity = [write_time(template.validity.start), write_time(template.validity.end)];
    let extensions: Vec<u8> = extensions.iter().flat_map(Extension::to_der).collect();
    write::sequence(&[
        // Version 3.
        &write::element(tag::context_constructed(0), &write::small(2)),
        &write::unsigned(&template.serial.to_be_bytes()),
        &key.signature_algorithm(),
        issuer,
        &write::sequence(&[&validity.concat()]),
        &subject,
        &template.key.info(),
        &write::element(tag::context_constructed(3), &write::sequence(&[&extensions])),
    ])
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::recorded::{expected_unsigned, names, options, subject, validity};
    use super::*;
    use crate::providers::tls::certificate::read::parse_pem;
    use crate::providers::tls::golden::{bytes, cases, key, text};
    use crate::providers::tls::request;

    #[test]
    fn certificates_are_those_of_go() {
        // Values of names that are times are not checked.
        let is_checked = |case: &Value| !text(case, "error").contains("parsing time");
        for case in cases("certificates.json").into_iter().filter(is_checked) {
            let key = key(text(&case, "key"));
            let authority = text(&case, "authority_pem");
            let authority = (!authority.is_empty()).then(|| parse_pem(authority).expect("authority"));
            let (subject, names, public) = match &authority {
                None => (subject(&case), names(&case), key.public()),
                Some(_) => match request::parse_pem(text(&case, "request_pem")) {
                    Ok(request) => (request.subject, request.names, request.key),
                    Err(failure) => {
                        let context = "failed to parse certificate request: ";
                        assert!(failure.detail.starts_with(context), "{failure:?}");
                        assert!(text(&case, "error").starts_with(context), "{failure:?} {case}");
                        continue;
                    }
                },
            };
            let serial = u128::from_str_radix(text(&case, "serial"), 16).expect("number");
            let (options, validity) = (options(&case), validity(&case));
            let (subject, names, public) = (&subject, &names, &public);
            let template = Template { subject, names, key: public, validity, serial, options: &options };
            let authority = authority.as_ref().map_or(Authority::Itself, Authority::Other);
            let made = unsigned(template, authority, &key).map_err(|failure| failure.detail);
            assert_eq!(made.clone().err().unwrap_or_default(), text(&case, "error"), "{case}");
            assert_eq!(made.unwrap_or_default(), expected_unsigned(&case), "{case}");
            if text(&case, "error").is_empty() && key.algorithm().name() != "ECDSA" {
                let issued = issue(template, authority, &key).expect("certificate");
                assert_eq!(issued.pem, pem::encode(pem::CERTIFICATE, &bytes(text(&case, "whole"))));
                assert_eq!(issued.id, serial.to_string());
            }
        }
    }

    #[test]
    fn serial_numbers_differ() {
        assert_ne!(random_serial(), random_serial());
    }
}
