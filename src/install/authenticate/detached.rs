//! Detached signatures over documents that are no packages, by keys that the user trusts.

use std::time::SystemTime;

use super::error::{AuthenticationError, SignatureProblem};
use super::openpgp::Keyring;
use super::signature::without_armor;

/// The ID of the key that made the signature: 16 hexadecimal digits. `keys` is an armored block of public keys; keys that are expired or
/// revoked at this time do not count. The signature may be armored.
pub fn signer_of(
    document: &[u8],
    signature: &[u8],
    keys: &str,
    now: SystemTime,
) -> Result<String, AuthenticationError> {
    let ring = Keyring::parse(keys).map_err(AuthenticationError::SigningKey)?;
    let signature = without_armor(signature)?;
    let signer = ring.verify(document, &signature, now).map_err(|problem| match problem {
        SignatureProblem::UnknownIssuer => AuthenticationError::UnknownIssuer,
        other => AuthenticationError::Signature(other),
    })?;
    match signer.expired {
        true => Err(AuthenticationError::Signature(SignatureProblem::KeyExpired)),
        false => Ok(signer.key_id),
    }
}
