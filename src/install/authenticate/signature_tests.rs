//! Tests of signatures, with keys made for them: good ones, and every way in which one is not.

use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use sequoia_openpgp::armor::{self, Kind};
use sequoia_openpgp::cert::{Cert, CertBuilder, CertRevocationBuilder, CipherSuite, SubkeyRevocationBuilder};
use sequoia_openpgp::packet::signature::SignatureBuilder;
use sequoia_openpgp::packet::signature::subpacket::NotationDataFlags;
use sequoia_openpgp::parse::Parse;
use sequoia_openpgp::serialize::{Serialize, SerializeInto};
use sequoia_openpgp::types::{HashAlgorithm, KeyFlags, ReasonForRevocation, SignatureType};
use sequoia_openpgp::{Packet, Result as Sequoia};

use super::*;

const DOCUMENT: &[u8] = b"0000000000000000000000000000000000000000000000000000000000000000  a.zip\n\
    1111111111111111111111111111111111111111111111111111111111111111  manifest.json\n\n";
const DAY: Duration = Duration::from_secs(86_400);
const RSA_KEY: &str = include_str!("../../../tests/fixtures/signatures/rsa.asc");
const RSA_SIGNATURE: &[u8] = include_bytes!("../../../tests/fixtures/signatures/rsa.sig");

fn days_ago(days: u32) -> SystemTime {
    SystemTime::now() - DAY * days
}

fn builder() -> CertBuilder<'static> {
    let flags = KeyFlags::empty().set_signing().set_certification();
    let named = CertBuilder::new().add_userid("Somebody <somebody@example.com>");
    named.set_primary_key_flags(flags).set_cipher_suite(CipherSuite::Cv25519).set_creation_time(days_ago(100))
}

fn made(builder: CertBuilder<'_>) -> Cert {
    builder.generate().unwrap().0
}

fn key() -> Cert {
    made(builder())
}

fn armored(cert: &Cert) -> String {
    String::from_utf8(cert.armored().to_vec().unwrap()).unwrap()
}

fn in_armor(kind: Kind, bytes: &[u8]) -> String {
    let mut writer = armor::Writer::new(Vec::new(), kind).unwrap();
    writer.write_all(bytes).unwrap();
    String::from_utf8(writer.finalize().unwrap()).unwrap()
}

/// A detached signature by the first of the key's parts that may sign, the last ones asked first.
fn sign_as(cert: &Cert, document: &[u8], change: impl Fn(SignatureBuilder) -> Sequoia<SignatureBuilder>) -> Vec<u8> {
    let keys: Vec<_> = cert.keys().secret().collect();
    let mut signer = keys.last().unwrap().key().clone().into_keypair().unwrap();
    let builder = SignatureBuilder::new(SignatureType::Binary).set_hash_algo(HashAlgorithm::SHA512);
    let signature = change(builder).unwrap().sign_message(&mut signer, document).unwrap();
    Packet::from(signature).to_vec().unwrap()
}

fn sign(cert: &Cert) -> Vec<u8> {
    sign_as(cert, DOCUMENT, Ok)
}

fn listed(ascii_armor: impl Into<String>) -> RegistryKey {
    RegistryKey { ascii_armor: ascii_armor.into(), ..RegistryKey::default() }
}

/// What is found of a document by a signature and keys.
fn check(step: Signature) -> Result<Authentication, AuthenticationError> {
    step.check(&Archive { path: Path::new("x.zip"), sha256: &[0; 32] })
}

fn checked(signature: Vec<u8>, keys: &[&Cert]) -> Result<Authentication, AuthenticationError> {
    let keys = keys.iter().map(|cert| listed(armored(cert))).collect();
    check(Signature::new(DOCUMENT.into(), signature, keys))
}

fn community(cert: &Cert) -> Result<Authentication, AuthenticationError> {
    Ok(Authentication::Community { key_id: cert.keyid().to_hex() })
}

fn bad(problem: SignatureProblem) -> Result<Authentication, AuthenticationError> {
    Err(AuthenticationError::Signature(problem))
}

fn revoked(cert: &Cert, reason: ReasonForRevocation) -> Cert {
    let mut signer = cert.primary_key().key().clone().parts_into_secret().unwrap().into_keypair().unwrap();
    let revocation = CertRevocationBuilder::new().set_reason_for_revocation(reason, b"because").unwrap();
    let revocation = revocation.build(&mut signer, cert, None).unwrap();
    cert.clone().insert_packets(revocation).unwrap().0
}

#[test]
fn the_key_that_made_the_signature_counts() {
    let subkey = made(builder().set_primary_key_flags(KeyFlags::empty().set_certification()).add_signing_subkey());
    let curve = made(builder().set_cipher_suite(CipherSuite::P256));
    let (good, other) = (key(), key());
    for cert in [&good, &subkey, &curve] {
        assert_eq!(checked(sign(cert), &[cert]), community(cert));
        assert_eq!(checked(sign(cert), &[&other, cert]), community(cert), "the right one is last");
        assert_eq!(checked(sign(cert), &[&other]), Err(AuthenticationError::UnknownIssuer));
    }
    let in_text = in_armor(Kind::Signature, &sign(&good)).into_bytes();
    assert_eq!(checked(in_text, &[&good]), community(&good));
    let both = [sign(&other), sign(&good)].concat();
    assert_eq!(checked(both, &[&good]), community(&good), "signed by two");
    let text = sign_as(&good, &with_carriage_returns(DOCUMENT), |b| Ok(b.set_type(SignatureType::Text)));
    assert_eq!(checked(text, &[&good]), community(&good), "as a text");
    let two_keys = in_armor(Kind::PublicKey, &[other.to_vec().unwrap(), good.to_vec().unwrap()].concat());
    assert_eq!(check(Signature::new(DOCUMENT.into(), sign(&good), vec![listed(two_keys)])), community(&good));
}

/// As texts are signed.
fn with_carriage_returns(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).replace('\n', "\r\n").into_bytes()
}

#[test]
fn a_signature_over_other_bytes_does_not_count() {
    let good = key();
    let failed = || bad(SignatureProblem::Bad("EdDSA verification failure".to_owned()));
    assert_eq!(checked(sign_as(&good, b"other", Ok), &[&good]), failed());
    let mut tampered = sign(&good);
    *tampered.last_mut().unwrap() ^= 1;
    assert_eq!(checked(tampered, &[&good]), failed());
    let impostor = sign_as(&key(), DOCUMENT, |b| b.set_issuer(good.keyid()));
    assert_eq!(checked(impostor, &[&good]), failed(), "names another key");
    let mut standalone = sign(&good);
    assert!(standalone[1] < 192 && standalone[2] == 4, "a header of two bytes, then the version");
    standalone[3] = 2;
    let unsupported = "unsupported signature type: Standalone".to_owned();
    assert_eq!(checked(standalone, &[&good]), bad(SignatureProblem::Bad(unsupported)));
}

#[test]
fn invalid_signatures_have_a_separate_error() {
    let good = key();
    let signature = sign(&good);
    let malformed = |bytes: &[u8]| match checked(bytes.to_vec(), &[&good]) {
        Err(AuthenticationError::Signature(SignatureProblem::Malformed(why))) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(malformed(b"<html>Not found</html>"), "tag byte does not have MSB set");
    assert_eq!(malformed(&good.to_vec().unwrap()), "non signature packet found");
    malformed(b"-----BEGIN PGP SIGNATURE-----\n\n!!!\n-----END PGP SIGNATURE-----\n");
    for len in [signature.len() / 2, signature.len() - 1] {
        assert_eq!(checked(signature[..len].to_vec(), &[&good]), bad(SignatureProblem::Truncated), "{len}");
    }
    let junk_behind = [&signature[..], b"junk"].concat();
    assert_eq!(checked(junk_behind, &[&good]), community(&good), "the first one counts");
    assert_eq!(checked(Vec::new(), &[&good]), Err(AuthenticationError::UnknownIssuer), "empty");
    assert_eq!(checked(signature, &[]), Err(AuthenticationError::UnknownIssuer), "no keys");
}

#[test]
fn malformed_keys_end_the_search() {
    let good = key();
    for (text, expected) in [
        ("Not a key at all.", "error decoding signing key: openpgp: invalid argument: no armored data found"),
        ("", "error decoding signing key: openpgp: invalid argument: no armored data found"),
        (
            &in_armor(Kind::Signature, &sign(&good)),
            "error decoding signing key: openpgp: invalid argument: expected public or private key block, got: PGP SIGNATURE",
        ),
        (&armored(&good)[..300], "error decoding signing key: unexpected EOF"),
    ] {
        let keys = vec![listed(text), listed(armored(&good))];
        let problem = check(Signature::new(DOCUMENT.into(), sign(&good), keys)).unwrap_err();
        assert_eq!(problem.to_string(), expected);
    }
    let no_key = in_armor(Kind::PublicKey, &sign(&good));
    let found = check(Signature::new(DOCUMENT.into(), sign(&good), vec![listed(no_key)]));
    assert!(matches!(found, Err(AuthenticationError::SigningKey(_))), "{found:?}");
}

#[test]
fn expired_keys_count_unless_they_must_not() {
    let expired = made(builder().set_validity_period(DAY * 10));
    let signature = || sign_as(&expired, DOCUMENT, |b| b.set_signature_creation_time(days_ago(95)));
    assert_eq!(checked(signature(), &[&expired]), community(&expired));
    let demanding = |keys| check(Signature::new(DOCUMENT.into(), signature(), keys).refusing_expired_keys(true));
    assert_eq!(demanding(vec![listed(armored(&expired))]), bad(SignatureProblem::KeyExpired));
    let as_then = Signature::new(DOCUMENT.into(), signature(), vec![listed(armored(&expired))]);
    assert_eq!(check(as_then.refusing_expired_keys(true).at(days_ago(94))), community(&expired), "while it counted");
    let flags = KeyFlags::empty().set_signing();
    let primary = || builder().set_primary_key_flags(KeyFlags::empty().set_certification());
    let of_subkey = made(primary().add_subkey(flags, DAY * 10, None));
    let signature = sign_as(&of_subkey, DOCUMENT, |b| b.set_signature_creation_time(days_ago(95)));
    assert_eq!(checked(signature.clone(), &[&of_subkey]), community(&of_subkey));
    let step = Signature::new(DOCUMENT.into(), signature, vec![listed(armored(&of_subkey))]);
    assert_eq!(check(step.refusing_expired_keys(true)), bad(SignatureProblem::KeyExpired));
}

#[test]
fn of_two_copies_of_a_key_the_one_that_was_renewed_counts() {
    let old = made(builder().set_validity_period(DAY * 10));
    let mut signer = old.primary_key().key().clone().parts_into_secret().unwrap().into_keypair().unwrap();
    let policy = sequoia_openpgp::policy::StandardPolicy::new();
    let then = old.with_policy(&policy, days_ago(95)).unwrap();
    let renewal = then.primary_key().set_expiration_time(&mut signer, Some(SystemTime::now() + DAY)).unwrap();
    let renewed = old.clone().insert_packets(renewal).unwrap().0;
    let keys = vec![listed(armored(&old)), listed(armored(&renewed))];
    let step = Signature::new(DOCUMENT.into(), sign(&old), keys).refusing_expired_keys(true);
    assert_eq!(check(step), community(&old));
}

#[test]
fn signatures_count_for_as_long_as_they_say() {
    let good = key();
    let lasting = |made: u32, days: u32| {
        sign_as(&good, DOCUMENT, |b| {
            b.set_signature_creation_time(days_ago(made))?.set_signature_validity_period(DAY * days)
        })
    };
    assert_eq!(checked(lasting(10, 20), &[&good]), community(&good));
    assert_eq!(checked(lasting(10, 5), &[&good]), bad(SignatureProblem::Expired));
    let early = Signature::new(DOCUMENT.into(), lasting(10, 20), vec![listed(armored(&good))]).at(days_ago(11));
    assert_eq!(check(early), bad(SignatureProblem::FromTheFuture));
}

#[test]
fn revoked_keys_never_count() {
    let good = key();
    let signature = sign_as(&good, DOCUMENT, |b| b.set_signature_creation_time(days_ago(50))).to_vec();
    for reason in
        [ReasonForRevocation::KeyCompromised, ReasonForRevocation::KeyRetired, ReasonForRevocation::Unspecified]
    {
        let gone = revoked(&good, reason);
        assert_eq!(checked(signature.clone(), &[&gone]), bad(SignatureProblem::KeyRevoked), "{reason}");
    }
    let with_subkey = made(builder().add_signing_subkey());
    let mut signer = with_subkey.primary_key().key().clone().parts_into_secret().unwrap().into_keypair().unwrap();
    let subkey = with_subkey.keys().subkeys().next().unwrap().key();
    let revocation = SubkeyRevocationBuilder::new().build(&mut signer, &with_subkey, subkey, None).unwrap();
    let gone = with_subkey.clone().insert_packets(revocation).unwrap().0;
    assert_eq!(checked(sign(&gone), &[&gone]), bad(SignatureProblem::KeyRevoked), "the subkey");
    let somebody_elses = revoked(&key(), ReasonForRevocation::KeyCompromised);
    let foreign: Vec<Packet> = somebody_elses.primary_key().self_revocations().cloned().map(Packet::from).collect();
    let mut bytes = good.to_vec().unwrap();
    foreign.iter().for_each(|packet| packet.serialize(&mut bytes).unwrap());
    let keys = vec![listed(in_armor(Kind::PublicKey, &bytes))];
    assert_eq!(check(Signature::new(DOCUMENT.into(), signature, keys)), community(&good), "by somebody else");
}

#[test]
fn weak_and_strange_signatures_do_not_count() {
    let good = key();
    let weak = sign_as(&good, DOCUMENT, |b| Ok(b.set_hash_algo(HashAlgorithm::SHA1)));
    assert_eq!(checked(weak, &[&good]), bad(SignatureProblem::WeakHash("SHA1".to_owned())));
    let strange = sign_as(&good, DOCUMENT, |b| {
        b.set_notation("rule@example.com", "x", NotationDataFlags::empty().set_human_readable(), true)
    });
    let unknown = "unknown critical notation: rule@example.com".to_owned();
    assert_eq!(checked(strange, &[&good]), bad(SignatureProblem::Bad(unknown)));
    let not_for_signing = made(builder().set_primary_key_flags(KeyFlags::empty().set_certification()));
    assert_eq!(checked(sign(&not_for_signing), &[&not_for_signing]), Err(AuthenticationError::UnknownIssuer));
}

struct Tiers {
    official: Cert,
    partners: Cert,
}

impl Tiers {
    fn check(&self, signature: Vec<u8>, key: RegistryKey) -> Result<Authentication, AuthenticationError> {
        let anchors = Anchors::of(&armored(&self.official), &armored(&self.partners)).unwrap();
        check(Signature::new(DOCUMENT.into(), signature, vec![key]).with_anchors(anchors))
    }
}

/// Signs the bytes within a key's armor.
fn vouch(by: &Cert, key: &str) -> String {
    let mut bytes = Vec::new();
    armor::Reader::from_bytes(key.as_bytes(), armor::ReaderMode::Tolerant(None)).read_to_end(&mut bytes).unwrap();
    in_armor(Kind::Signature, &sign_as(by, &bytes, Ok))
}

#[test]
fn tiers_depend_on_the_certifying_key() {
    let tiers = Tiers { official: key(), partners: key() };
    let id = |cert: &Cert| cert.keyid().to_hex();
    let official = listed(armored(&tiers.official));
    let found = tiers.check(sign(&tiers.official), official);
    assert_eq!(found, Ok(Authentication::Official { key_id: id(&tiers.official) }));
    let author = key();
    let trusted = |trust_signature| RegistryKey { trust_signature, ..listed(armored(&author)) };
    let with_trust = |trust| tiers.check(sign(&author), trusted(trust));
    assert_eq!(with_trust(String::new()), community(&author));
    assert_eq!(
        with_trust(vouch(&tiers.partners, &armored(&author))),
        Ok(Authentication::Partner { key_id: id(&author) })
    );
    for (trust, expected) in [
        (
            vouch(&author, &armored(&author)),
            "error verifying trust signature: openpgp: signature made by unknown entity",
        ),
        (
            vouch(&tiers.official, &armored(&author)),
            "error verifying trust signature: openpgp: signature made by unknown entity",
        ),
        (
            vouch(&tiers.partners, &armored(&key())),
            "error verifying trust signature: openpgp: invalid signature: EdDSA verification failure",
        ),
        (armored(&author), "error verifying trust signature: openpgp: invalid data: non signature packet found"),
        ("Trust me.".to_owned(), "error decoding trust signature: EOF"),
    ] {
        assert_eq!(with_trust(trust).unwrap_err().to_string(), expected);
    }
}

#[test]
fn expired_embedded_keys_still_decide_tiers() {
    let expired = || made(builder().set_validity_period(DAY * 10));
    let tiers = Tiers { official: expired(), partners: expired() };
    let author = key();
    let trust_signature = vouch(&tiers.partners, &armored(&author));
    let found = tiers.check(sign(&author), RegistryKey { trust_signature, ..listed(armored(&author)) });
    assert_eq!(found, Ok(Authentication::Partner { key_id: author.keyid().to_hex() }));
}

#[test]
fn the_keys_within_the_program_are_the_documented_ones() {
    let note = include_str!("keys/README.md");
    for text in [OFFICIAL, PARTNERS] {
        let cert = Cert::from_bytes(text.as_bytes()).unwrap();
        assert!(note.contains(&cert.fingerprint().to_hex()));
    }
    let signing = |text| {
        let mut keys = Keyring::parse(text).unwrap().signing_keys();
        keys.sort();
        keys
    };
    assert_eq!(signing(OFFICIAL), ["34365D9472D7468F", "B0B441097685B676", "C820C6D5CD27AB87"]);
    assert_eq!(signing(PARTNERS), ["7D72D4268E4660FC"]);
    assert!(note.find("C874011F").unwrap() < note.find("51890657").unwrap());
    assert!(Cert::from_bytes(OFFICIAL.as_bytes()).unwrap().fingerprint().to_hex().starts_with("C874011F"));
}

/// The number at the end of a signature, with as many leading zeros as its key has room for: as programs in Go wrote it.
fn with_leading_zeros(signature: &[u8], zeros: usize) -> Vec<u8> {
    let hashed = 3 + 4 + 2 + usize::from(u16::from_be_bytes([signature[7], signature[8]]));
    let unhashed = usize::from(u16::from_be_bytes([signature[hashed], signature[hashed + 1]]));
    let number = hashed + 2 + unhashed + 2;
    let bytes = &signature[number + 2..];
    let mut changed = signature[..number].to_vec();
    changed.extend_from_slice(&u16::try_from((bytes.len() + zeros) * 8).unwrap().to_be_bytes());
    changed.extend(std::iter::repeat_n(0, zeros));
    changed.extend_from_slice(bytes);
    let len = u16::try_from(changed.len() - 3).unwrap();
    changed[1..3].copy_from_slice(&len.to_be_bytes());
    changed
}

/// The fixture was made by GnuPG, with a number that is shorter than its key.
#[test]
fn numbers_may_have_leading_zeros() {
    assert_eq!(RSA_SIGNATURE[0], 0x89, "an old header with a length of two bytes");
    let found = |signature: Vec<u8>| check(Signature::new((*b"document\n").into(), signature, vec![listed(RSA_KEY)]));
    let good = found(RSA_SIGNATURE.to_vec());
    assert!(matches!(good, Ok(Authentication::Community { .. })), "{good:?}");
    for zeros in 0..3 {
        let changed = with_leading_zeros(RSA_SIGNATURE, zeros);
        assert_ne!(changed, RSA_SIGNATURE);
        assert_eq!(found(changed), good, "{zeros}");
    }
}

#[test]
fn the_signer_vouches_for_every_line() {
    let hashes = |document: &[u8]| {
        let hashes = Signature::new(document.into(), Vec::new(), Vec::new()).acceptable_hashes();
        hashes.iter().map(|hash| hash.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(hashes(DOCUMENT), [format!("zh:{}", "0".repeat(64)), format!("zh:{}", "1".repeat(64))]);
    assert!(hashes(b"<html>\n").is_empty());
    assert!(hashes(&[DOCUMENT, b"0123  short.zip\n"].concat()).is_empty());
}

/// Changes some bytes, and cuts or repeats a piece.
fn mutated(bytes: &[u8], changes: &[(usize, u8)], cut: (usize, usize)) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (at, new) in changes {
        let at = at % bytes.len();
        bytes[at] = *new;
    }
    let (from, to) = (cut.0 % bytes.len(), cut.1 % bytes.len());
    match from <= to {
        true => bytes.drain(from..to).for_each(drop),
        false => bytes.extend_from_within(to..from),
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing that a host sends makes the program fall over, or lets another document pass.
    #[test]
    fn damage_is_an_answer(
        changes in prop::collection::vec((any::<usize>(), any::<u8>()), 0..6),
        cut in prop_oneof![Just((0, 0)), (any::<usize>(), any::<usize>())],
        of_key: bool,
        in_text: bool,
    ) {
        static MADE: LazyLock<(Vec<u8>, Vec<u8>, String)> = LazyLock::new(|| {
            let cert = made(builder().add_signing_subkey());
            (cert.to_vec().unwrap(), sign(&cert), armored(&cert))
        });
        let (key, signature, text) = &*MADE;
        let (key, signature) = match (of_key, in_text) {
            (true, true) => (String::from_utf8_lossy(&mutated(text.as_bytes(), &changes, cut)).into_owned(), signature.clone()),
            (true, false) => (in_armor(Kind::PublicKey, &mutated(key, &changes, cut)), signature.clone()),
            (false, true) => {
                (text.clone(), mutated(in_armor(Kind::Signature, signature).as_bytes(), &changes, cut))
            }
            (false, false) => (text.clone(), mutated(signature, &changes, cut)),
        };
        let step = |document: &[u8]| Signature::new(document.into(), signature.clone(), vec![listed(key.clone())]);
        let _ = check(step(DOCUMENT));
        prop_assert!(check(step(b"something else")).is_err());
    }
}
