//! A provider's own registry.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use model::addr::Provider;
use model::deps::{Hash, Version};
use tokio::sync::OnceCell;
use url::Url;

use super::{Available, Package, PackageLocation, Source, SourceError};
use crate::authenticate::Steps;
use crate::authenticate::checksum::{self, ArchiveChecksum, ListedChecksum};
use crate::authenticate::signature::{RegistryKey, Signature};
use crate::registry::discovery::Hosts;
use crate::registry::providers::{
    self, PROTOCOLS, ProviderDownload, ProviderRegistryError, ProviderVersion, ProviderVersions,
};

pub struct Registry {
    hosts: Arc<Hosts>,
    /// What was said of versions: each provider is asked about once.
    known: Mutex<HashMap<Provider, Arc<OnceCell<Answer>>>>,
}

type Answer = Result<Arc<ProviderVersions>, ProviderRegistryError>;

impl Registry {
    pub fn new(hosts: Arc<Hosts>) -> Registry {
        Registry { hosts, known: Mutex::default() }
    }

    async fn ask(&self, provider: &Provider) -> Result<Arc<ProviderVersions>, SourceError> {
        let cell =
            self.known.lock().unwrap_or_else(PoisonError::into_inner).entry(provider.clone()).or_default().clone();
        let ask = async || self.hosts.provider_versions(provider).await.map(Arc::new);
        cell.get_or_init(ask).await.clone().map_err(|e| worded(provider, e))
    }

    /// The version nearest to `version` that speaks our protocols: the newest below it, or else the oldest above.
    async fn closest(&self, provider: &Provider, version: &Version) -> Result<Option<Version>, SourceError> {
        let found = self.ask(provider).await?;
        let fitting = found.versions.iter().filter(|v| v.protocols.iter().any(|p| is_ours(p)));
        let mut versions: Vec<Version> = fitting.filter_map(|v| Version::parse_exact(&v.version).ok()).collect();
        versions.sort();
        let below = versions.iter().rev().find(|v| *v < version);
        Ok(below.or_else(|| versions.iter().find(|v| *v > version)).cloned())
    }

    async fn steps(&self, provider: &Provider, base: &Url, from: &ProviderDownload) -> Result<Steps, SourceError> {
        let failed = |why: String| query_failed(provider, &why);
        let sha256 = checksum::parse(&from.shasum).ok_or_else(|| {
            failed(format!(
                "registry response includes invalid SHA256 hash {:?}: it must have 64 hexadecimal digits",
                from.shasum
            ))
        })?;
        let retrieve = async |what: &str, field: &str, text: &str| {
            let url = link(base, text)
                .map_err(|why| failed(format!("registry response includes invalid {field} URL: {why}")))?;
            self.hosts.release_file(url).await.map_err(|e| match e {
                ProviderRegistryError::Failed(why) => failed(format!("failed to retrieve {what} for provider: {why}")),
                other => worded(provider, other),
            })
        };
        let list: Arc<[u8]> = retrieve("authentication checksums", "SHASUMS", &from.shasums_url).await?.into();
        let signature = retrieve("cryptographic signature", "SHASUMS signature", &from.shasums_signature_url).await?;
        let keys = from.signing_keys.gpg_public_keys.iter().map(signing_key).collect();
        Ok(Steps(vec![
            Box::new(ListedChecksum { list: list.clone(), file_name: from.filename.clone(), sha256 }),
            Box::new(ArchiveChecksum { sha256 }),
            Box::new(Signature::new(list, signature, keys).refusing_expired_keys(self.hosts.refuse_expired_keys)),
        ]))
    }
}

#[async_trait]
impl Source for Registry {
    async fn versions(&self, provider: &Provider) -> Result<Available, SourceError> {
        let found = self.ask(provider).await?;
        let (mut versions, mut problem) = (Vec::new(), None);
        for ProviderVersion { version, .. } in &found.versions {
            match Version::parse_exact(version) {
                Ok(version) => versions.push(version),
                Err(why) => {
                    let why = format!("registry response includes invalid version string {version:?}: {why}");
                    tracing::warn!("{provider}: {why}");
                    problem = Some(why);
                }
            }
        }
        // One that can be read is enough.
        if let Some(why) = problem.filter(|_| versions.is_empty()) {
            return Err(query_failed(provider, &why));
        }
        Ok(Available::new(versions, found.warnings.clone()))
    }

    async fn package(&self, provider: &Provider, version: &Version, platform: &str) -> Result<Package, SourceError> {
        let asked = self.hosts.provider_download(provider, version, platform).await;
        let (found, base) = asked.map_err(|e| match e {
            ProviderRegistryError::NotFound => SourceError::PlatformNotSupported { mirror: None },
            other => worded(provider, other),
        })?;
        for protocol in &found.protocols {
            if numbers(protocol).is_none() {
                let why = format!(
                    "registry response includes invalid protocol string {protocol:?}: must have a major and a minor number"
                );
                return Err(query_failed(provider, &why));
            }
        }
        if !found.protocols.is_empty() && !found.protocols.iter().any(|p| is_ours(p)) {
            return Err(SourceError::ProtocolNotSupported { closest: self.closest(provider, version).await? });
        }
        let target = format!("{}_{}", found.os, found.arch);
        if target != platform {
            let why = format!("registry response to request for {platform} archive has incorrect target {target}");
            return Err(SourceError::Failed(why));
        }
        let expected = format!("terraform-provider-{}_{version}_{platform}.zip", provider.kind);
        if found.filename != expected {
            // The signed list of an older release, or of another provider, names its own files: the name binds the package to what was asked for.
            let why = format!("registry response names the package {:?}: it must be {expected:?}", found.filename);
            return Err(query_failed(provider, &why));
        }
        let location = link(&base, &found.download_url).map_err(|why| {
            query_failed(provider, &format!("registry response includes invalid download URL: {why}"))
        })?;
        let steps = self.steps(provider, &base, &found).await?;
        // Schemes of hashes that cannot be read are those of another time.
        let parse = |texts: Vec<String>| texts.iter().filter_map(|text| Hash::parse(text).ok()).collect();
        let reported =
            found.packages.into_iter().map(|(platform, package)| (platform, parse(package.hashes))).collect();
        Ok(Package { reported, ..Package::new(PackageLocation::Remote(location), steps) })
    }

    fn describe(&self, provider: &Provider) -> String {
        format!("registry {}", provider.host)
    }
}

fn signing_key(from: &providers::SigningKeyDocument) -> RegistryKey {
    RegistryKey {
        key_id: from.key_id.clone(),
        ascii_armor: from.ascii_armor.clone(),
        trust_signature: from.trust_signature.clone(),
        source: from.source.clone(),
        source_url: from.source_url.clone(),
    }
}

fn link(base: &Url, text: &str) -> Result<Url, String> {
    let url = base.join(text).map_err(|e| e.to_string())?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err("must use http or https scheme".to_owned()),
    }
}

/// `5.0`
fn numbers(protocol: &str) -> Option<(u64, u64)> {
    let (major, minor) = protocol.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn is_ours(protocol: &str) -> bool {
    numbers(protocol).is_some_and(|(major, _)| PROTOCOLS.contains(&major))
}

fn query_failed(provider: &Provider, why: &str) -> SourceError {
    SourceError::Failed(format!("could not query provider registry for {provider}: {why}"))
}

fn worded(provider: &Provider, error: ProviderRegistryError) -> SourceError {
    match error {
        ProviderRegistryError::Interrupted => SourceError::Interrupted,
        ProviderRegistryError::NotFound => SourceError::NotInRegistry(provider.clone()),
        ProviderRegistryError::NoRegistry { host, other_version } => SourceError::NoRegistry { host, other_version },
        ProviderRegistryError::Unreachable { host, why } => SourceError::Unreachable { host: host.for_display(), why },
        ProviderRegistryError::Unauthorized { host, had_credentials } => {
            SourceError::Unauthorized { host: host.for_display(), had_credentials }
        }
        ProviderRegistryError::NoCredentials { host, why } => {
            SourceError::Failed(format!("failed to retrieve credentials for {}: {why}", host.for_display()))
        }
        ProviderRegistryError::Failed(why) => query_failed(provider, &why),
    }
}
