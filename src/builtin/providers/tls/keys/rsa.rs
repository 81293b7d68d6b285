//! RSA keys.

use num_bigint::BigUint;
use rsa::{Pkcs1v15Sign, RsaPrivateKey};

use super::error::KeyError;
use super::random::SeededRng;

const LEAST_BITS: i64 = 1024;
/// A key with two primes or more.
#[derive(Clone, PartialEq)]
pub struct RsaKey {
    modulus: BigUint,
    exponent: u32,
    private_exponent: BigUint,
    primes: Vec<BigUint>,
    first_exponent: BigUint,
    second_exponent: BigUint,
    coefficient: BigUint,
}

/// The numbers that a key is read from. The last three are computed if they are missing.
#[derive(Clone, Debug, Default)]
pub struct RsaParts {
    pub modulus: BigUint,
    pub exponent: BigUint,
    pub private_exponent: BigUint,
    pub primes: Vec<BigUint>,
    /// The private exponent modulo `p-1`, modulo `q-1`, and the inverse of `q` modulo `p`.
    pub remainders: Option<[BigUint; 3]>,
}

impl RsaKey {
    /// A key of numbers that must fit together, as Go checks it.
    pub fn from_parts(parts: RsaParts) -> Result<RsaKey, KeyError> {
        let one = BigUint::from(1u8);
        let exponent = check_public(&parts.modulus, &parts.exponent)?;
        let [p, q, ..] = &parts.primes[..] else { return Err(KeyError::Rsa("missing primes")) };
        if parts.primes.iter().any(|prime| *prime <= one) {
            return Err(KeyError::Rsa("invalid prime"));
        }
        if parts.primes.iter().product::<BigUint>() != parts.modulus {
            return Err(KeyError::Rsa("p * q != n"));
        }
        let computed = || {
            let inverse = q.modinv(p).ok_or(KeyError::Rsa("prime factors are not relatively prime"))?;
            Ok::<_, KeyError>([&parts.private_exponent % (p - &one), &parts.private_exponent % (q - &one), inverse])
        };
        let [first_exponent, second_exponent, coefficient] = match parts.remainders {
            Some(remainders) if parts.primes.len() == 2 => remainders,
            _ => computed()?,
        };
        let (modulus, private_exponent, primes) = (parts.modulus, parts.private_exponent, parts.primes);
        let key = RsaKey { modulus, exponent, private_exponent, primes, first_exponent, second_exponent, coefficient };
        key.check_private()?;
        Ok(key)
    }

    fn check_private(&self) -> Result<(), KeyError> {
        let one = BigUint::from(1u8);
        let (p, q) = (&self.primes[0], &self.primes[1]);
        let parts =
            [(p, &self.first_exponent, "d does not match dP"), (q, &self.second_exponent, "d does not match dQ")];
        for (prime, remainder, _) in parts {
            let order = prime - &one;
            if *remainder >= order || remainder * self.exponent % order != one {
                return Err(KeyError::Rsa("invalid CRT exponent"));
            }
        }
        if q * &self.coefficient % p != one || self.coefficient >= *p {
            return Err(KeyError::Rsa("invalid CRT coefficient"));
        }
        for (prime, remainder, mismatch) in parts {
            if &self.private_exponent % (prime - &one) != *remainder {
                return Err(KeyError::Rsa(mismatch));
            }
        }
        let half = self.modulus.bits() / 2;
        let difference = if p > q { p - q } else { q - p };
        if self.primes.len() == 2 && difference.bits() + 100 <= half {
            return Err(KeyError::Rsa("|p - q| too small"));
        }
        if self.primes.len() == 2 && self.private_exponent.bits() <= half {
            return Err(KeyError::Rsa("d too small"));
        }
        Ok(())
    }

    pub fn modulus_bytes(&self) -> Vec<u8> {
        self.modulus.to_bytes_be()
    }

    pub fn exponent_bytes(&self) -> Vec<u8> {
        BigUint::from(self.exponent).to_bytes_be()
    }

    pub fn private_exponent(&self) -> &BigUint {
        &self.private_exponent
    }

    /// Two at least.
    pub fn primes(&self) -> &[BigUint] {
        &self.primes
    }

    /// The private exponent modulo `p-1` and `q-1`, and the inverse of `q` modulo `p`.
    pub fn remainders(&self) -> [&BigUint; 3] {
        [&self.first_exponent, &self.second_exponent, &self.coefficient]
    }

    /// For each prime after the second: the prime, its exponent, and the inverse of the product of those before it.
    pub fn more_primes(&self) -> Vec<[BigUint; 3]> {
        let mut product = &self.primes[0] * &self.primes[1];
        let mut out = Vec::new();
        for prime in &self.primes[2..] {
            let exponent = &self.private_exponent % (prime - 1u8);
            out.push([prime.clone(), exponent, product.modinv(prime).unwrap_or_default()]);
            product *= prime;
        }
        out
    }

    /// The PKCS#1 v1.5 signature of a SHA-256 hash.
    pub fn sign(&self, hash: &[u8]) -> Result<Vec<u8>, KeyError> {
        check_size(self.modulus.bits() as i64)?;
        let number = |number: &BigUint| rsa::BigUint::from_bytes_be(&number.to_bytes_be());
        let primes = self.primes.iter().map(number).collect();
        let exponent = rsa::BigUint::from(self.exponent);
        let key =
            RsaPrivateKey::from_components(number(&self.modulus), exponent, number(&self.private_exponent), primes);
        let key = key.map_err(library)?;
        // Blinding hides the key from those who measure the time.
        let scheme = Pkcs1v15Sign::new::<rsa::sha2::Sha256>();
        key.sign_with_rng(&mut SeededRng::new()?, scheme, hash).map_err(library)
    }
}

pub fn check_size(bits: i64) -> Result<(), KeyError> {
    if bits >= LEAST_BITS { Ok(()) } else { Err(KeyError::TooFewBits(bits)) }
}

/// The exponent, which has 31 bits at most.
fn check_public(modulus: &BigUint, exponent: &BigUint) -> Result<u32, KeyError> {
    if !modulus.bit(0) {
        return Err(KeyError::Rsa("public modulus is even"));
    }
    if *exponent < BigUint::from(2u8) {
        return Err(KeyError::Rsa("public exponent too small or negative"));
    }
    if !exponent.bit(0) {
        return Err(KeyError::Rsa("public exponent is even"));
    }
    let exponent = u32::try_from(exponent).ok().filter(|exponent| *exponent <= i32::MAX as u32);
    exponent.ok_or(KeyError::Rsa("public exponent too large"))
}

pub fn library(error: impl std::fmt::Display) -> KeyError {
    KeyError::Library(error.to_string())
}
