//! The registry protocol for providers: which versions there are, and where the package of one of them is.

use std::collections::BTreeMap;

use model::addr::Provider;
use model::deps::Version;
use model::service::Host;
use net::http::{Answer, FailureKind, Request};
use serde::Deserialize;
use url::Url;

use super::ask::{self, AskError};
use super::discovery::{DiscoveryError, Hosts};

const SERVICE: &str = "providers.v1";
/// The plugin protocols that this program speaks, by their first number.
pub const PROTOCOLS: [u64; 2] = [5, 6];

/// What a registry says of a provider.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
pub struct ProviderVersions {
    #[serde(default)]
    pub versions: Vec<ProviderVersion>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub warnings: Vec<String>,
    /// The address of a provider that goes by an old name.
    #[serde(default)]
    pub id: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
pub struct ProviderVersion {
    pub version: String,
    /// `5.0`; none: not said.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub protocols: Vec<String>,
}

/// Where a package is, and what it takes to trust it.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct ProviderDownload {
    #[serde(default, deserialize_with = "null_is_empty")]
    pub protocols: Vec<String>,
    #[serde(default)]
    pub os: String,
    #[serde(default)]
    pub arch: String,
    #[serde(default)]
    pub filename: String,
    #[serde(default)]
    pub download_url: String,
    #[serde(default)]
    pub shasum: String,
    #[serde(default)]
    pub shasums_url: String,
    #[serde(default)]
    pub shasums_signature_url: String,
    #[serde(default)]
    pub signing_keys: SigningKeys,
    /// By platform, from registries that know more than the protocol asks for.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub packages: BTreeMap<String, OtherPackage>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct OtherPackage {
    #[serde(default, deserialize_with = "null_is_empty")]
    pub hashes: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct SigningKeys {
    #[serde(default, deserialize_with = "null_is_empty")]
    pub gpg_public_keys: Vec<SigningKeyDocument>,
}

/// A key that the registry vouches for.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
pub struct SigningKeyDocument {
    #[serde(default)]
    pub key_id: String,
    #[serde(default)]
    pub ascii_armor: String,
    #[serde(default)]
    pub trust_signature: String,
    #[serde(default)]
    pub source: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub source_url: String,
}

fn null_is_empty<'de, D: serde::Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// Why a registry does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderRegistryError {
    Interrupted,
    /// Neither the provider nor, for downloads, the platform.
    NotFound,
    NoRegistry {
        host: Host,
        other_version: bool,
    },
    Unreachable {
        host: Host,
        why: String,
    },
    Unauthorized {
        host: Host,
        had_credentials: bool,
    },
    /// The user's helper fails; why for people.
    NoCredentials {
        host: Host,
        why: String,
    },
    /// For people, without a full stop.
    Failed(String),
}

impl From<AskError> for ProviderRegistryError {
    fn from(error: AskError) -> ProviderRegistryError {
        match error {
            AskError::Interrupted => ProviderRegistryError::Interrupted,
            AskError::Failed(why) => ProviderRegistryError::Failed(why),
        }
    }
}

impl Hosts {
    pub async fn provider_versions(&self, provider: &Provider) -> Result<ProviderVersions, ProviderRegistryError> {
        let (host, url) = self.provider_url(provider, &["versions"]).await?;
        let answer = self.ask_registry(&host, url, ask::host_of).await?;
        self.require_success(&host, &answer).await?;
        ask::object(&answer.body).map_err(|why| ProviderRegistryError::Failed(why.to_string()))
    }

    /// With the address that relative ones within are relative to.
    pub async fn provider_download(
        &self,
        provider: &Provider,
        version: &Version,
        platform: &str,
    ) -> Result<(ProviderDownload, Url), ProviderRegistryError> {
        let (os, arch) = platform.split_once('_').unwrap_or((platform, ""));
        let rest = [&*version.to_string(), "download", os, arch];
        let (host, url) = self.provider_url(provider, &rest).await?;
        let answer = self.ask_registry(&host, url, ask::host_of).await?;
        self.require_success(&host, &answer).await?;
        let download = ask::object(&answer.body).map_err(|why| ProviderRegistryError::Failed(why.to_string()))?;
        Ok((download, answer.url))
    }

    /// A file that belongs to a release.
    pub async fn release_file(&self, url: Url) -> Result<Vec<u8>, ProviderRegistryError> {
        let request = Request::get(url);
        let answer = self.http.send(&request).await.map_err(|e| match e.kind {
            FailureKind::Stopped => ProviderRegistryError::Interrupted,
            _ => ProviderRegistryError::Failed(e.to_string()),
        })?;
        match answer.status.as_u16() {
            200 => Ok(answer.body),
            _ => Err(ProviderRegistryError::Failed(
                ask::trouble(&answer, ask::host_of)
                    .unwrap_or_else(|| format!("{} returned from {}", answer.status, ask::host_of(&answer.url))),
            )),
        }
    }

    async fn require_success(&self, host: &Host, answer: &Answer) -> Result<(), ProviderRegistryError> {
        match answer.status.as_u16() {
            200 => Ok(()),
            404 => Err(ProviderRegistryError::NotFound),
            401 | 403 => {
                let had_credentials = self.credentials.of(host).await.is_some();
                Err(ProviderRegistryError::Unauthorized { host: host.clone(), had_credentials })
            }
            _ => Err(ProviderRegistryError::Failed(answer.status.to_string())),
        }
    }

    async fn provider_url(&self, provider: &Provider, rest: &[&str]) -> Result<(Host, Url), ProviderRegistryError> {
        let host = Host::parse_any(&provider.host)
            .map_err(|_| ProviderRegistryError::Failed(format!("invalid hostname {}", provider.host)))?;
        let services = self.services(&host).await.map_err(|e| match e {
            DiscoveryError::Interrupted => ProviderRegistryError::Interrupted,
            DiscoveryError::Failed(why) => ProviderRegistryError::Unreachable { host: host.clone(), why },
        })?;
        if !services.offers(SERVICE) {
            let other_version = services.offers_some(SERVICE);
            return Err(ProviderRegistryError::NoRegistry { host, other_version });
        }
        if let Err(why) = self.credentials.demanded(&host).await {
            return Err(ProviderRegistryError::NoCredentials { host, why: why.to_string() });
        }
        let mut url = services.url(SERVICE).map_err(ProviderRegistryError::Failed)?;
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend([&*provider.namespace, &*provider.kind]).extend(rest);
        }
        Ok((host, url))
    }
}
