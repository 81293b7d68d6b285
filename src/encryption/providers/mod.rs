//! The key providers: they create keys, and derive the same keys from stored metadata.
//!
//! They never know the use of the keys.

mod aws_kms;
mod azure_vault;
pub mod derivation;
mod external;
mod gcp_kms;
mod openbao;
mod pbkdf2;

use std::fmt;

use async_trait::async_trait;
use lang::syntax::body::BodySchema;

use derivation::DerivationError;

use super::aes::NoRandomBytes;
use super::key::Keys;
use super::services::{HttpError, Services};
use super::settings::Settings;

/// A type of key provider that configurations may name.
#[async_trait]
pub trait Kind: Send + Sync {
    fn name(&self) -> &'static str;

    fn schema(&self) -> BodySchema;

    /// The schemas of its blocks, by their kind.
    fn block_schema(&self, _kind: &str) -> BodySchema {
        BodySchema::new()
    }

    /// A provider with these settings. `chain`: the keys that its argument `chain` stands for.
    async fn build(
        &self,
        settings: &mut Settings,
        chain: Option<Keys>,
        services: &Services,
    ) -> Result<Box<dyn KeyProvider>, BuildError>;
}

/// A key provider with its settings.
#[async_trait]
pub trait KeyProvider: Send + Sync {
    /// `stored`: what it kept when what is to be read was written.
    async fn provide(&self, stored: Option<&[u8]>, need: Need) -> Result<Provided, ProvideError>;
}

/// Which keys are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Both, as far as there are both.
    Both,
    /// Only the one that something was encrypted with: a new one would be made for nothing.
    Decryption,
}

#[derive(Debug)]
pub struct Provided {
    pub keys: Keys,
    /// What it needs to find the key again, as JSON; of no use where no new key was made.
    pub metadata: Vec<u8>,
}

/// Why there is no key provider with its settings. Texts are OpenTofu's.
#[derive(Debug, PartialEq, Eq)]
pub enum BuildError {
    /// A setting is missing, has a value that the provider does not take, or does not go with another one: the text of
    /// the error.
    Setting(String),
    /// A file that a setting names cannot be read. `purpose`: what was done with it.
    File { purpose: &'static str, path: String, why: String },
    /// The service has no client.
    Http(HttpError),
    /// There are no credentials for the service, or they are not those of an account that is allowed.
    Credentials(String),
}

impl BuildError {
    fn setting(text: impl Into<String>) -> BuildError {
        BuildError::Setting(text.into())
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Setting(text) | BuildError::Credentials(text) => f.write_str(text),
            BuildError::File { purpose, path, why } => write!(f, "{purpose}: open {path}: {why}"),
            BuildError::Http(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<HttpError> for BuildError {
    fn from(error: HttpError) -> BuildError {
        BuildError::Http(error)
    }
}

/// Why there are no keys. Texts are OpenTofu's.
#[derive(Debug, PartialEq, Eq)]
pub enum ProvideError {
    /// What was kept is not what it keeps.
    Metadata(String),
    /// What has to be kept cannot be written.
    Unwritten(String),
    /// The derivation that the kept metadata ask for is not one.
    Kept(DerivationError),
    Derivation(DerivationError),
    Random(NoRandomBytes),
    /// The key service gave no key: what it answered, or why it did not.
    Service(String),
    /// The program that stands for a key service gave no key.
    Program(String),
}

impl fmt::Display for ProvideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProvideError::Metadata(text)
            | ProvideError::Unwritten(text)
            | ProvideError::Service(text)
            | ProvideError::Program(text) => f.write_str(text),
            ProvideError::Kept(DerivationError::Hash(error)) => write!(f, "invalid hash function name: {error}"),
            ProvideError::Kept(error) | ProvideError::Derivation(error) => error.fmt(f),
            ProvideError::Random(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ProvideError {}

impl From<NoRandomBytes> for ProvideError {
    fn from(error: NoRandomBytes) -> ProvideError {
        ProvideError::Random(error)
    }
}

/// Sorted by name.
pub const KINDS: [&dyn Kind; 6] = [
    &aws_kms::AwsKms,
    &azure_vault::AzureVault,
    &external::External,
    &gcp_kms::GcpKms,
    &openbao::OpenBao,
    &pbkdf2::Pbkdf2,
];

/// What a provider keeps, as JSON.
fn kept(metadata: &impl serde::Serialize) -> Result<Vec<u8>, ProvideError> {
    serde_json::to_vec(metadata).map_err(|error| ProvideError::Unwritten(error.to_string()))
}

/// Reads what a provider kept.
fn stored<'m, T: serde::Deserialize<'m> + Default>(metadata: Option<&'m [u8]>) -> Result<T, ProvideError> {
    let Some(text) = metadata else { return Ok(T::default()) };
    serde_json::from_slice(text)
        .map_err(|error| ProvideError::Metadata(terrane_value::json_error::syntax_error(text, &error)))
}

/// Bytes in a field of metadata.
mod base64_bytes {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
        crate::payload::from_base64(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_sorted() {
        assert!(KINDS.is_sorted_by_key(|kind| kind.name()));
    }
}
