//! Why an archive is refused, by kind and in words.

use std::fmt;

use base::name::PROGRAM;
use model::deps::Hash;

use super::demand::Unmet;

/// Why an archive is refused. Shown for people, without a full stop; what is wrong with signatures in the reference's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthenticationError {
    /// The archive has other bytes than its source said.
    Checksum { found: Hash, expected: Hash },
    /// The list of checksums has no entry for the archive's file.
    NotListed { file_name: String },
    /// The entry for the archive's file is not a checksum.
    InvalidEntry { checksum: String },
    /// The list and the registry disagree; both in hexadecimal digits.
    ListedOtherwise { listed: String, expected: String },
    /// None of the hashes that a mirror accepts is of a scheme known here.
    NoKnownHashes,
    /// The archive has none of the hashes that a mirror accepts; there is at least one.
    Unacceptable { expected: Vec<Hash> },
    /// The archive could not be read for its hash.
    Unreadable(String),
    /// A key of the registry is not one.
    SigningKey(KeyringError),
    /// None of the registry's keys made the signature.
    UnknownIssuer,
    /// One of the registry's keys made the signature, but it is not good.
    Signature(SignatureProblem),
    /// What should vouch for a partner's key is not a signature.
    TrustSignatureUnreadable(String),
    /// What should vouch for a partner's key does not.
    TrustSignature(SignatureProblem),
    /// All is well, but the user wants more.
    Demanded(Unmet),
}

/// Why an armored text gives no public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyringError {
    /// There is no armored block in it.
    NotArmored,
    /// The block is cut off before it begins.
    Empty,
    /// What is in the block cannot be read.
    Damaged(SignatureProblem),
    /// The block is of another kind.
    OtherBlock(&'static str),
    /// There is no public key in the block.
    NoKey,
    /// There are keys in the block, of which none can be read: what is wrong with the last one.
    InvalidKey(String),
}

/// What is wrong with a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureProblem {
    /// By none of the keys that may sign.
    UnknownIssuer,
    /// Not a signature, or a damaged one.
    Malformed(String),
    /// The rest of it is missing.
    Truncated,
    /// Of other bytes, or not made by the key that it names.
    Bad(String),
    /// Made with a hash function that is no longer good enough.
    WeakHash(String),
    /// It says itself that it no longer counts.
    Expired,
    /// Made at a time that is yet to come.
    FromTheFuture,
    /// Its key was revoked.
    KeyRevoked,
    /// Its key says that it no longer counts, and that is not to be accepted.
    KeyExpired,
}

impl fmt::Display for AuthenticationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use AuthenticationError as E;
        match self {
            E::Checksum { found, expected } => {
                write!(f, "archive has incorrect checksum {found} (expected {expected})")
            }
            E::NotListed { file_name } => write!(f, "checksum list has no SHA-256 hash for {file_name:?}"),
            E::InvalidEntry { checksum } => {
                write!(f, "checksum list has invalid SHA256 hash {checksum:?}: it must have 64 hexadecimal digits")
            }
            E::ListedOtherwise { listed, expected } => {
                write!(f, "checksum list has unexpected SHA-256 hash {listed} (expected {expected})")
            }
            E::NoKnownHashes => write!(
                f,
                "this version of {PROGRAM} does not support any of the checksum formats given for this provider"
            ),
            E::Unacceptable { expected } => match &expected[..] {
                [one] => write!(f, "provider package doesn't match the expected checksum \"{one}\""),
                _ => f.write_str("provider package doesn't match the any of the expected checksums"),
            },
            E::Unreadable(why) => write!(f, "failed to verify provider package checksums: {why}"),
            E::SigningKey(why) => write!(f, "error decoding signing key: {why}"),
            E::UnknownIssuer => f.write_str("authentication signature from unknown issuer"),
            E::Signature(problem) => write!(f, "error checking signature: {problem}"),
            E::TrustSignatureUnreadable(why) => write!(f, "error decoding trust signature: {why}"),
            E::TrustSignature(problem) => write!(f, "error verifying trust signature: {problem}"),
            E::Demanded(unmet) => unmet.fmt(f),
        }
    }
}

impl fmt::Display for KeyringError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyringError::NotArmored => f.write_str("openpgp: invalid argument: no armored data found"),
            KeyringError::Empty => f.write_str("EOF"),
            KeyringError::Damaged(problem) => problem.fmt(f),
            KeyringError::OtherBlock(name) => {
                write!(f, "openpgp: invalid argument: expected public or private key block, got: {name}")
            }
            KeyringError::NoKey => f.write_str("openpgp: invalid data: no public key found"),
            KeyringError::InvalidKey(why) => write!(f, "openpgp: invalid data: {why}"),
        }
    }
}

impl fmt::Display for SignatureProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SignatureProblem::UnknownIssuer => f.write_str("openpgp: signature made by unknown entity"),
            SignatureProblem::Malformed(why) => write!(f, "openpgp: invalid data: {why}"),
            SignatureProblem::Truncated => f.write_str("unexpected EOF"),
            SignatureProblem::Bad(why) => write!(f, "openpgp: invalid signature: {why}"),
            SignatureProblem::WeakHash(hash) => write!(f, "openpgp: insecure hash algorithm: {hash}"),
            SignatureProblem::Expired => f.write_str("openpgp: signature expired"),
            SignatureProblem::FromTheFuture => {
                f.write_str("openpgp: the signature was made in the future; check this computer's clock")
            }
            SignatureProblem::KeyRevoked => f.write_str("openpgp: signature made by revoked key"),
            SignatureProblem::KeyExpired => f.write_str("openpgp: key expired"),
        }
    }
}

impl std::error::Error for AuthenticationError {}

impl std::error::Error for KeyringError {}

impl From<Unmet> for AuthenticationError {
    fn from(unmet: Unmet) -> AuthenticationError {
        AuthenticationError::Demanded(unmet)
    }
}
