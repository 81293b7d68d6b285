//! A mirror in a registry of the Open Container Initiative, as OpenTofu lays it out: a repository per provider, a tag per
//! version, behind it an index with a manifest per platform, and in each of those one layer, the archive.

use std::sync::Arc;

use async_trait::async_trait;
use http::header::ACCEPT;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use url::Url;

use crate::base::hex::hex;
use crate::base::http::{Answer, FailureKind, Request};
use crate::install::authenticate::checksum::{ArchiveChecksum, parse as parse_checksum};
use crate::install::authenticate::{Step, Steps};
use crate::install::registry::discovery::Hosts;
use crate::model::addr::Provider;
use crate::model::deps::Version;
use crate::model::service::RepositoryTemplate;
use crate::model::service::repository_template::Repository;

use super::oci_access::Access;
use super::{Available, Package, PackageLocation, Source, SourceError};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const PROVIDER: &str = "application/vnd.opentofu.provider";
const TARGET: &str = "application/vnd.opentofu.provider-target";
const ARCHIVE: &str = "archive/zip";

/// Limit for the pages of a list of tags.
const MOST_PAGES: usize = 1000;

pub struct OciMirror {
    template: RepositoryTemplate,
    hosts: Arc<Hosts>,
    access: Access,
}

#[derive(Deserialize)]
struct Tags {
    #[serde(default)]
    tags: Option<Vec<String>>,
}

/// What an index or a manifest says that it is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kind {
    #[serde(default)]
    artifact_type: String,
}

#[derive(Deserialize)]
struct Index {
    #[serde(default)]
    manifests: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    layers: Vec<Descriptor>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    #[serde(default)]
    media_type: String,
    #[serde(default)]
    artifact_type: String,
    digest: String,
    platform: Option<Platform>,
}

#[derive(Deserialize)]
struct Platform {
    os: String,
    architecture: String,
}

impl OciMirror {
    /// `access` has the credentials for registries.
    pub fn new(template: RepositoryTemplate, hosts: Arc<Hosts>, access: Access) -> OciMirror {
        OciMirror { template, hosts, access }
    }

    fn repository(&self, provider: &Provider) -> Result<Repository, SourceError> {
        let found = self.template.repository(provider);
        found.ok_or_else(|| {
            SourceError::Failed(format!("the OCI mirror has no valid repository address for {provider}"))
        })
    }

    /// An answer of status 200 or 404; `path` is below the repository.
    async fn ask(&self, repository: &Repository, url: Url, accept: &str) -> Result<Answer, SourceError> {
        let mut credentials = self.access.known(repository);
        for attempt in 0.. {
            let request = credentials.show(Request::get(url.clone()).header(ACCEPT, accept));
            let answer = self.hosts.http.send(&request).await.map_err(|e| match e.kind {
                FailureKind::Stopped => SourceError::Interrupted,
                FailureKind::Unreachable | FailureKind::TimedOut => {
                    SourceError::Unreachable { host: repository.registry.clone(), why: e.to_string() }
                }
                _ => failed(repository, &e.to_string()),
            })?;
            let challenge = answer.header("www-authenticate").unwrap_or_default();
            match answer.status.as_u16() {
                200 | 404 => return Ok(answer),
                401 if attempt == 0 => {
                    credentials = self.access.answer(&self.hosts.http, repository, challenge).await?;
                }
                401 | 403 => break,
                status => return Err(failed(repository, &format!("server returned unsuccessful status {status}"))),
            }
        }
        Err(SourceError::Unauthorized { host: repository.registry.clone(), had_credentials: credentials.are_users() })
    }

    async fn manifest(
        &self,
        repository: &Repository,
        reference: &str,
        kind: &str,
        expected: &str,
    ) -> Result<Vec<u8>, SourceError> {
        let answer = self.ask(repository, address(repository, &format!("manifests/{reference}"))?, kind).await?;
        if answer.status.as_u16() == 404 {
            return Err(failed(repository, &format!("there is no manifest for {reference}")));
        }
        let digest = format!("sha256:{}", hex(&Sha256::digest(&answer.body)));
        if reference.starts_with("sha256:") && reference != digest {
            return Err(failed(repository, &format!("the manifest for {reference} has other content: {digest}")));
        }
        let found: Kind = decode(repository, &answer.body)?;
        match found.artifact_type == expected {
            true => Ok(answer.body),
            false => {
                let why = format!(
                    "the manifest for {reference} has the artifact type {:?} instead of {expected:?}",
                    found.artifact_type
                );
                Err(failed(repository, &why))
            }
        }
    }

    /// The layer that is the package, found from its version's tag.
    async fn layer(&self, repository: &Repository, version: &Version, platform: &str) -> Result<String, SourceError> {
        let tag = version.to_string().replace('+', "_");
        let index: Index = decode(repository, &self.manifest(repository, &tag, INDEX, PROVIDER).await?)?;
        let fits = |d: &&Descriptor| {
            let here = d.platform.as_ref().is_some_and(|p| format!("{}_{}", p.os, p.architecture) == platform);
            here && d.artifact_type == TARGET
        };
        let Some(target) = index.manifests.iter().find(fits) else {
            let mirror = Some(format!("{}/{}", repository.registry, repository.name));
            return Err(SourceError::PlatformNotSupported { mirror });
        };
        if checksum(&target.digest).is_none() {
            return Err(failed(repository, &format!("a manifest has an unusable digest {:?}", target.digest)));
        }
        let manifest: Manifest =
            decode(repository, &self.manifest(repository, &target.digest, MANIFEST, TARGET).await?)?;
        let mut archives = manifest.layers.into_iter().filter(|layer| layer.media_type == ARCHIVE);
        match (archives.next(), archives.next()) {
            (Some(layer), None) => Ok(layer.digest),
            (found, _) => {
                let how_many = if found.is_none() { "no layer" } else { "several layers" };
                Err(failed(
                    repository,
                    &format!("the manifest of {tag} for {platform} has {how_many} of type {ARCHIVE}"),
                ))
            }
        }
    }
}

#[async_trait]
impl Source for OciMirror {
    async fn versions(&self, provider: &Provider) -> Result<Available, SourceError> {
        let repository = self.repository(provider)?;
        let mut next = Some(address(&repository, "tags/list?n=1000")?);
        let mut versions = Vec::new();
        for _ in 0..MOST_PAGES {
            let Some(url) = next else { break };
            let answer = self.ask(&repository, url.clone(), "application/json").await?;
            if answer.status.as_u16() == 404 {
                let searched = vec![self.describe(provider)];
                return Err(SourceError::NotFound { provider: provider.clone(), searched });
            }
            let page: Tags = decode(&repository, &answer.body)?;
            let tags = page.tags.unwrap_or_default();
            versions.extend(tags.iter().filter_map(|tag| Version::parse_exact(&tag.replace('_', "+")).ok()));
            next = next_page(&url, answer.header("link"));
        }
        Ok(Available::new(versions, Vec::new()))
    }

    async fn package(&self, provider: &Provider, version: &Version, platform: &str) -> Result<Package, SourceError> {
        let repository = self.repository(provider)?;
        let digest = self.layer(&repository, version, platform).await?;
        let Some(sha256) = checksum(&digest) else {
            return Err(failed(&repository, &format!("the package has an unusable digest {digest:?}")));
        };
        let request = Request::get(address(&repository, &format!("blobs/{digest}"))?);
        let request = self.access.known(&repository).show(request);
        let step: Box<dyn Step> = Box::new(ArchiveChecksum { sha256 });
        Ok(Package::new(PackageLocation::Asked(Box::new(request)), Steps(vec![step])))
    }

    fn describe(&self, provider: &Provider) -> String {
        match self.template.repository(provider) {
            Some(repository) => format!("OCI repository {}/{}", repository.registry, repository.name),
            None => "OCI mirror".to_owned(),
        }
    }
}

fn checksum(digest: &str) -> Option<[u8; 32]> {
    digest.strip_prefix("sha256:").and_then(parse_checksum)
}

fn failed(repository: &Repository, why: &str) -> SourceError {
    let Repository { registry, name } = repository;
    SourceError::Failed(format!("failed to query the OCI repository {registry}/{name}: {why}"))
}

fn address(repository: &Repository, path: &str) -> Result<Url, SourceError> {
    let Repository { registry, name } = repository;
    Url::parse(&format!("https://{registry}/v2/{name}/{path}")).map_err(|e| failed(repository, &e.to_string()))
}

fn decode<'a, T: Deserialize<'a>>(repository: &Repository, body: &'a [u8]) -> Result<T, SourceError> {
    serde_json::from_slice(body).map_err(|e| failed(repository, &format!("invalid response content: {e}")))
}

/// `Link: </v2/x/tags/list?n=5&last=z>; rel="next"`, on the same host.
fn next_page(here: &Url, link: Option<&str>) -> Option<Url> {
    let next = link?.split(',').find(|one| one.split(';').skip(1).any(|p| p.trim().replace('"', "") == "rel=next"))?;
    let target = next.trim().strip_prefix('<')?.split('>').next()?;
    here.join(target).ok().filter(|next| next.origin() == here.origin())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_on_the_same_host() {
        let here = Url::parse("https://a.example/v2/x/tags/list?n=2").unwrap();
        let next = |link: &str| next_page(&here, Some(link)).map(String::from);
        let expected = Some("https://a.example/v2/x/tags/list?n=2&last=b".to_owned());
        assert_eq!(next("</v2/x/tags/list?n=2&last=b>; rel=\"next\""), expected);
        assert_eq!(next("</z>; rel=\"prev\", </v2/x/tags/list?n=2&last=b>;rel=next"), expected);
        for none in ["<https://b.example/x>; rel=\"next\"", "</z>", "", "rel=next"] {
            assert_eq!(next(none), None, "{none}");
        }
    }
}
