//! A mirror that is asked over the network: folders of JSON documents and archives, behind any web server.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use base::secret::redacted;
use model::addr::Provider;
use model::deps::{Hash, Version};
use model::service::Host;
use net::http::{Answer, FailureKind, Request};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::{Available, Package, PackageLocation, Source, SourceError};
use crate::authenticate::Steps;
use crate::authenticate::checksum::AcceptableHash;
use crate::registry::ask;
use crate::registry::discovery::Hosts;

pub struct NetworkMirror {
    base: String,
    hosts: Arc<Hosts>,
    trust_all_hashes: bool,
}

#[derive(Deserialize)]
struct Index {
    versions: Option<BTreeMap<String, serde::de::IgnoredAny>>,
}

#[derive(Deserialize)]
struct VersionDocument {
    archives: Option<BTreeMap<String, ArchiveDocument>>,
}

#[derive(Deserialize)]
struct ArchiveDocument {
    url: String,
    hashes: Option<Vec<String>>,
}

impl NetworkMirror {
    pub fn new(base: &str, hosts: Arc<Hosts>) -> NetworkMirror {
        NetworkMirror { base: base.to_owned(), hosts, trust_all_hashes: false }
    }

    /// Whether what it says of the packages for every platform may be locked.
    pub fn trusting_all_hashes(self, trust_all_hashes: bool) -> NetworkMirror {
        NetworkMirror { trust_all_hashes, ..self }
    }

    async fn ask(&self, provider: &Provider, file: &str) -> Result<Answer, SourceError> {
        let failed = |why: String| self.failed(provider, &why);
        let base = Url::parse(&self.base).ok().filter(|base| base.scheme() == "https").ok_or_else(|| {
            failed(format!(
                "{:?} cannot be a network provider mirror: it must be at an https: URL",
                redacted(&self.base)
            ))
        })?;
        let base = below(base);
        // Without the dot a host with a port would be read as a scheme.
        let url = base
            .join(&format!("./{}/{}/{}/{file}", provider.host, provider.namespace, provider.kind))
            .map_err(|e| failed(e.to_string()))?;
        let host = ask::host_of(&url);
        let host = Host::parse_any(&host).map_err(|_| failed(format!("invalid hostname {host}")))?;
        let token = self.hosts.credentials.of(&host).await;
        let answer =
            self.hosts.http.send(&Request::get(url).token(token.as_ref())).await.map_err(|e| match e.kind {
                FailureKind::Stopped => SourceError::Interrupted,
                _ => failed(ask::gave_up(e.attempts, &e.to_string())),
            })?;
        match answer.status.as_u16() {
            // As the reference says it, also where no token was shown.
            401 | 403 => Err(SourceError::Unauthorized { host: host.for_display(), had_credentials: true }),
            200 | 404 => Ok(answer),
            status => {
                let why = ask::trouble(&answer, ask::host_of);
                Err(failed(why.unwrap_or_else(|| format!("server returned unsuccessful status {status}"))))
            }
        }
    }

    fn failed(&self, provider: &Provider, why: &str) -> SourceError {
        SourceError::Failed(format!("failed to query provider mirror {} for {provider}: {why}", redacted(&self.base)))
    }

    fn decode<T: DeserializeOwned>(&self, provider: &Provider, answer: &Answer) -> Result<T, SourceError> {
        let kind = answer.header("content-type").unwrap_or_default();
        let why = match kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "application/json" => None,
            "" => Some("mime: no media type"),
            _ => Some("must be application/json"),
        };
        if let Some(why) = why {
            return Err(self.failed(provider, &format!("response has invalid Content-Type: {why}")));
        }
        ask::object(&answer.body)
            .map_err(|e| self.failed(provider, &format!("invalid response content from mirror server: {e}")))
    }
}

/// With a slash at the end, so that what is in the mirror is below it.
fn below(mut base: Url) -> Url {
    if !base.path().ends_with('/') {
        let path = format!("{}/", base.path());
        base.set_path(&path);
    }
    base
}

#[async_trait]
impl Source for NetworkMirror {
    async fn versions(&self, provider: &Provider) -> Result<Available, SourceError> {
        let answer = self.ask(provider, "index.json").await?;
        if answer.status.as_u16() == 404 {
            return Err(SourceError::NotFound { provider: provider.clone(), searched: vec![self.describe(provider)] });
        }
        let index: Index = self.decode(provider, &answer)?;
        let named = index.versions.unwrap_or_default();
        let versions: Vec<Version> = named.keys().filter_map(|text| Version::parse_exact(text).ok()).collect();
        match versions.is_empty() {
            true => Err(SourceError::NotFound { provider: provider.clone(), searched: vec![self.describe(provider)] }),
            false => Ok(Available::new(versions, Vec::new())),
        }
    }

    async fn package(&self, provider: &Provider, version: &Version, platform: &str) -> Result<Package, SourceError> {
        let answer = self.ask(provider, &format!("{version}.json")).await?;
        if answer.status.as_u16() == 404 {
            let why = format!(
                "provider mirror does not have archive index for previously-reported {provider} version {version}"
            );
            return Err(self.failed(provider, &why));
        }
        let document: VersionDocument = self.decode(provider, &answer)?;
        let archives = document.archives.unwrap_or_default();
        let Some(archive) = archives.get(platform) else {
            return Err(SourceError::PlatformNotSupported { mirror: Some(redacted(&self.base)) });
        };
        let url = answer.url.join(&archive.url).map_err(|e| e.to_string()).and_then(|url| match url.scheme() {
            "http" | "https" => Ok(url),
            other => Err(format!("unsupported protocol scheme {other:?}")),
        });
        let url = url.map_err(|why| {
            let given = redacted(&archive.url);
            self.failed(provider, &format!("provider mirror returned invalid URL {given:?}: {why}"))
        })?;
        let parse = |text: &String| {
            Hash::parse(text).map_err(|why| {
                self.failed(provider, &format!("provider mirror returned invalid provider hash {text:?}: {why}"))
            })
        };
        let hashes = archive.hashes.iter().flatten().map(parse).collect::<Result<Vec<_>, _>>()?;
        let location = PackageLocation::Remote(url);
        if hashes.is_empty() {
            return Ok(Package::local(location));
        }
        let all =
            archives.values().filter(|_| self.trust_all_hashes).flat_map(|archive| archive.hashes.iter().flatten());
        let trusted = all.filter_map(|text| Hash::parse(text).ok()).collect();
        Ok(Package { trusted, ..Package::new(location, Steps(vec![Box::new(AcceptableHash::new(hashes))])) })
    }

    fn describe(&self, _provider: &Provider) -> String {
        format!("provider mirror at {}", redacted(&self.base))
    }
}
