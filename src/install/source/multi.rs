//! Several sources, each for some providers: what one has counts, in the order in which they are given.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;

use crate::install::registry::discovery::Hosts;
use crate::model::addr::Provider;
use crate::model::deps::Version;
use crate::model::service::{Location, Method, Pattern, ProviderInstallation};

use super::filesystem::Filesystem;
use super::network_mirror::NetworkMirror;
use super::registry::Registry;
use super::{Available, Package, Source, SourceError};

pub struct Multi {
    methods: Vec<(Method, Box<dyn Source>)>,
}

impl Multi {
    /// As the user configured it.
    pub fn configured(installation: &ProviderInstallation, hosts: &Arc<Hosts>) -> Multi {
        Multi { methods: installation.methods.iter().map(|m| (m.clone(), source_of(&m.location, hosts))).collect() }
    }

    /// Without a configuration: folders that count by convention (those that exist), registries for what none of them has.
    pub fn implied(folders: &[PathBuf], hosts: &Arc<Hosts>) -> Multi {
        let mut methods: Vec<(Method, Box<dyn Source>)> = Vec::new();
        let mut direct = Method::new(Location::Direct);
        for folder in folders.iter().filter(|f| f.is_dir()) {
            let source = Filesystem::new(folder);
            let found: Vec<Pattern> = source.providers().iter().map(Pattern::exactly).collect();
            if found.is_empty() {
                continue;
            }
            direct.exclude.extend(found.iter().cloned());
            let method = Method { include: found, ..Method::new(Location::FilesystemMirror(folder.clone())) };
            methods.push((method, Box::new(source)));
        }
        methods.push((direct, Box::new(Registry::new(hosts.clone()))));
        Multi { methods }
    }

    /// Only these folders: `-plugin-dir`.
    pub fn folders(folders: &[PathBuf]) -> Multi {
        let method = |folder: &PathBuf| -> (Method, Box<dyn Source>) {
            (Method::new(Location::FilesystemMirror(folder.clone())), Box::new(Filesystem::new(folder)))
        };
        Multi { methods: folders.iter().map(method).collect() }
    }

    fn sources_for(&self, provider: &Provider) -> impl Iterator<Item = &dyn Source> {
        self.methods.iter().filter(|(m, _)| m.applies_to(provider)).map(|(_, s)| s.as_ref())
    }
}

fn source_of(location: &Location, hosts: &Arc<Hosts>) -> Box<dyn Source> {
    match location {
        Location::Direct => Box::new(Registry::new(hosts.clone())),
        Location::FilesystemMirror(path) => Box::new(Filesystem::new(path)),
        Location::NetworkMirror(url) => Box::new(NetworkMirror::new(url, hosts.clone())),
    }
}

#[async_trait]
impl Source for Multi {
    async fn versions(&self, provider: &Provider) -> Result<Available, SourceError> {
        let sources: Vec<&dyn Source> = self.sources_for(provider).collect();
        let (mut all, mut searched) = (Available::default(), Vec::new());
        for found in join_all(sources.into_iter().map(|source| source.versions(provider))).await {
            match found {
                Ok(found) => {
                    all.versions.extend(found.versions);
                    all.warnings.extend(found.warnings);
                }
                Err(SourceError::NotFound { searched: places, .. }) => searched.extend(places),
                // A single source speaks for itself; one of several only says where was looked.
                Err(SourceError::NotInRegistry(_)) if self.sources_for(provider).nth(1).is_some() => {
                    searched.push(format!("provider registry {}", provider.host));
                }
                Err(other) => return Err(other),
            }
        }
        match all.versions.is_empty() && (!searched.is_empty() || self.sources_for(provider).next().is_none()) {
            true => Err(SourceError::NotFound { provider: provider.clone(), searched }),
            false => Ok(Available::new(all.versions, all.warnings)),
        }
    }

    async fn package(&self, provider: &Provider, version: &Version, platform: &str) -> Result<Package, SourceError> {
        let mut last = SourceError::PlatformNotSupported { mirror: None };
        for source in self.sources_for(provider) {
            match source.package(provider, version, platform).await {
                Ok(package) => return Ok(package),
                Err(SourceError::NotFound { .. } | SourceError::NotInRegistry(_)) => {}
                Err(other @ SourceError::PlatformNotSupported { .. }) => last = other,
                Err(other) => return Err(other),
            }
        }
        Err(last)
    }

    fn describe(&self, provider: &Provider) -> String {
        let all: Vec<String> = self.sources_for(provider).map(|s| s.describe(provider)).collect();
        all.join("\n")
    }
}
