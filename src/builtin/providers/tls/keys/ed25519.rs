//! Ed25519 keys.

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};

use super::random;

pub const SEED_LENGTH: usize = 32;

/// A seed and the public key that follows from it.
#[derive(Clone)]
pub struct EdKey {
    seed: [u8; SEED_LENGTH],
    public: [u8; SEED_LENGTH],
}

impl EdKey {
    pub fn generate() -> Result<EdKey, String> {
        EdKey::from_seed(random()?)
    }

    pub fn from_seed(seed: [u8; SEED_LENGTH]) -> Result<EdKey, String> {
        let pair = pair(&seed)?;
        let public = pair.public_key().as_ref().try_into().map_err(|_| INVALID.to_owned())?;
        Ok(EdKey { seed, public })
    }

    pub fn seed(&self) -> &[u8; SEED_LENGTH] {
        &self.seed
    }

    pub fn public(&self) -> &[u8; SEED_LENGTH] {
        &self.public
    }

    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        Ok(pair(&self.seed)?.sign(message).as_ref().to_vec())
    }
}

const INVALID: &str = "invalid Ed25519 private key";

fn pair(seed: &[u8]) -> Result<Ed25519KeyPair, String> {
    Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| INVALID.to_owned())
}
