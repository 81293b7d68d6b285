//! A mirror in a registry of the Open Container Initiative, as OpenTofu lays it out: a repository per provider, a tag per
//! version, behind it an index with a manifest per platform, and in each of those one layer, the archive.

use std::sync::Arc;

use async_trait::async_trait;
use model::addr::Provider;
use model::deps::Version;
use model::service::{Repository, RepositoryTemplate};
use serde::Deserialize;
use url::Url;

use super::{Available, Package, PackageLocation, Source, SourceError};
use crate::authenticate::checksum::{ArchiveChecksum, parse as parse_checksum};
use crate::authenticate::{Step, Steps};
use crate::oci::client::{Descriptor, INDEX, MANIFEST, address, decode};
use crate::oci::{OciClient, OciError, client};

const PROVIDER: &str = "application/vnd.opentofu.provider";
const TARGET: &str = "application/vnd.opentofu.provider-target";
const ARCHIVE: &str = "archive/zip";

/// Limit for the pages of a list of tags.
const MOST_PAGES: usize = 1000;

pub struct OciMirror {
    template: RepositoryTemplate,
    client: Arc<OciClient>,
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
struct ImageIndex {
    #[serde(default)]
    manifests: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    layers: Vec<Descriptor>,
}

impl OciMirror {
    pub fn new(template: RepositoryTemplate, client: Arc<OciClient>) -> OciMirror {
        OciMirror { template, client }
    }

    fn repository(&self, provider: &Provider) -> Result<Repository, SourceError> {
        let found = self.template.repository(provider);
        found.ok_or_else(|| {
            SourceError::Failed(format!("the OCI mirror has no valid repository address for {provider}"))
        })
    }

    async fn manifest(
        &self,
        repository: &Repository,
        reference: &str,
        kind: &str,
        expected: &str,
    ) -> Result<Vec<u8>, SourceError> {
        let Some(content) = self.client.manifest(repository, reference, kind).await? else {
            return Err(failed(repository, &format!("there is no manifest for {reference}")));
        };
        let found: Kind = decode(repository, &content)?;
        match found.artifact_type == expected {
            true => Ok(content),
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
        let index: ImageIndex = decode(repository, &self.manifest(repository, &tag, INDEX, PROVIDER).await?)?;
        let fits = |d: &&Descriptor| {
            let here = d.platform.as_ref().is_some_and(|p| format!("{}_{}", p.os, p.architecture) == platform);
            here && d.artifact_type == TARGET
        };
        let Some(target) = index.manifests.iter().find(fits) else {
            return Err(SourceError::PlatformNotSupported { mirror: Some(repository.to_string()) });
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
            let answer = self.client.ask(&repository, url.clone(), "application/json").await?;
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
        let request = self.client.blob_request(&repository, &digest)?;
        let step: Box<dyn Step> = Box::new(ArchiveChecksum { sha256 });
        Ok(Package::new(PackageLocation::Asked(Box::new(request)), Steps(vec![step])))
    }

    fn describe(&self, provider: &Provider) -> String {
        match self.template.repository(provider) {
            Some(repository) => format!("OCI repository {repository}"),
            None => "OCI mirror".to_owned(),
        }
    }
}

fn checksum(digest: &str) -> Option<[u8; 32]> {
    digest.strip_prefix("sha256:").and_then(parse_checksum)
}

fn failed(repository: &Repository, why: &str) -> SourceError {
    client::failed(repository, why).into()
}

impl From<OciError> for SourceError {
    fn from(error: OciError) -> SourceError {
        match error {
            OciError::Interrupted => SourceError::Interrupted,
            OciError::Unreachable { host, why } => SourceError::Unreachable { host, why },
            OciError::Unauthorized { host, had_credentials } => SourceError::Unauthorized { host, had_credentials },
            OciError::Failed(why) => SourceError::Failed(why),
        }
    }
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
