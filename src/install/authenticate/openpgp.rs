//! Whether a key of a ring made a detached signature, and whether that counts.
//!
//! The rules are those of the reference, with two exceptions: a signature over a weak hash never counts, and one that expired
//! does not count even if its key expired too. The library's own policy is not asked: it refuses keys that expired, which
//! published releases are full of.

use std::time::{Duration, SystemTime};

use sequoia_openpgp::armor::Kind;
use sequoia_openpgp::cert::amalgamation::key::{ErasedKeyAmalgamation, PrimaryKey};
use sequoia_openpgp::cert::{Cert, CertParser};
use sequoia_openpgp::crypto::hash::Hash;
use sequoia_openpgp::packet::key::PublicParts;
use sequoia_openpgp::packet::signature::subpacket::SubpacketValue;
use sequoia_openpgp::packet::{Signature, Tag};
use sequoia_openpgp::types::{HashAlgorithm, PublicKeyAlgorithm, RevocationType, SignatureType};
use sequoia_openpgp::{Error, Packet};

use super::error::{KeyringError, SignatureProblem};
use super::packets::{self, ArmorProblem};

/// Some public keys, each with its subkeys.
#[derive(Clone, Debug, Default)]
pub(super) struct Keyring(Vec<Cert>);

/// The signer of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signer {
    /// Of the primary key, even if a subkey signed: 16 hexadecimal digits.
    pub key_id: String,
    /// The user IDs of the key.
    pub names: Vec<String>,
    /// The key said that it no longer counts.
    pub expired: bool,
}

type Key<'a> = ErasedKeyAmalgamation<'a, PublicParts>;

impl Keyring {
    /// Reads an armored block; other packets are ignored if there is at least one key.
    pub fn parse(armored: &str) -> Result<Keyring, KeyringError> {
        let block = packets::dearmored(armored.as_bytes()).map_err(|problem| match problem {
            ArmorProblem::None => KeyringError::NotArmored,
            ArmorProblem::Broken(why) => KeyringError::Damaged(why),
        })?;
        let name = match block.kind {
            Kind::PublicKey | Kind::SecretKey => None,
            Kind::Signature => Some("PGP SIGNATURE"),
            Kind::Message => Some("PGP MESSAGE"),
            Kind::File => Some("PGP ARMORED FILE"),
            _ => Some("an unknown kind"),
        };
        if let Some(name) = name {
            return Err(KeyringError::OtherBlock(name));
        }
        let (packets, end) = packets::parse(&block.bytes);
        end.map_err(|e| KeyringError::Damaged(malformed(&e)))?;
        let mut problem = KeyringError::NoKey;
        let mut certs = Vec::new();
        for cert in CertParser::from_iter(packets) {
            match cert {
                Ok(cert) => certs.push(cert),
                Err(e) => problem = KeyringError::InvalidKey(e.to_string()),
            }
        }
        if certs.is_empty() { Err(problem) } else { Ok(Keyring(certs)) }
    }

    /// The parts that may sign, as 16 hexadecimal digits each.
    #[cfg(test)]
    pub fn signing_keys(&self) -> Vec<String> {
        let all = self.0.iter().flat_map(|cert| cert.keys());
        all.filter(may_sign).map(|key| key.key().keyid().to_hex()).collect()
    }

    /// Who of the ring made the first signature that is by any of its keys.
    pub fn verify(&self, document: &[u8], signature: &[u8], now: SystemTime) -> Result<Signer, SignatureProblem> {
        if signature.first().is_some_and(|first| *first < 0x80) {
            return Err(SignatureProblem::Malformed("tag byte does not have MSB set".to_owned()));
        }
        let (packets, end) = packets::parse(signature);
        for packet in packets {
            let signature = match packet {
                Packet::Signature(signature) => signature,
                Packet::Marker(_) | Packet::Padding(_) => continue,
                Packet::Unknown(unknown) if unknown.tag() == Tag::Signature => match unsupported(unknown.error()) {
                    true => continue,
                    false => return Err(malformed(unknown.error())),
                },
                _ => return Err(SignatureProblem::Malformed("non signature packet found".to_owned())),
            };
            let issuers = signature.get_issuers();
            if issuers.is_empty() {
                return Err(SignatureProblem::Malformed("signature doesn't have an issuer".to_owned()));
            }
            let all = self.0.iter().flat_map(|cert| cert.keys());
            let named = all.filter(|key| issuers.iter().any(|issuer| issuer.aliases(key.key().key_handle())));
            let keys: Vec<Key<'_>> = named.filter(may_sign).collect();
            let mut outcome = None;
            for key in keys {
                let made = check_bytes(&key, &signature, document);
                let good = made.is_ok();
                outcome = Some(made.map(|()| key));
                if good {
                    break;
                }
            }
            match outcome {
                Some(key) => return counts(&key?, &signature, now),
                None => continue,
            }
        }
        Err(end.map_or_else(|e| malformed(&e), |()| SignatureProblem::UnknownIssuer))
    }
}

fn malformed(problem: &sequoia_openpgp::anyhow::Error) -> SignatureProblem {
    match packets::is_truncated(problem) {
        true => SignatureProblem::Truncated,
        false => SignatureProblem::Malformed(problem.to_string()),
    }
}

/// Whether the library could not read a packet because it is of a kind that it does not know, rather than damaged.
fn unsupported(error: &sequoia_openpgp::anyhow::Error) -> bool {
    matches!(
        error.downcast_ref::<Error>(),
        Some(
            Error::UnsupportedPacketType(_)
                | Error::UnsupportedHashAlgorithm(_)
                | Error::UnsupportedPublicKeyAlgorithm(_)
                | Error::UnsupportedEllipticCurve(_)
                | Error::UnsupportedSignatureType(_)
        )
    )
}

/// The key made the signature over these bytes.
fn check_bytes(key: &Key<'_>, signature: &Signature, document: &[u8]) -> Result<(), SignatureProblem> {
    let bad = |why: &dyn std::fmt::Display| SignatureProblem::Bad(why.to_string());
    if !strong(signature.hash_algo()) {
        return Err(SignatureProblem::WeakHash(signature.hash_algo().to_string()));
    }
    check_critical(signature)?;
    let context = signature.hash_algo().context().map_err(|e| bad(&e))?;
    let mut context = context.for_signature(signature.version());
    if let Some(salt) = signature_salt(signature) {
        context.update(salt);
    }
    match signature.typ() {
        SignatureType::Binary => context.update(document),
        SignatureType::Text => update_text(document, &mut |bytes| context.update(bytes)),
        other => return Err(bad(&format_args!("unsupported signature type: {other}"))),
    }
    signature.hash(&mut context).map_err(|e| bad(&e))?;
    let digest = context.into_digest().map_err(|e| bad(&e))?;
    #[allow(deprecated, reason = "old releases are signed with it")]
    let algorithm = match signature.pk_algo() {
        PublicKeyAlgorithm::RSAEncryptSign => "RSA",
        PublicKeyAlgorithm::DSA => "DSA",
        PublicKeyAlgorithm::ECDSA => "ECDSA",
        PublicKeyAlgorithm::EdDSA => "EdDSA",
        PublicKeyAlgorithm::Ed25519 => "Ed25519",
        _ => "signature",
    };
    signature.verify_digest(key.key(), digest).map_err(|_| bad(&format_args!("{algorithm} verification failure")))
}

fn signature_salt(signature: &Signature) -> Option<&[u8]> {
    match signature {
        Signature::V6(signature) => Some(signature.salt()),
        _ => None,
    }
}

fn strong(hash: HashAlgorithm) -> bool {
    use HashAlgorithm::{SHA256, SHA384, SHA512};
    matches!(hash, SHA256 | SHA384 | SHA512 | HashAlgorithm::SHA3_256 | HashAlgorithm::SHA3_512)
}

/// What a signature says that its readers must understand is understood.
fn check_critical(signature: &Signature) -> Result<(), SignatureProblem> {
    for subpacket in signature.hashed_area().iter().filter(|subpacket| subpacket.critical()) {
        let what = match subpacket.value() {
            SubpacketValue::Unknown { .. } => format!("unknown critical signature subpacket type {}", subpacket.tag()),
            SubpacketValue::NotationData(notation) => format!("unknown critical notation: {}", notation.name()),
            _ => continue,
        };
        return Err(SignatureProblem::Bad(what));
    }
    Ok(())
}

/// Lines of a text end in a carriage return and a line feed when they are signed.
fn update_text(document: &[u8], update: &mut dyn FnMut(&[u8])) {
    for line in document.split_inclusive(|b| *b == b'\n') {
        match line {
            [.., b'\r', b'\n'] => update(line),
            [text @ .., b'\n'] => {
                update(text);
                update(b"\r\n");
            }
            text => update(text),
        }
    }
}

/// The good signature is one that counts now.
fn counts(key: &Key<'_>, signature: &Signature, now: SystemTime) -> Result<Signer, SignatureProblem> {
    let cert = key.cert();
    if revoked(key.self_revocations(), now)
        || revoked(cert.primary_key().self_revocations(), now)
        || cert.userids().count() > 0 && cert.userids().all(|id| revoked(id.self_revocations(), now))
    {
        return Err(SignatureProblem::KeyRevoked);
    }
    match signature.signature_creation_time() {
        Some(made) if made > now => return Err(SignatureProblem::FromTheFuture),
        Some(made) if ended(made, signature.signature_validity_period(), now) => return Err(SignatureProblem::Expired),
        _ => {}
    }
    let primary = primary_bindings(cert).any(|b| key_ended(cert.primary_key().key().creation_time(), b, now));
    let own =
        !key.primary() && newest(key.self_signatures()).is_some_and(|b| key_ended(key.key().creation_time(), b, now));
    Ok(Signer {
        key_id: cert.keyid().to_hex(),
        names: cert.userids().map(|id| String::from_utf8_lossy(id.userid().value()).into_owned()).collect(),
        expired: primary || own,
    })
}

/// Whether its owner made the key for signing. The library has checked that owner and key agree on it.
fn may_sign(key: &Key<'_>) -> bool {
    let says_so = |binding: &Signature| binding.key_flags().is_some_and(|flags| flags.for_signing());
    match key.primary() {
        true => primary_bindings(key.cert()).any(says_so),
        false => newest(key.self_signatures()).is_some_and(says_so),
    }
}

/// What an owner says of the primary key: with the foremost of its names, and directly.
fn primary_bindings(cert: &Cert) -> impl Iterator<Item = &Signature> {
    let names = cert.userids().filter_map(|id| {
        let newest = newest(id.self_signatures())?;
        let rank = (id.self_revocations().next().is_none(), newest.primary_userid().unwrap_or(false));
        Some((rank, newest.signature_creation_time(), newest))
    });
    let foremost = names.max_by_key(|(rank, made, _)| (*rank, *made)).map(|(_, _, signature)| signature);
    foremost.into_iter().chain(newest(cert.primary_key().self_signatures()))
}

fn newest<'a>(signatures: impl Iterator<Item = &'a Signature>) -> Option<&'a Signature> {
    signatures.max_by_key(|signature| signature.signature_creation_time())
}

/// Revoked for good, or by a revocation that has not itself ended. When the signature was made does not matter.
fn revoked<'a>(revocations: impl Iterator<Item = &'a Signature>, now: SystemTime) -> bool {
    revocations.into_iter().any(|revocation| {
        let hard = revocation
            .reason_for_revocation()
            .is_none_or(|(reason, _)| reason.revocation_type() == RevocationType::Hard);
        let made = revocation.signature_creation_time();
        hard || !made.is_some_and(|made| ended(made, revocation.signature_validity_period(), now))
    })
}

fn key_ended(made: SystemTime, binding: &Signature, now: SystemTime) -> bool {
    ended(made, binding.key_validity_period(), now)
}

/// Something that lasts from a time on is over; without a length, or with none, it lasts for ever.
fn ended(from: SystemTime, lasts: Option<Duration>, now: SystemTime) -> bool {
    let lasts = lasts.filter(|lasts| !lasts.is_zero());
    lasts.and_then(|lasts| from.checked_add(lasts)).is_some_and(|end| now > end)
}
