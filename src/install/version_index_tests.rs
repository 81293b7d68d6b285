//! Tests of the index of versions, with keys made for them.

use std::time::Duration;

use sequoia_openpgp::Packet;
use sequoia_openpgp::cert::{Cert, CertBuilder, CipherSuite};
use sequoia_openpgp::packet::signature::SignatureBuilder;
use sequoia_openpgp::serialize::SerializeInto;
use sequoia_openpgp::types::{HashAlgorithm, KeyFlags, SignatureType};
use serde_json::{Value as Json, json};

use super::*;
use crate::authenticate::error::{KeyringError, SignatureProblem};

const DAY: Duration = Duration::from_secs(86_400);

fn builder() -> CertBuilder<'static> {
    let flags = KeyFlags::empty().set_signing().set_certification();
    let named = CertBuilder::new().add_userid("Releases <releases@example.com>");
    let made = SystemTime::now() - DAY * 100;
    named.set_primary_key_flags(flags).set_cipher_suite(CipherSuite::Cv25519).set_creation_time(made)
}

fn key() -> Cert {
    builder().generate().unwrap().0
}

fn armored(cert: &Cert) -> String {
    String::from_utf8(cert.armored().to_vec().unwrap()).unwrap()
}

fn sign(cert: &Cert, document: &[u8]) -> Vec<u8> {
    let mut signer = cert.primary_key().key().clone().parts_into_secret().unwrap().into_keypair().unwrap();
    let builder = SignatureBuilder::new(SignatureType::Binary).set_hash_algo(HashAlgorithm::SHA512);
    let signature = builder.sign_message(&mut signer, document).unwrap();
    Packet::from(signature).to_vec().unwrap()
}

/// An index with four versions, of which the first is a prerelease and the second withdrawn.
fn sound() -> Json {
    let file = json!({"name": "terrane_0.3.0_linux_amd64.tar.gz", "target": "linux_amd64", "sha256": "00", "size": 1});
    json!({
        "format_version": "1.0",
        "generated": "2026-05-01T10:00:00Z",
        "expires": "2200-01-01T00:00:00Z",
        "serial": 12,
        "versions": [
            {"version": "0.5.0-rc1", "date": "2026-08-01", "prerelease": false, "files": [file]},
            {"version": "0.4.0", "date": "2026-07-01", "prerelease": false, "withdrawn": "It loses states.", "files": []},
            {"version": "0.3.0", "date": "2026-06-01", "prerelease": false, "files": []},
            {"version": "0.10.0", "date": "2026-09-01", "prerelease": true, "files": []},
        ],
    })
}

/// What is made of an index that this key has signed.
fn opened(cert: &Cert, document: &[u8]) -> Result<VersionIndex, IndexError> {
    VersionIndex::open(document, &sign(cert, document), &armored(cert), SystemTime::now())
}

/// The same of a sound index with a change.
fn changed(cert: &Cert, change: impl FnOnce(&mut Json)) -> Result<VersionIndex, IndexError> {
    let mut document = sound();
    change(&mut document);
    opened(cert, document.to_string().as_bytes())
}

#[test]
fn newest_release_is_neither_withdrawn_nor_a_prerelease() {
    let cert = key();
    let index = opened(&cert, sound().to_string().as_bytes()).unwrap();
    assert_eq!((index.serial, &index.key_id, index.releases.len()), (12, &cert.keyid().to_hex(), 4));
    let newest = index.newest().unwrap();
    assert_eq!((newest.version.to_string().as_str(), newest.date.as_str()), ("0.3.0", "2026-06-01"));
    let release = |text: &str| index.release(&Version::parse_exact(text).unwrap());
    assert_eq!(release("0.4.0").unwrap().withdrawn.as_deref(), Some("It loses states."));
    assert!(release("0.5.0-rc1").unwrap().prerelease && release("0.5.0").is_none());
    // By number, not by place or by letters.
    let index = changed(&cert, |index| index["versions"][3]["prerelease"] = false.into()).unwrap();
    assert_eq!(index.newest().unwrap().version, Version::new(0, 10, 0));
    let index = changed(&cert, |index| index["versions"][2]["withdrawn"] = "".into()).unwrap();
    assert_eq!(index.newest(), None);
}

#[test]
fn invalid_indexes_have_separate_errors() {
    let cert = key();
    let member = |name, value: &str| IndexError::Member { name, value: value.to_owned() };
    let cases = [
        ("format_version", json!("2.0"), IndexError::FormatVersion("2.0".to_owned())),
        ("format_version", json!("10.0"), IndexError::FormatVersion("10.0".to_owned())),
        ("format_version", json!(""), IndexError::FormatVersion(String::new())),
        ("expires", json!("2020-01-01T00:00:00Z"), IndexError::Stale("2020-01-01T00:00:00Z".to_owned())),
        ("expires", json!("tomorrow"), member("expires", "tomorrow")),
        ("versions", json!([]), IndexError::Empty),
        ("versions", json!([{"version": "0.3", "date": "2026-06-01"}]), member("version", "0.3")),
        ("versions", json!([{"version": "../0.3.0", "date": "2026-06-01"}]), member("version", "../0.3.0")),
        ("versions", json!([{"version": "0.3.0", "date": "\u{1b}[2J"}]), member("date", "\u{1b}[2J")),
    ];
    for (name, value, expected) in cases {
        let found = changed(&cert, |index| index[name] = value.clone());
        assert_eq!(found, Err(expected), "{name}: {value}");
    }
    for (name, value) in
        [("serial", json!(-1)), ("serial", json!("12")), ("versions", json!({})), ("expires", json!(1))]
    {
        let found = changed(&cert, |index| index[name] = value.clone());
        assert!(matches!(found, Err(IndexError::Form(BodyError::Form(_)))), "{name}: {value}: {found:?}");
    }
    let form = |problem| Err(IndexError::Form(problem));
    assert_eq!(opened(&cert, b""), form(BodyError::Empty));
    assert_eq!(opened(&cert, b"<html>Not found</html>"), form(BodyError::Start('<')));
    assert_eq!(opened(&cert, b"[]"), form(BodyError::NotAnObject));
    assert!(matches!(opened(&cert, b"{}"), Err(IndexError::Form(BodyError::Form(_)))));
}

#[test]
fn later_minor_formats_and_unknown_members_are_accepted() {
    let cert = key();
    let index = changed(&cert, |index| {
        index["format_version"] = "1.7".into();
        index["signed_by"] = json!({"name": "x"});
        index["versions"][0]["notes"] = "y".into();
        index["versions"][1]["withdrawn"] = Json::Null;
    });
    assert_eq!(index.unwrap().newest().unwrap().version, Version::new(0, 4, 0));
}

#[test]
fn only_the_trusted_key_can_sign() {
    let (good, other) = (key(), key());
    let document = sound().to_string().into_bytes();
    let signature = sign(&good, &document);
    let open = |document: &[u8], signature: &[u8], keys: &str| {
        VersionIndex::open(document, signature, keys, SystemTime::now()).map(|index| index.key_id)
    };
    let refused = |problem| Err(IndexError::Authentication(problem));
    let bad = |problem| refused(AuthenticationError::Signature(problem));
    assert_eq!(open(&document, &signature, &armored(&good)), Ok(good.keyid().to_hex()));
    assert_eq!(open(&document, &signature, &armored(&other)), refused(AuthenticationError::UnknownIssuer));
    assert_eq!(open(&document, b"", &armored(&good)), refused(AuthenticationError::UnknownIssuer));
    let tampered = [&document[..], b" "].concat();
    let failed = SignatureProblem::Bad("EdDSA verification failure".to_owned());
    assert_eq!(open(&tampered, &signature, &armored(&good)), bad(failed));
    assert_eq!(open(&document, &signature[..signature.len() / 2], &armored(&good)), bad(SignatureProblem::Truncated));
    let no_signature = SignatureProblem::Malformed("tag byte does not have MSB set".to_owned());
    assert_eq!(open(&document, b"<html></html>", &armored(&good)), bad(no_signature));
    let no_key = refused(AuthenticationError::SigningKey(KeyringError::NotArmored));
    assert_eq!(open(&document, &signature, "no key"), no_key);
    // The form is not looked at before the signature is good.
    assert_eq!(open(b"{", &sign(&other, b"{"), &armored(&good)), refused(AuthenticationError::UnknownIssuer));

    let expired = builder().set_validity_period(DAY * 10).generate().unwrap().0;
    assert_eq!(open(&document, &sign(&expired, &document), &armored(&expired)), bad(SignatureProblem::KeyExpired));
}

#[test]
fn older_indexes_are_refused() {
    let index = opened(&key(), sound().to_string().as_bytes()).unwrap();
    for seen in [None, Some(0), Some(11), Some(12)] {
        assert_eq!(index.check_serial(seen), Ok(()), "{seen:?}");
    }
    assert_eq!(index.check_serial(Some(13)), Err(IndexError::Older { serial: 12, seen: 13 }));
}
