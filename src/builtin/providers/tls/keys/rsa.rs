//! RSA keys.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::KeySize;
use num_bigint::BigUint;
use rsa::rand_core::{CryptoRng, Error, RngCore};
use rsa::traits::{PrivateKeyParts, PublicKeyParts};
use rsa::{Pkcs1v15Sign, RsaPrivateKey};

use super::{PrivateKey, private};

const LEAST_BITS: i64 = 1024;
/// Go needs minutes for keys of this size too; larger ones would never be ready.
const MOST_BITS: i64 = 65536;

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
    /// A new key. The error of a small one is Go's.
    pub fn generate(bits: i64) -> Result<RsaKey, String> {
        check_size(bits)?;
        if bits > MOST_BITS {
            return Err(format!("crypto/rsa: {bits}-bit keys are too large"));
        }
        // These are generated several times faster.
        match bits {
            2048 => generate_quickly(KeySize::Rsa2048),
            3072 => generate_quickly(KeySize::Rsa3072),
            4096 => generate_quickly(KeySize::Rsa4096),
            8192 => generate_quickly(KeySize::Rsa8192),
            _ => generate_slowly(bits as usize),
        }
    }

    /// A key of numbers that must fit together, as Go checks it.
    pub fn from_parts(parts: RsaParts) -> Result<RsaKey, String> {
        let one = BigUint::from(1u8);
        let exponent = check_public(&parts.modulus, &parts.exponent)?;
        let [p, q, ..] = &parts.primes[..] else { return Err("crypto/rsa: missing primes".to_owned()) };
        if parts.primes.iter().any(|prime| *prime <= one) {
            return Err("crypto/rsa: invalid prime".to_owned());
        }
        if parts.primes.iter().product::<BigUint>() != parts.modulus {
            return Err("crypto/rsa: p * q != n".to_owned());
        }
        let computed = || {
            let inverse = q.modinv(p).ok_or("crypto/rsa: prime factors are not relatively prime")?;
            Ok::<_, String>([&parts.private_exponent % (p - &one), &parts.private_exponent % (q - &one), inverse])
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

    fn check_private(&self) -> Result<(), String> {
        let one = BigUint::from(1u8);
        let (p, q) = (&self.primes[0], &self.primes[1]);
        let parts = [(p, &self.first_exponent, "P"), (q, &self.second_exponent, "Q")];
        for (prime, remainder, _) in parts {
            let order = prime - &one;
            if *remainder >= order || remainder * self.exponent % order != one {
                return Err("crypto/rsa: invalid CRT exponent".to_owned());
            }
        }
        if q * &self.coefficient % p != one || self.coefficient >= *p {
            return Err("crypto/rsa: invalid CRT coefficient".to_owned());
        }
        for (prime, remainder, name) in parts {
            if &self.private_exponent % (prime - &one) != *remainder {
                return Err(format!("crypto/rsa: d does not match d{name}"));
            }
        }
        let half = self.modulus.bits() / 2;
        let difference = if p > q { p - q } else { q - p };
        if self.primes.len() == 2 && difference.bits() + 100 <= half {
            return Err("crypto/rsa: |p - q| too small".to_owned());
        }
        if self.primes.len() == 2 && self.private_exponent.bits() <= half {
            return Err("crypto/rsa: d too small".to_owned());
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
    pub fn sign(&self, hash: &[u8]) -> Result<Vec<u8>, String> {
        check_size(self.modulus.bits() as i64)?;
        let number = |number: &BigUint| rsa::BigUint::from_bytes_be(&number.to_bytes_be());
        let primes = self.primes.iter().map(number).collect();
        let exponent = rsa::BigUint::from(self.exponent);
        let key =
            RsaPrivateKey::from_components(number(&self.modulus), exponent, number(&self.private_exponent), primes);
        let key = key.map_err(|error| error.to_string())?;
        // Blinding hides the key from those who measure the time.
        let scheme = Pkcs1v15Sign::new::<rsa::sha2::Sha256>();
        key.sign_with_rng(&mut SystemRng, scheme, hash).map_err(|error| error.to_string())
    }
}

fn check_size(bits: i64) -> Result<(), String> {
    if bits >= LEAST_BITS {
        return Ok(());
    }
    let page = "https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size";
    Err(format!("crypto/rsa: {bits}-bit keys are insecure (see {page})"))
}

/// The exponent, which has 31 bits at most.
fn check_public(modulus: &BigUint, exponent: &BigUint) -> Result<u32, String> {
    if !modulus.bit(0) {
        return Err("crypto/rsa: public modulus is even".to_owned());
    }
    if *exponent < BigUint::from(2u8) {
        return Err("crypto/rsa: public exponent too small or negative".to_owned());
    }
    if !exponent.bit(0) {
        return Err("crypto/rsa: public exponent is even".to_owned());
    }
    let exponent = u32::try_from(exponent).ok().filter(|exponent| *exponent <= i32::MAX as u32);
    exponent.ok_or_else(|| "crypto/rsa: public exponent too large".to_owned())
}

fn generate_quickly(size: KeySize) -> Result<RsaKey, String> {
    let failed = |_| "crypto/rsa: the key cannot be generated".to_owned();
    let pair = aws_lc_rs::rsa::KeyPair::generate(size).map_err(failed)?;
    let der: Pkcs8V1Der<'_> = pair.as_der().map_err(failed)?;
    match private::from_pkcs8(der.as_ref())? {
        PrivateKey::Rsa(key) => Ok(key),
        _ => Err("crypto/rsa: the key cannot be generated".to_owned()),
    }
}

fn generate_slowly(bits: usize) -> Result<RsaKey, String> {
    let key = RsaPrivateKey::new(&mut SystemRng, bits).map_err(|error| error.to_string())?;
    let number = |number: &rsa::BigUint| BigUint::from_bytes_be(&number.to_bytes_be());
    RsaKey::from_parts(RsaParts {
        modulus: number(key.n()),
        exponent: number(key.e()),
        private_exponent: number(key.d()),
        primes: key.primes().iter().map(number).collect(),
        remainders: None,
    })
}

/// The operating system's random numbers, for the RSA crate.
struct SystemRng;

impl RngCore for SystemRng {
    fn next_u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        self.fill_bytes(&mut bytes);
        u32::from_le_bytes(bytes)
    }

    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill_bytes(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        // This cannot report an error, and must not leave bytes that others can guess.
        while aws_lc_rs::rand::fill(bytes).is_err() {}
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        aws_lc_rs::rand::fill(bytes).map_err(|_| Error::from(std::num::NonZeroU32::MIN))
    }
}

impl CryptoRng for SystemRng {}
