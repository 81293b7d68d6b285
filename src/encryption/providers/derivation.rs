//! Deriving keys from passphrases. What a state says of the work that this takes comes from every process that can write the state, so it
//! has limits, and a long derivation can be interrupted.

use std::fmt;
use std::num::NonZeroU32;

use aws_lc_rs::digest::{Context, SHA256};
use aws_lc_rs::pbkdf2::{self, Algorithm, PBKDF2_HMAC_SHA256, PBKDF2_HMAC_SHA512};
use base::diag::Diagnostic;
use base::env::TERRANE_PBKDF2_LIMIT;
use base::name::PROGRAM;

use crate::key::Key;
use crate::services::Services;

/// More rounds than this take longer than anyone expects.
const MANY_ROUNDS: u64 = 10_000_000;
/// More rounds than this are an error, unless the environment allows them.
const MOST_ROUNDS: u64 = 1_000_000_000;
/// Keys that are longer are an error, or an attack on the memory of who reads a state.
const LONGEST_KEY: i64 = 1 << 20;

/// What a key is derived by, as configurations and states have it.
pub struct Derivation<'m> {
    pub salt: &'m [u8],
    pub iterations: i64,
    pub hash_function: &'m str,
    pub key_length: i64,
}

/// Why a key cannot be derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DerivationError {
    Hash(HashError),
    Iterations(i64),
    KeyLength(i64),
    /// It would take more rounds than are allowed. `work`: what it would take.
    TooMuchWork {
        work: String,
        limit: u64,
        rounds: u64,
    },
    Interrupted,
    /// The thread that derives it ended without a key: why.
    Thread(String),
}

impl fmt::Display for DerivationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DerivationError::Hash(error) => error.fmt(f),
            DerivationError::Iterations(count) => write!(f, "invalid number of iterations ({count})"),
            DerivationError::KeyLength(length) => write!(f, "invalid key length ({length})"),
            DerivationError::TooMuchWork { work, limit, rounds } => write!(
                f,
                "the key is derived with {work}, which is more than the limit of {limit}; if that is intended, set \
                 {TERRANE_PBKDF2_LIMIT}={rounds}"
            ),
            DerivationError::Interrupted => f.write_str("the derivation of the key was interrupted"),
            DerivationError::Thread(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for DerivationError {}

impl From<HashError> for DerivationError {
    fn from(error: HashError) -> DerivationError {
        DerivationError::Hash(error)
    }
}

/// A hash function that keys are not derived with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HashError {
    Missing,
    Unknown(String),
}

impl fmt::Display for HashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HashError::Missing => f.write_str("please specify a hash function"),
            HashError::Unknown(name) => write!(f, "invalid hash function name: {name}"),
        }
    }
}

impl std::error::Error for HashError {}

pub fn check_hash(name: &str) -> Result<Algorithm, HashError> {
    match name {
        "sha512" => Ok(PBKDF2_HMAC_SHA512),
        "sha256" => Ok(PBKDF2_HMAC_SHA256),
        "" => Err(HashError::Missing),
        other => Err(HashError::Unknown(other.to_owned())),
    }
}

impl Derivation<'_> {
    pub async fn key(&self, passphrase: &[u8], services: &Services) -> Result<Key, DerivationError> {
        let algorithm = check_hash(self.hash_function)?;
        let iterations = u32::try_from(self.iterations).ok().and_then(NonZeroU32::new);
        let iterations = iterations.ok_or(DerivationError::Iterations(self.iterations))?;
        let length = usize::try_from(self.key_length).ok().filter(|_| self.key_length <= LONGEST_KEY);
        let length = length.ok_or(DerivationError::KeyLength(self.key_length))?;
        let name = self.name(passphrase);
        if let Some(key) = services.derived.get(&name) {
            return Ok(key);
        }
        let is_long = self.check_work(iterations, services)?;
        let (passphrase, salt) = (passphrase.to_vec(), self.salt.to_vec());
        // It takes a part of a second, on purpose.
        let work = tokio::task::spawn_blocking(move || {
            let mut key = vec![0; length];
            pbkdf2::derive(algorithm, iterations, &salt, &passphrase, &mut key);
            Key::new(key)
        });
        let key = tokio::select! {
            key = work => key.map_err(|e| DerivationError::Thread(e.to_string()))?,
            // The work itself cannot be stopped: the process ends without it.
            () = services.stop.stopping(), if is_long => return Err(DerivationError::Interrupted),
        };
        services.derived.insert(name, key.clone());
        Ok(key)
    }

    /// Whether it takes long, which is reported before it begins.
    fn check_work(&self, iterations: NonZeroU32, services: &Services) -> Result<bool, DerivationError> {
        let block = if self.hash_function == "sha256" { 32 } else { 64 };
        let rounds = u64::from(iterations.get()) * self.key_length.unsigned_abs().div_ceil(block).max(1);
        let limit = services.environment.non_empty(TERRANE_PBKDF2_LIMIT).and_then(|text| text.trim().parse().ok());
        let limit = limit.unwrap_or(MOST_ROUNDS);
        let work = match rounds == u64::from(iterations.get()) {
            true => format!("{iterations} iterations"),
            false => format!("{iterations} iterations for a key of {} bytes, {rounds} in all", self.key_length),
        };
        if rounds > limit {
            return Err(DerivationError::TooMuchWork { work, limit, rounds });
        }
        if rounds > MANY_ROUNDS {
            let detail = format!(
                "A key is derived with {work}. {PROGRAM} waits until that is done. An interrupt ends the command. The number is kept \
                 in the encrypted state or plan, or in the configuration."
            );
            (services.notify)(Diagnostic::warning("Deriving an encryption key takes long", detail));
        }
        Ok(rounds > MANY_ROUNDS)
    }

    /// What distinguishes this key from others, without the passphrase.
    fn name(&self, passphrase: &[u8]) -> Vec<u8> {
        let mut context = Context::new(&SHA256);
        let numbers = format!("{} {} {} ", self.hash_function, self.iterations, self.key_length);
        for part in [numbers.as_bytes(), self.salt, passphrase] {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part);
        }
        context.finish().as_ref().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use base::env::Environment;
    use base::stop::Stop;
    use gotext::hex::hex;

    use super::*;
    use crate::key::DerivedKeys;
    use crate::services::NoHttp;

    fn services(environment: Environment) -> (Services, Arc<Mutex<Vec<String>>>) {
        let notices: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = notices.clone();
        let services = Services {
            environment,
            stop: Stop::new(),
            http: Arc::new(NoHttp),
            notify: Arc::new(move |notice| heard.lock().unwrap().push(notice.detail)),
            derived: DerivedKeys::default(),
        };
        (services, notices)
    }

    fn derivation(iterations: i64, key_length: i64) -> Derivation<'static> {
        Derivation { salt: b"NaCl", iterations, hash_function: "sha256", key_length }
    }

    /// RFC 7914, section 11.
    #[tokio::test]
    async fn derivation_is_the_standard_one() {
        let (services, notices) = services(Environment::of([("", "")]));
        for _ in 0..2 {
            let key = derivation(80_000, 64).key(b"Password", &services).await.unwrap();
            assert_eq!(
                hex(key.bytes()),
                "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"
            );
        }
        assert!(notices.lock().unwrap().is_empty());
        let other = derivation(80_000, 64).key(b"password", &services).await.unwrap();
        assert_ne!(other, derivation(80_000, 64).key(b"Password", &services).await.unwrap());
    }

    #[tokio::test]
    async fn too_much_work_is_refused() {
        let (of_default, _) = services(Environment::of([("", "")]));
        for (iterations, length) in [(4_000_000_000, 32), (600_000, 1 << 20)] {
            let error = derivation(iterations, length).key(b"x", &of_default).await.unwrap_err().to_string();
            assert!(error.contains("the limit of 1000000000") && error.contains("TERRANE_PBKDF2_LIMIT="), "{error}");
        }
        let (lower, _) = services(Environment::of([("TERRANE_PBKDF2_LIMIT", "1000")]));
        assert!(derivation(1001, 32).key(b"x", &lower).await.is_err());
        assert!(derivation(1000, 32).key(b"x", &lower).await.is_ok());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_interrupt_ends_long_work_that_was_told_of() {
        let (services, notices) = services(Environment::of([("", "")]));
        services.stop.stop();
        let error = derivation(20_000_000, 32).key(b"x", &services).await.unwrap_err();
        assert_eq!(error, DerivationError::Interrupted);
        assert!(notices.lock().unwrap()[0].contains("20000000 iterations"));
        // What is short goes on, for it may be what a state is saved with.
        derivation(1000, 32).key(b"x", &services).await.unwrap();
    }
}
