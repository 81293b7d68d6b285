//! The extensions of a certificate that is issued, in Go's order.

use super::template::Template;
use crate::providers::tls::der::{oid, tag, write};
use crate::providers::tls::extension::Extension;
use crate::providers::tls::uses;
use crate::providers::tls::x509_error::X509Error;

/// The identifiers of keys; empty ones are left out.
pub struct KeyIds {
    pub subject: Vec<u8>,
    pub authority: Vec<u8>,
}

/// The extensions of a certificate. The error is Go's.
pub fn extensions(template: &Template<'_>, ids: &KeyIds) -> Result<Vec<Extension>, X509Error> {
    let mut out = Vec::new();
    let mut add = |oid, is_critical, value| out.push(Extension { oid, is_critical, value });
    let options = template.options;
    if let Some(value) = uses::key_usage(&options.allowed_uses) {
        add(oid::KEY_USAGE, true, value);
    }
    if let Some(value) = uses::extended_key_usage(&options.allowed_uses) {
        add(oid::EXTENDED_KEY_USAGE, false, value);
    }
    add(oid::BASIC_CONSTRAINTS, true, basic_constraints(options.is_ca, options.path_length()));
    if !ids.subject.is_empty() {
        add(oid::SUBJECT_KEY_ID, false, write::octet_string(&ids.subject));
    }
    if !ids.authority.is_empty() {
        let id = write::element(tag::context(0), &ids.authority);
        add(oid::AUTHORITY_KEY_ID, false, write::sequence(&[&id]));
    }
    if !template.names.is_empty() {
        // Names are critical if the subject says nothing.
        let has_subject = template.subject.to_der() != write::sequence(&[]);
        add(oid::SUBJECT_ALT_NAME, !has_subject, template.names.to_der()?);
    }
    Ok(out)
}

fn basic_constraints(is_ca: bool, path_length: Option<u64>) -> Vec<u8> {
    let ca = if is_ca { write::boolean(true) } else { Vec::new() };
    write::sequence(&[&ca, &path_length.map(write::small).unwrap_or_default()])
}
