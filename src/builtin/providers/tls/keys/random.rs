//! Random numbers of the operating system.

use aws_lc_rs::hmac;
use rsa::rand_core::{self, CryptoRng, Error, RngCore};
use zeroize::Zeroizing;

use super::error::KeyError;

/// So many random bytes.
pub fn random<const N: usize>() -> Result<[u8; N], KeyError> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

/// Fills with random bytes.
pub fn fill(bytes: &mut [u8]) -> Result<(), KeyError> {
    aws_lc_rs::rand::fill(bytes).map_err(|_| KeyError::NoRandomNumbers)
}

/// Random numbers for the RSA crate, which has no error for their absence. The operating system is asked once, for a seed, when an error
/// can still be reported. What follows is HMAC-SHA-256 of a counter, with the seed as key. The seed gives away the keys that were made
/// from it: it is in one place, and erased at the end.
pub struct SeededRng {
    seed: Zeroizing<Vec<u8>>,
    counter: u64,
}

impl SeededRng {
    pub fn new() -> Result<SeededRng, KeyError> {
        let mut seed = Zeroizing::new(vec![0; SEED_LENGTH]);
        fill(&mut seed)?;
        Ok(SeededRng { seed, counter: 0 })
    }
}

/// That of the hash, which HMAC uses whole.
const SEED_LENGTH: usize = 32;

impl RngCore for SeededRng {
    fn next_u32(&mut self) -> u32 {
        rand_core::impls::next_u32_via_fill(self)
    }

    fn next_u64(&mut self) -> u64 {
        rand_core::impls::next_u64_via_fill(self)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.seed);
        for part in bytes.chunks_mut(SEED_LENGTH) {
            let block = hmac::sign(&key, &self.counter.to_le_bytes());
            part.copy_from_slice(&block.as_ref()[..part.len()]);
            self.counter += 1;
        }
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

impl CryptoRng for SeededRng {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_do_not_repeat() {
        let mut seeded = SeededRng::new().unwrap();
        let mut all = std::collections::BTreeSet::new();
        for _ in 0..100 {
            let mut bytes = [0; 2 * SEED_LENGTH + 1];
            seeded.fill_bytes(&mut bytes);
            all.extend([bytes[..SEED_LENGTH].to_vec(), bytes[SEED_LENGTH..2 * SEED_LENGTH].to_vec()]);
            all.insert(seeded.next_u64().to_le_bytes().to_vec());
        }
        assert_eq!(all.len(), 300);
        let mut other = SeededRng::new().unwrap();
        assert_ne!(seeded.next_u64(), other.next_u64());
    }
}
