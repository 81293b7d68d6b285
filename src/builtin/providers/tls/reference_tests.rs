//! Compares with what the real provider made: `testdata/reference/record.py` records it.
//!
//! Serial numbers and times are taken from its certificates. Signatures of ECDSA are random, and not compared.

use gotext::pem;
use jiff::Timestamp;
use jiff::tz::Offset;
use serde_json::Value;

use super::certificate::issue::unsigned;
use super::certificate::read::parse_pem;
use super::certificate::recorded::{names, subject};
use super::certificate::{Authority, Options, Template, describe, issue};
use super::golden::{cases, key, text, texts};
use super::keys::PrivateKey;
use super::keys::parse::parse_for_public;
use super::name::Name;
use super::request;
use super::validity::{Validity, time_text};

/// The records of a type, in their order.
fn records(kind: &str) -> Vec<Value> {
    cases("reference.json").into_iter().filter(|record| record["type"] == kind).collect()
}

fn options(case: &Value) -> Options {
    Options {
        allowed_uses: texts(case, "allowed_uses"),
        is_ca: case["is_ca_certificate"] == true,
        max_path_length: case["max_path_length"].as_i64(),
        has_subject_key_id: case["set_subject_key_id"] == true,
        has_authority_key_id: case["set_authority_key_id"] == true,
    }
}

/// The time zone in which the records were made.
fn recorded_offset() -> Offset {
    Offset::from_seconds(5 * 3600 + 45 * 60).expect("offset")
}

fn validity(record: &Value) -> Validity {
    let start: Timestamp = text(&record["is"], "validity_start_time").parse().expect("time");
    let validity =
        Validity::new(start, record["case"]["validity_period_hours"].as_i64().expect("hours")).expect("times");
    assert_eq!(time_text(validity.start, recorded_offset()), text(&record["is"], "validity_start_time"));
    assert_eq!(time_text(validity.end, recorded_offset()), text(&record["is"], "validity_end_time"));
    validity
}

fn check_certificate(record: &Value, template: Template<'_>, authority: Authority<'_>, key: &PrivateKey) {
    let expected = text(&record["is"], "cert_pem");
    let made = unsigned(template, authority, key).expect("certificate");
    let der = pem::decode(expected).expect("PEM").contents;
    let start = der.len().min(4);
    assert!(der[start..].starts_with(&made), "{record}");
    if key.algorithm().name() != "ECDSA" {
        let issued = issue::issue(template, authority, key).expect("certificate");
        assert_eq!((issued.pem.as_str(), issued.id.as_str()), (expected, text(&record["is"], "id")));
    }
}

#[test]
fn requests_are_those_of_the_provider() {
    for record in records("tls_cert_request") {
        let (case, is) = (&record["case"], &record["is"]);
        let key = key(text(case, "key"));
        assert_eq!(key.algorithm().name(), text(is, "key_algorithm"));
        let subject = if case["subject"].is_null() { Name::blank() } else { subject(case) };
        let made = request::create(&subject, &names(case), &key).expect("request");
        if key.algorithm().name() != "ECDSA" {
            assert_eq!((made.pem.as_str(), made.id.as_str()), (text(is, "cert_request_pem"), text(is, "id")));
        }
    }
}

#[test]
fn self_signed_certificates_are_those_of_the_provider() {
    for record in records("tls_self_signed_cert") {
        let case = &record["case"];
        let key = key(text(case, "key"));
        let (subject, names, options, public) = (subject(case), names(case), options(case), key.public());
        let serial = text(&record["is"], "id").parse().expect("number");
        let validity = validity(&record);
        let template = Template { subject: &subject, names: &names, key: &public, validity, serial, options: &options };
        check_certificate(&record, template, Authority::Itself, &key);
    }
}

#[test]
fn locally_signed_certificates_are_those_of_the_provider() {
    let (requests, authorities) = (records("tls_cert_request"), records("tls_self_signed_cert"));
    for record in records("tls_locally_signed_cert") {
        let case = &record["case"];
        let at = |field: &str| case[field].as_u64().expect("index") as usize;
        let request = text(&requests[at("request")]["is"], "cert_request_pem");
        let request = request::parse_pem(request).expect("request");
        let authority = parse_pem(text(&authorities[at("authority")]["is"], "cert_pem")).expect("authority");
        let options = options(case);
        let template = Template {
            subject: &request.subject,
            names: &request.names,
            key: &request.key,
            validity: validity(&record),
            serial: text(&record["is"], "id").parse().expect("number"),
            options: &options,
        };
        check_certificate(&record, template, Authority::Other(&authority), &key(text(case, "key")));
    }
}

#[test]
fn public_keys_are_those_of_the_provider() {
    for record in records("tls_public_key") {
        let (case, is) = (&record["case"], &record["is"]);
        let key = parse_for_public(case["private_key_pem"].as_str(), case["private_key_openssh"].as_str());
        let key = key.expect("key");
        assert_eq!(key.algorithm().name(), text(is, "algorithm"));
        let texts = key.public().texts();
        let made = [texts.pem, texts.openssh, texts.fingerprint_md5, texts.fingerprint_sha256, texts.id];
        let fields =
            ["pem", "openssh", "fingerprint_md5", "fingerprint_sha256"].map(|field| format!("public_key_{field}"));
        let expected: Vec<_> = fields.iter().map(String::as_str).chain(["id"]).map(|field| text(is, field)).collect();
        assert_eq!(made.each_ref().map(String::as_str)[..], expected[..]);
    }
}

#[test]
fn descriptions_are_those_of_the_provider() {
    for record in records("tls_certificate") {
        let expected = &record["is"]["certificates"][0];
        let described = describe::describe_content(text(expected, "cert_pem")).expect("certificate");
        assert_eq!(described.issuer, text(expected, "issuer"));
        assert_eq!(described.subject, text(expected, "subject"));
        assert_eq!(described.not_after, text(expected, "not_after"));
        assert_eq!(described.serial_number, text(expected, "serial_number"));
        assert_eq!(described.max_path_length, expected["max_path_length"]);
        assert_eq!(described.signature_algorithm, text(expected, "signature_algorithm"));
        assert_eq!(describe::id(&[described]), text(&record["is"], "id"));
    }
}
