//! Ed25519 keys.

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};

use super::error::KeyError;
use super::random::random;

pub const SEED_LENGTH: usize = 32;

/// A seed and the public key that follows from it.
#[derive(Clone)]
pub struct EdKey {
    seed: [u8; SEED_LENGTH],
    public: [u8; SEED_LENGTH],
}

impl EdKey {
    pub fn generate() -> Result<EdKey, KeyError> {
        EdKey::from_seed(random()?)
    }

    pub fn from_seed(seed: [u8; SEED_LENGTH]) -> Result<EdKey, KeyError> {
        let pair = pair(&seed)?;
        let public = pair.public_key().as_ref().try_into().map_err(|_| KeyError::Ed25519)?;
        Ok(EdKey { seed, public })
    }

    pub fn seed(&self) -> &[u8; SEED_LENGTH] {
        &self.seed
    }

    pub fn public(&self) -> &[u8; SEED_LENGTH] {
        &self.public
    }

    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        Ok(pair(&self.seed)?.sign(message).as_ref().to_vec())
    }
}

fn pair(seed: &[u8]) -> Result<Ed25519KeyPair, KeyError> {
    Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| KeyError::Ed25519)
}
