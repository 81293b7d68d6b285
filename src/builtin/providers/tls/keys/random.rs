//! Random numbers of the operating system.

use rand::SeedableRng;
use rand::rngs::StdRng;
use rsa::rand_core::{CryptoRng, Error, RngCore};

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

/// Random numbers for the RSA crate, which has no error for their absence: those of a generator for cryptography. Its seed is the
/// operating system's, which is asked once, when an error can still be reported.
pub struct SeededRng(StdRng);

impl SeededRng {
    pub fn new() -> Result<SeededRng, KeyError> {
        Ok(SeededRng(StdRng::from_seed(random()?)))
    }
}

impl RngCore for SeededRng {
    fn next_u32(&mut self) -> u32 {
        rand::RngCore::next_u32(&mut self.0)
    }

    fn next_u64(&mut self) -> u64 {
        rand::RngCore::next_u64(&mut self.0)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        rand::RngCore::fill_bytes(&mut self.0, bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

impl CryptoRng for SeededRng {}
