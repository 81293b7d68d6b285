//! Keys made of a passphrase, or of the keys of another provider.

use async_trait::async_trait;
use base::secret::Secret;
use lang::syntax::body::BodySchema;
use serde::{Deserialize, Serialize};

use super::derivation::{Derivation, DerivationError, check_hash};
use super::{BuildError, KeyProvider, Kind, Need, ProvideError, Provided, base64_bytes, kept, stored};
use crate::aes::random;
use crate::key::{Key, Keys};
use crate::services::Services;
use crate::settings::Settings;

const LEAST_PASSPHRASE: usize = 16;
const LEAST_ITERATIONS: i64 = 200_000;

pub struct Pbkdf2;

#[async_trait]
impl Kind for Pbkdf2 {
    fn name(&self) -> &'static str {
        "pbkdf2"
    }

    fn schema(&self) -> BodySchema {
        ["passphrase", "chain", "key_length", "iterations", "hash_function", "salt_length"]
            .iter()
            .fold(BodySchema::new(), |schema, name| schema.attribute(name))
    }

    async fn build(
        &self,
        settings: &mut Settings,
        chain: Option<Keys>,
        services: &Services,
    ) -> Result<Box<dyn KeyProvider>, BuildError> {
        let provider = Pbkdf2Provider {
            passphrase: Secret::new(exact_text(settings, "passphrase")?.unwrap_or_default()),
            chain,
            key_length: whole(settings, "key_length")?.unwrap_or(32),
            iterations: whole(settings, "iterations")?.unwrap_or(600_000),
            hash: exact_text(settings, "hash_function")?.unwrap_or_else(|| "sha512".into()),
            salt_length: whole(settings, "salt_length")?.unwrap_or(32),
            services: services.clone(),
        };
        provider.check()?;
        Ok(Box::new(provider))
    }
}

/// A number, which may not be given as text. A fraction counts as not given, as in OpenTofu, which the metadata shows.
fn whole(settings: &Settings, name: &str) -> Result<Option<i64>, BuildError> {
    let Some((value, _)) = settings.get(name).filter(|(value, _)| !value.is_null()) else { return Ok(None) };
    match value.as_number() {
        Some(number) => Ok(number.as_i64()),
        None => Err(BuildError::Setting(format!("{name} must be a number, not a {}", value.ty().friendly_name()))),
    }
}

fn exact_text(settings: &Settings, name: &str) -> Result<Option<String>, BuildError> {
    let Some((value, _)) = settings.get(name) else { return Ok(None) };
    match value.as_str() {
        Some(text) => Ok(Some(text.to_owned())),
        None if value.is_null() => Err(BuildError::Setting(format!("{name} must not be null"))),
        None => Err(BuildError::Setting(format!("{name} must be a string, not a {}", value.ty().friendly_name()))),
    }
}

struct Pbkdf2Provider {
    passphrase: Secret,
    chain: Option<Keys>,
    key_length: i64,
    iterations: i64,
    hash: String,
    salt_length: i64,
    services: Services,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Pbkdf2Metadata {
    #[serde(with = "base64_bytes")]
    salt: Vec<u8>,
    iterations: i64,
    hash_function: String,
    key_length: i64,
}

impl Pbkdf2Metadata {
    fn derivation(&self) -> Derivation<'_> {
        Derivation {
            salt: &self.salt,
            iterations: self.iterations,
            hash_function: &self.hash_function,
            key_length: self.key_length,
        }
    }
}

impl Pbkdf2Provider {
    fn check(&self) -> Result<(), BuildError> {
        let refused = |text: &str| Err(BuildError::setting(text));
        let passphrase = self.passphrase.reveal();
        match &self.chain {
            None if passphrase.is_empty() => {
                return refused("no passphrase provided and no chained provider defined");
            }
            Some(_) if !passphrase.is_empty() => return refused("passphrase and chain are mutually exclusive"),
            Some(keys) => check_chain(keys)?,
            None => {}
        }
        if !passphrase.is_empty() && passphrase.len() < LEAST_PASSPHRASE {
            return refused(&format!("passphrase is too short (minimum {LEAST_PASSPHRASE} characters)"));
        }
        if self.key_length <= 0 {
            return refused("the key length must be larger than zero");
        }
        if self.iterations <= 0 {
            return refused("the number of iterations must be larger than zero");
        }
        if self.iterations < LEAST_ITERATIONS {
            return refused(&format!(
                "the number of iterations is dangerously low (<{LEAST_ITERATIONS}), refusing to generate key"
            ));
        }
        if self.salt_length <= 0 {
            return refused("the salt length must be larger than zero");
        }
        match check_hash(&self.hash) {
            Ok(_) => Ok(()),
            Err(why) => refused(&format!("invalid key provider configuration: {why}")),
        }
    }

    /// The passphrase, or a chained key in place of it.
    fn passphrase(&self, chained: impl Fn(&Keys) -> Option<&Key>) -> &[u8] {
        match &self.chain {
            Some(keys) => chained(keys).map(Key::bytes).unwrap_or_default(),
            None => self.passphrase.reveal().as_bytes(),
        }
    }

    async fn derived(
        &self,
        metadata: &Pbkdf2Metadata,
        chained: impl Fn(&Keys) -> Option<&Key>,
    ) -> Result<Key, ProvideError> {
        let derived = metadata.derivation().key(self.passphrase(chained), &self.services).await;
        derived.map_err(ProvideError::Derivation)
    }
}

fn check_chain(keys: &Keys) -> Result<(), BuildError> {
    let short = |what: &str| {
        BuildError::Setting(format!(
            "upstream key provider supplied an {what} key that is too short (minimum {LEAST_PASSPHRASE} characters)"
        ))
    };
    match (&keys.encryption, &keys.decryption) {
        (None, None) => Err(BuildError::setting("no encryption key provided from upstream key provider")),
        (Some(key), _) if key.bytes().len() < LEAST_PASSPHRASE => Err(short("encryption")),
        (_, Some(key)) if key.bytes().len() < LEAST_PASSPHRASE => Err(short("decryption")),
        _ => Ok(()),
    }
}

#[async_trait]
impl KeyProvider for Pbkdf2Provider {
    async fn provide(&self, stored_metadata: Option<&[u8]>, need: Need) -> Result<Provided, ProvideError> {
        let old: Pbkdf2Metadata = stored(stored_metadata)?;
        let mut keys = Keys::default();
        let is_present =
            !old.salt.is_empty() && old.iterations != 0 && !old.hash_function.is_empty() && old.key_length != 0;
        if is_present {
            if old.iterations < 0 {
                return Err(ProvideError::Kept(DerivationError::Iterations(old.iterations)));
            }
            if old.key_length < 0 {
                return Err(ProvideError::Kept(DerivationError::KeyLength(old.key_length)));
            }
            check_hash(&old.hash_function).map_err(|why| ProvideError::Kept(why.into()))?;
            keys.decryption = Some(self.derived(&old, |keys| keys.decryption.as_ref()).await?);
        }
        if need == Need::Decryption {
            return Ok(Provided { keys, metadata: Vec::new() });
        }
        // Not negative, as `check` has made sure.
        let mut salt = vec![0; usize::try_from(self.salt_length).unwrap_or_default()];
        random(&mut salt)?;
        let (iterations, key_length) = (self.iterations, self.key_length);
        let new = Pbkdf2Metadata { salt, iterations, hash_function: self.hash.clone(), key_length };
        keys.encryption = Some(self.derived(&new, |keys| keys.encryption.as_ref()).await?);
        let metadata = kept(&new)?;
        Ok(Provided { keys, metadata })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::derivation::HashError;

    fn provider(passphrase: &str, chain: Option<Keys>) -> Pbkdf2Provider {
        let passphrase = Secret::new(passphrase);
        Pbkdf2Provider {
            passphrase,
            chain,
            key_length: 32,
            iterations: 200_000,
            hash: "sha256".into(),
            salt_length: 8,
            services: Services::offline(),
        }
    }

    #[tokio::test]
    async fn the_key_is_found_again() {
        let provider = provider("correct horse battery staple", None);
        let new = provider.provide(None, Need::Both).await.unwrap();
        assert!(new.keys.decryption.is_none());
        let again = provider.provide(Some(&new.metadata), Need::Decryption).await.unwrap();
        assert_eq!((again.keys.decryption, again.keys.encryption), (new.keys.encryption, None));
        let text = String::from_utf8(new.metadata).unwrap();
        assert!(text.ends_with("\"iterations\":200000,\"hash_function\":\"sha256\",\"key_length\":32}"), "{text}");
    }

    #[tokio::test]
    async fn odd_metadata_is_refused() {
        let provider = provider("correct horse battery staple", None);
        let given = |text: &str| text.to_owned();
        let salted = |rest: &str| format!("{{\"salt\":\"AAAA\",{rest}}}");
        let cases = [
            (given("hello"), ProvideError::Metadata("invalid character 'h' looking for beginning of value".into())),
            (
                salted("\"iterations\":1,\"hash_function\":\"md5\",\"key_length\":1"),
                ProvideError::Kept(DerivationError::Hash(HashError::Unknown("md5".into()))),
            ),
            (
                salted("\"iterations\":1,\"hash_function\":\"sha256\",\"key_length\":-5"),
                ProvideError::Kept(DerivationError::KeyLength(-5)),
            ),
            (
                salted("\"iterations\":-1,\"hash_function\":\"sha256\",\"key_length\":1"),
                ProvideError::Kept(DerivationError::Iterations(-1)),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(provider.provide(Some(text.as_bytes()), Need::Decryption).await.unwrap_err(), expected);
        }
        for absent in [
            "{}",
            "{\"salt\":null}",
            "{\"salt\":\"AAAA\",\"iterations\":0,\"hash_function\":\"sha256\",\"key_length\":1}",
        ] {
            let provided = provider.provide(Some(absent.as_bytes()), Need::Decryption).await.unwrap();
            assert_eq!(provided.keys, Keys::default(), "{absent}");
        }
    }

    #[test]
    fn settings_are_checked() {
        let long = "correct horse battery staple";
        let key = |length: usize| Keys { encryption: Some(Key::new(vec![1; length])), decryption: None };
        let cases: [(Pbkdf2Provider, &str); 6] = [
            (provider("", None), "no passphrase provided and no chained provider defined"),
            (provider("short", None), "passphrase is too short (minimum 16 characters)"),
            (provider(long, Some(key(16))), "passphrase and chain are mutually exclusive"),
            (
                provider("", Some(key(15))),
                "upstream key provider supplied an encryption key that is too short (minimum 16 characters)",
            ),
            (
                Pbkdf2Provider { hash: "sha1".into(), ..provider(long, None) },
                "invalid key provider configuration: invalid hash function name: sha1",
            ),
            (
                Pbkdf2Provider { iterations: 199_999, ..provider(long, None) },
                "the number of iterations is dangerously low (<200000), refusing to generate key",
            ),
        ];
        for (provider, expected) in cases {
            assert_eq!(provider.check(), Err(BuildError::setting(expected)));
        }
        // Bytes count, not characters.
        assert_eq!(provider("äöüßéèñç", None).check(), Ok(()));
    }
}
