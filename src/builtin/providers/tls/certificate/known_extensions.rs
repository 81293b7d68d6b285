//! Extensions of certificates that are read: Go refuses a certificate if one that it knows is malformed.

use crate::providers::tls::alternative_names::AlternativeNames;
use crate::providers::tls::der::oid::{self, Oid};
use crate::providers::tls::der::read::Reader;
use crate::providers::tls::der::tag;
use crate::providers::tls::x509_error::X509Error;

/// What extensions say that matters here.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub is_ca: bool,
    pub max_path_length: i64,
    pub subject_key_id: Vec<u8>,
}

/// Checks an extension and notes what it says. Unknown ones pass. Of name constraints only the outer form is checked.
pub fn check(oid: &Oid, is_critical: bool, value: &[u8], facts: &mut Facts) -> Result<(), X509Error> {
    let mut value = Reader::new(value);
    let never_critical = |name: &'static str| match is_critical {
        true => Err(X509Error::Critical(name)),
        false => Ok(()),
    };
    match oid {
        oid::KEY_USAGE => value.bit_string().map(drop).ok_or(X509Error::Invalid("key usage")),
        oid::BASIC_CONSTRAINTS => basic_constraints(&mut value, facts).ok_or(X509Error::Invalid("basic constraints")),
        oid::SUBJECT_ALT_NAME => AlternativeNames::from_der(value.rest()).map(drop),
        oid::SUBJECT_KEY_ID => {
            never_critical("subject key identifier")?;
            let id = value.contents(tag::OCTET_STRING).ok_or(X509Error::Invalid("subject key identifier"))?;
            facts.subject_key_id = id.to_vec();
            Ok(())
        }
        oid::AUTHORITY_KEY_ID => {
            never_critical("authority key identifier")?;
            authority_key_id(&mut value).ok_or(X509Error::Invalid("authority key identifier"))
        }
        oid::EXTENDED_KEY_USAGE => identifiers(&mut value).ok_or(X509Error::Invalid("extended key usages")),
        oid::CERTIFICATE_POLICIES => policies(&mut value),
        oid::CRL_DISTRIBUTION_POINTS => distribution_points(&mut value),
        oid::NAME_CONSTRAINTS => value.sequence().map(drop).ok_or(X509Error::Invalid("NameConstraints extension")),
        oid::AUTHORITY_INFO_ACCESS => {
            never_critical("authority info access")?;
            access_descriptions(&mut value).ok_or(X509Error::Invalid("authority info access"))
        }
        _ => Ok(()),
    }
}

fn basic_constraints(value: &mut Reader<'_>, facts: &mut Facts) -> Option<()> {
    let mut constraints = value.sequence()?;
    if constraints.is_next(tag::BOOLEAN) {
        facts.is_ca = constraints.boolean()?;
    }
    facts.max_path_length = -1;
    if constraints.is_next(tag::INTEGER) {
        facts.max_path_length = constraints.small().filter(|length| *length >= 0)?;
    }
    Some(())
}

fn authority_key_id(value: &mut Reader<'_>) -> Option<()> {
    value.sequence()?.optional(tag::context(0)).map(drop)
}

fn identifiers(value: &mut Reader<'_>) -> Option<()> {
    let mut list = value.sequence()?;
    while !list.is_empty() {
        list.object_identifier()?;
    }
    Some(())
}

fn policies(value: &mut Reader<'_>) -> Result<(), X509Error> {
    const INVALID: X509Error = X509Error::Invalid("certificate policies");
    let mut list = value.sequence().ok_or(INVALID)?;
    let mut seen = Vec::new();
    while !list.is_empty() {
        let mut policy = list.sequence().ok_or(INVALID)?;
        let oid = policy.contents(tag::OBJECT_IDENTIFIER).ok_or(INVALID)?;
        if seen.contains(&oid) {
            return Err(INVALID);
        }
        seen.push(oid);
    }
    Ok(())
}

fn distribution_points(value: &mut Reader<'_>) -> Result<(), X509Error> {
    const INVALID: X509Error = X509Error::Invalid("CRL distribution point");
    let mut list = value.sequence().ok_or(X509Error::Invalid("CRL distribution points"))?;
    while !list.is_empty() {
        let mut point = list.sequence().ok_or(INVALID)?;
        let Some(name) = point.optional(tag::context_constructed(0)).ok_or(INVALID)? else { continue };
        let mut full = Reader::new(name).contents(tag::context_constructed(0)).map(Reader::new).ok_or(INVALID)?;
        while full.is_next(tag::context(6)) {
            full.any().ok_or(INVALID)?;
        }
    }
    Ok(())
}

fn access_descriptions(value: &mut Reader<'_>) -> Option<()> {
    let mut list = value.sequence()?;
    while !list.is_empty() {
        let mut description = list.sequence()?;
        description.object_identifier()?;
        if description.is_next(tag::context(6)) {
            description.any()?;
        }
    }
    Some(())
}
