//! Several sources, each for some providers: what one has counts, in the order in which they are given.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use model::addr::Provider;
use model::deps::Version;
use model::service::{Location, Method, ProviderInstallation, ProviderPattern};

use super::filesystem::Filesystem;
use super::network_mirror::NetworkMirror;
use super::oci_mirror::OciMirror;
use super::registry::Registry;
use super::{Available, Package, Source, SourceError};
use crate::oci::OciClient;
use crate::registry::discovery::Hosts;

pub struct Multi {
    methods: Vec<(Method, Box<dyn Source>)>,
    /// No method at all is configured.
    nowhere: bool,
}

impl Multi {
    /// As the user configured it.
    pub fn configured(installation: &ProviderInstallation, hosts: &Arc<Hosts>, oci: &Arc<OciClient>) -> Multi {
        let method = |m: &Method| Some((m.clone(), source_of(m, hosts, oci)?));
        Multi {
            methods: installation.methods.iter().filter_map(method).collect(),
            nowhere: installation.methods.is_empty(),
        }
    }

    /// Without a configuration: folders that count by convention (those that exist), registries for what none of them has.
    pub fn implied(folders: &[PathBuf], hosts: &Arc<Hosts>) -> Multi {
        let folders: Vec<PathBuf> = folders.iter().filter(|folder| folder.is_dir()).cloned().collect();
        let mut multi = Multi::folders(&folders);
        let found = folders.iter().flat_map(|folder| Filesystem::new(folder).providers());
        let direct =
            Method { exclude: found.map(|p| ProviderPattern::exactly(&p)).collect(), ..Method::new(Location::Direct) };
        multi.methods.push((direct, Box::new(Registry::new(hosts.clone()))));
        multi
    }

    /// Only these folders: `-plugin-dir`.
    pub fn folders(folders: &[PathBuf]) -> Multi {
        let method = |folder: &PathBuf| -> (Method, Box<dyn Source>) {
            (Method::new(Location::FilesystemMirror(folder.clone())), Box::new(Filesystem::new(folder)))
        };
        Multi { methods: folders.iter().map(method).collect(), nowhere: false }
    }

    fn sources_for(&self, provider: &Provider) -> impl Iterator<Item = &dyn Source> {
        self.methods.iter().filter(|(m, _)| m.applies_to(provider)).map(|(_, s)| s.as_ref())
    }
}

/// None: what it has needs no source.
fn source_of(method: &Method, hosts: &Arc<Hosts>, oci: &Arc<OciClient>) -> Option<Box<dyn Source>> {
    Some(match &method.location {
        Location::Direct => Box::new(Registry::new(hosts.clone())),
        Location::FilesystemMirror(path) => Box::new(Filesystem::new(path)),
        Location::NetworkMirror(url) => {
            Box::new(NetworkMirror::new(url, hosts.clone()).trusting_all_hashes(method.trust_all_hashes))
        }
        Location::OciMirror(template) => Box::new(OciMirror::new(template.clone(), oci.clone())),
        Location::BuiltIn => return None,
    })
}

#[async_trait]
impl Source for Multi {
    async fn versions(&self, provider: &Provider) -> Result<Available, SourceError> {
        let sources: Vec<&dyn Source> = self.sources_for(provider).collect();
        let (mut all, mut found, mut in_no_registry) = (Available::default(), self.nowhere, false);
        for answer in join_all(sources.iter().map(|source| source.versions(provider))).await {
            match answer {
                Ok(answer) => {
                    found |= !answer.versions.is_empty();
                    all.versions.extend(answer.versions);
                    all.warnings.extend(answer.warnings);
                }
                Err(SourceError::NotFound { .. }) => {}
                Err(SourceError::NotInRegistry(_)) => in_no_registry = true,
                Err(other) => return Err(other),
            }
        }
        match (found, in_no_registry) {
            (true, _) => Ok(Available::new(all.versions, all.warnings)),
            (false, true) => Err(SourceError::NotInRegistry(provider.clone())),
            (false, false) => {
                let searched = sources.iter().map(|source| source.describe(provider)).collect();
                Err(SourceError::NotFound { provider: provider.clone(), searched })
            }
        }
    }

    async fn package(&self, provider: &Provider, version: &Version, platform: &str) -> Result<Package, SourceError> {
        for source in self.sources_for(provider) {
            match source.package(provider, version, platform).await {
                Ok(package) => return Ok(package),
                Err(
                    SourceError::NotFound { .. }
                    | SourceError::NotInRegistry(_)
                    | SourceError::PlatformNotSupported { .. },
                ) => {}
                Err(other) => return Err(other),
            }
        }
        Err(SourceError::PlatformNotSupported { mirror: None })
    }

    fn describe(&self, provider: &Provider) -> String {
        let all: Vec<String> = self.sources_for(provider).map(|s| s.describe(provider)).collect();
        all.join("\n")
    }
}
