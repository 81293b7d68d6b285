//! The detached signature over a list of checksums, by one of the keys that the registry names, and the tier of its signer.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use model::deps::Hash;
use model::deps::hash::Scheme;

use super::checksum;
use super::error::{AuthenticationError, KeyringError, SignatureProblem};
use super::openpgp::{Keyring, Signer};
use super::packets::{self, ArmorProblem};
use super::step::{Archive, Step};
use super::trust::Authentication;

/// One of the registry's keys made the signature over the list of checksums.
pub struct Signature {
    document: Arc<[u8]>,
    signature: Vec<u8>,
    keys: Vec<RegistryKey>,
    anchors: Anchors,
    refuse_expired_keys: bool,
    now: Option<SystemTime>,
}

/// A key as a registry names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistryKey {
    /// The ID that the registry reports; not checked.
    pub key_id: String,
    /// The public key.
    pub ascii_armor: String,
    /// An armored signature of the partners' key over the bytes within the key's armor; empty if
    /// there is none.
    pub trust_signature: String,
    /// The owner of the key, and a link; for users.
    pub source: String,
    pub source_url: String,
}

/// The keys that tell tiers apart. By default the ones within this program, and no setting can change that.
#[derive(Clone)]
pub struct Anchors {
    official: Arc<Keyring>,
    partners: Arc<Keyring>,
}

const OFFICIAL: &str = include_str!("keys/official.asc");
const PARTNERS: &str = include_str!("keys/partners.asc");

impl Anchors {
    /// Of two armored keys.
    pub fn of(official: &str, partners: &str) -> Result<Anchors, KeyringError> {
        Ok(Anchors { official: Keyring::parse(official)?.into(), partners: Keyring::parse(partners)?.into() })
    }
}

impl Default for Anchors {
    fn default() -> Anchors {
        static EMBEDDED: LazyLock<Anchors> = LazyLock::new(|| {
            let none = || Anchors { official: Arc::default(), partners: Arc::default() };
            Anchors::of(OFFICIAL, PARTNERS).unwrap_or_else(|_| none())
        });
        EMBEDDED.clone()
    }
}

impl Signature {
    /// The list of checksums; a signature, armored or not; all keys that may have made it.
    pub fn new(document: Arc<[u8]>, signature: Vec<u8>, keys: Vec<RegistryKey>) -> Signature {
        Signature { document, signature, keys, anchors: Anchors::default(), refuse_expired_keys: false, now: None }
    }

    pub fn with_anchors(self, anchors: Anchors) -> Signature {
        Signature { anchors, ..self }
    }

    /// Keys count only as long as they say, instead of for ever.
    pub fn refusing_expired_keys(self, refuse: bool) -> Signature {
        Signature { refuse_expired_keys: refuse, ..self }
    }

    /// Checks as of a time, instead of now.
    pub fn at(self, now: SystemTime) -> Signature {
        Signature { now: Some(now), ..self }
    }

    /// The key that made the signature. Keys of other signers are skipped, any other problem ends the search. A key that
    /// has not expired is preferred.
    fn find_signer(&self, signature: &[u8], now: SystemTime) -> Result<(&RegistryKey, Signer), AuthenticationError> {
        let mut expired = None;
        for key in &self.keys {
            let ring = Keyring::parse(&key.ascii_armor).map_err(AuthenticationError::SigningKey)?;
            match ring.verify(&self.document, signature, now) {
                Ok(signer) if !signer.expired => return Ok((key, signer)),
                Ok(signer) => expired = expired.or(Some((key, signer))),
                Err(SignatureProblem::UnknownIssuer) => {}
                Err(problem) => return Err(AuthenticationError::Signature(problem)),
            }
        }
        let (key, signer) = expired.ok_or(AuthenticationError::UnknownIssuer)?;
        for name in &signer.names {
            tracing::warn!("expired openpgp key from {name}");
        }
        match self.refuse_expired_keys {
            true => Err(AuthenticationError::Signature(SignatureProblem::KeyExpired)),
            false => Ok((key, signer)),
        }
    }

    /// The partners' key vouches for the bytes of a key.
    fn check_trust(&self, key: &RegistryKey, now: SystemTime) -> Result<(), AuthenticationError> {
        let trusted = packets::dearmored(key.ascii_armor.as_bytes());
        let trusted = trusted.map_err(|problem| {
            AuthenticationError::SigningKey(match problem {
                ArmorProblem::None => KeyringError::Empty,
                ArmorProblem::Broken(why) => KeyringError::Damaged(why),
            })
        })?;
        let signature = packets::dearmored(key.trust_signature.as_bytes());
        let signature = signature.map_err(|problem| AuthenticationError::TrustSignatureUnreadable(plain(problem)))?;
        let verified = self.anchors.partners.verify(&trusted.bytes, &signature.bytes, now);
        verified.map(drop).map_err(AuthenticationError::TrustSignature)
    }
}

fn plain(problem: ArmorProblem) -> String {
    match problem {
        ArmorProblem::None => "EOF".to_owned(),
        ArmorProblem::Broken(why) => why.to_string(),
    }
}

/// The packets of a signature, armored or not.
pub(super) fn without_armor(signature: &[u8]) -> Result<Cow<'_, [u8]>, AuthenticationError> {
    if !packets::is_armored_signature(signature) {
        return Ok(Cow::Borrowed(signature));
    }
    let block = packets::dearmored(signature).map_err(|problem| match problem {
        ArmorProblem::None => SignatureProblem::Truncated,
        ArmorProblem::Broken(problem) => problem,
    });
    Ok(Cow::Owned(block.map_err(AuthenticationError::Signature)?.bytes))
}

impl Step for Signature {
    fn check(&self, _archive: &Archive<'_>) -> Result<Authentication, AuthenticationError> {
        let now = self.now.unwrap_or_else(SystemTime::now);
        let signature = without_armor(&self.signature)?;
        let (key, signer) = self.find_signer(&signature, now)?;
        tracing::debug!("Provider signed by {} {}", signer.key_id, signer.names.join(", "));
        let key_id = signer.key_id;
        if self.anchors.official.verify(&self.document, &signature, now).is_ok() {
            return Ok(Authentication::Official { key_id });
        }
        if key.trust_signature.is_empty() {
            return Ok(Authentication::Community { key_id });
        }
        self.check_trust(key, now)?;
        Ok(Authentication::Partner { key_id })
    }

    /// All checksums of the list, for the archives of every platform among them: the signer vouches for each.
    fn acceptable_hashes(&self) -> Vec<Hash> {
        let mut hashes = Vec::new();
        for line in self.document.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            match checksum::entry(line).map(|(sum, _)| (sum, checksum::parse(sum))) {
                Some((sum, Some(_))) => hashes.push(Hash::new(Scheme::Zh, &sum.to_ascii_lowercase())),
                _ => return Vec::new(),
            }
        }
        hashes
    }
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
