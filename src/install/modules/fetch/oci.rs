//! Packages in OCI registries, as OpenTofu lays them out: a manifest for modules, which has one layer, a zip archive.

use std::path::Path;

use model::service::Repository;
use model::service::oci_repository::is_tag;
use net::http::Progress;
use serde::Deserialize;

use super::address::Address;
use super::archive::ArchiveKind;
use super::{FetchError, Fetcher};
use crate::oci::client::{self, Descriptor, INDEX, MANIFEST, decode};
use crate::oci::{Digest, OciError};

/// The error for a parameter that other methods take.
pub const ARCHIVE_ARGUMENT: &str = "the \"archive\" argument is not allowed for OCI sources: the manifest of the package says what kind \
                                    of archive it is, so remove the argument";

/// The tag of addresses that name neither a tag nor a digest.
const DEFAULT_TAG: &str = "latest";

const PACKAGE: &str = "application/vnd.opentofu.modulepkg";
const ARCHIVE: &str = "archive/zip";

/// What a manifest says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PackageManifest {
    #[serde(default)]
    media_type: String,
    #[serde(default)]
    artifact_type: String,
    #[serde(default)]
    layers: Vec<Descriptor>,
}

/// Where a package is: a repository, and the tag or the digest of its manifest.
#[derive(Debug, PartialEq, Eq)]
struct ManifestAddress {
    repository: Repository,
    reference: String,
}

impl From<OciError> for FetchError {
    fn from(error: OciError) -> FetchError {
        match error {
            OciError::Interrupted => FetchError::Interrupted,
            other => FetchError::Failed(other.to_string()),
        }
    }
}

/// Downloads and unpacks the package at `oci://REGISTRY/REPOSITORY`, with `?tag=` or `?digest=`.
pub async fn fetch(
    fetcher: &Fetcher,
    address: Address,
    target: &Path,
    progress: Progress<'_>,
) -> Result<(), FetchError> {
    let address = ManifestAddress::of(&address).map_err(FetchError::Failed)?;
    let repository = &address.repository;
    let accept = format!("{MANIFEST}, {INDEX}");
    let Some(content) = fetcher.oci.manifest(repository, &address.reference, &accept).await? else {
        return Err(client::failed(repository, &address.missing()).into());
    };
    let digest = layer(&decode(repository, &content)?).map_err(|why| client::failed(repository, &why))?;
    let beside = target.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix("download-").tempfile_in(beside)?;
    fetcher.oci.download(repository, &digest, file.as_file_mut(), fetcher.limit(), progress).await?;
    fetcher.unpack(ArchiveKind::Zip, file.path(), target).await
}

impl ManifestAddress {
    /// The error is for people.
    fn of(address: &Address) -> Result<ManifestAddress, String> {
        let Some(place) = address.url.strip_prefix("oci://") else {
            return Err("the address of an OCI source must begin with oci://".to_owned());
        };
        let (registry, name) = place.split_once('/').unwrap_or((place, ""));
        if registry.contains('@') {
            return Err("the address of an OCI source must not contain a user or a password; use an oci_credentials block in the \
                        CLI configuration"
                .to_owned());
        }
        let repository =
            Repository::new(registry, name).map_err(|why| format!("invalid OCI repository address: {why}"))?;
        let others =
            address.parameters.iter().map(|(name, _)| name.as_str()).filter(|name| !["tag", "digest"].contains(name));
        let others: Vec<String> = others.map(|name| format!("{name:?}")).collect();
        if !others.is_empty() {
            return Err(format!(
                "unsupported arguments: {}; OCI sources have \"tag\" and \"digest\"",
                others.join(", ")
            ));
        }
        let reference = match (argument(address, "tag")?, argument(address, "digest")?) {
            (Some(_), Some(_)) => return Err("only one of the arguments \"tag\" and \"digest\" can be set".to_owned()),
            (Some(tag), None) if !is_tag(tag) => return Err(format!("the tag {tag:?} is not a valid name of a tag")),
            (Some(tag), None) => tag.to_owned(),
            (None, Some(digest)) => Digest::parse(digest).map_err(|why| why.to_string())?.to_string(),
            (None, None) => DEFAULT_TAG.to_owned(),
        };
        Ok(ManifestAddress { repository, reference })
    }

    /// What is wrong if the registry knows nothing of it.
    fn missing(&self) -> String {
        let reference = &self.reference;
        match reference.as_str() {
            _ if reference.contains(':') => format!("there is no manifest with the digest {reference}"),
            DEFAULT_TAG => format!(
                "there is no tag {reference:?}, which is selected if the source address has neither \"?tag=\" nor \"?digest=\""
            ),
            _ => format!("there is no tag {reference:?}"),
        }
    }
}

/// The value of a parameter. None: it is not set.
fn argument<'a>(address: &'a Address, name: &str) -> Result<Option<&'a str>, String> {
    let mut values = address.parameters.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str());
    match (values.next(), values.next()) {
        (Some(""), None) => Err(format!("the argument {name:?} must not be empty")),
        (Some(_), Some(_)) => Err(format!("the argument {name:?} is set more than once")),
        (value, _) => Ok(value),
    }
}

/// The digest of the layer that is the package. The error is for people.
fn layer(manifest: &PackageManifest) -> Result<Digest, String> {
    if manifest.media_type == INDEX {
        return Err("the source address selects an index; select the manifest of a module package".to_owned());
    }
    if manifest.media_type != MANIFEST {
        return Err(format!("the manifest has the media type {:?} instead of {MANIFEST:?}", manifest.media_type));
    }
    if manifest.artifact_type != PACKAGE {
        return Err(format!(
            "the manifest has the artifact type {:?} instead of {PACKAGE:?}, so it is not a module package",
            manifest.artifact_type
        ));
    }
    let mut archives = manifest.layers.iter().filter(|layer| layer.media_type == ARCHIVE);
    match (archives.next(), archives.next()) {
        (Some(layer), None) => Digest::parse(&layer.digest).map_err(|why| why.to_string()),
        (Some(_), Some(_)) => Err(format!("the manifest has several layers of the media type {ARCHIVE:?}")),
        (None, _) => {
            let types: Vec<String> = manifest.layers.iter().map(|layer| format!("{:?}", layer.media_type)).collect();
            let types = if types.is_empty() { "no layers".to_owned() } else { types.join(", ") };
            Err(format!("the manifest has no layer of the media type {ARCHIVE:?}, but {types}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUM: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn addresses_select_manifests() {
        let digest = format!("oci://a.example/x?digest={SUM}");
        for (source, expected) in [
            ("oci://a.example/team/x", Ok(("a.example", "team/x", "latest"))),
            ("oci://a.example:5000/x?tag=v1", Ok(("a.example:5000", "x", "v1"))),
            (digest.as_str(), Ok(("a.example", "x", SUM))),
            ("oci://a.example/x?digest=sha256%3A00", Err("must have 64 lower-case hexadecimal digits")),
            ("oci://a.example/x?digest=nope", Err("is not a digest")),
            ("oci://a.example/x?tag=", Err("\"tag\" must not be empty")),
            ("oci://a.example/x?digest=", Err("\"digest\" must not be empty")),
            ("oci://a.example/x?tag=a&tag=b", Err("\"tag\" is set more than once")),
            ("oci://a.example/x?tag=in%24valid", Err("the tag \"in$valid\" is not a valid name")),
            (format!("{digest}&tag=x").as_str(), Err("only one of the arguments")),
            ("oci://a.example/x?ref=a", Err("unsupported arguments: \"ref\"")),
            ("oci://a.example/in$valid", Err("\"in$valid\" is not a repository name")),
            ("oci://a.example", Err("\"\" is not a repository name")),
            ("oci:///x", Err("\"\" is not a registry host")),
            ("oci://user:s3cret@a.example/x", Err("must not contain a user or a password")),
            ("oci::https://a.example/x", Err("must begin with oci://")),
        ] {
            match (ManifestAddress::of(&Address::parse(source).unwrap()), expected) {
                (Ok(place), Ok((registry, name, reference))) => {
                    assert_eq!(place.repository, Repository::new(registry, name).unwrap(), "{source}");
                    assert_eq!(place.reference, reference, "{source}");
                }
                (Err(why), Err(expected)) => {
                    assert!(why.contains(expected) && !why.contains("s3cret"), "{source}: {why}");
                }
                (found, expected) => panic!("{source}: {found:?} instead of {expected:?}"),
            }
        }
    }

    #[test]
    fn manifests_have_one_archive() {
        let of = |media: &str, artifact: &str, layers: &[(&str, &str)]| {
            let layer = |(media, digest): &(&str, &str)| serde_json::json!({"mediaType": media, "digest": digest});
            let layers: Vec<_> = layers.iter().map(layer).collect();
            serde_json::json!({"mediaType": media, "artifactType": artifact, "layers": layers}).to_string()
        };
        let archive = (ARCHIVE, SUM);
        for (text, expected) in [
            (of(MANIFEST, PACKAGE, &[archive]), Ok(SUM)),
            (of(MANIFEST, PACKAGE, &[("text/plain", SUM), archive]), Ok(SUM)),
            (of(MANIFEST, PACKAGE, &[archive, archive]), Err("several layers of the media type \"archive/zip\"")),
            (
                of(MANIFEST, PACKAGE, &[("archive/tar", SUM)]),
                Err("no layer of the media type \"archive/zip\", but \"archive/tar\""),
            ),
            (of(MANIFEST, PACKAGE, &[]), Err("but no layers")),
            (of(MANIFEST, PACKAGE, &[(ARCHIVE, "sha1:00")]), Err("unknown algorithm")),
            (of(MANIFEST, "application/vnd.opentofu.provider-target", &[archive]), Err("is not a module package")),
            (of(INDEX, PACKAGE, &[]), Err("selects an index")),
            ("{}".to_owned(), Err("has the media type \"\"")),
        ] {
            let found = layer(&serde_json::from_str(&text).unwrap()).map(|digest| digest.to_string());
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
                (Err(why), Err(expected)) => assert!(why.contains(expected), "{text}: {why}"),
                (found, expected) => panic!("{text}: {found:?} instead of {expected:?}"),
            }
        }
    }
}
