//! Several sources, each for some providers: what one has counts, in the order in which they are given.

use std::path::PathBuf;

use crate::model::addr::Provider;
use crate::model::deps::Version;
use crate::model::service::{Location, Method, Pattern, ProviderInstallation};

use super::filesystem::Filesystem;
use super::registry::{NetworkMirror, Registry};
use super::{PackageLocation, Source, SourceError};

pub struct Multi {
    methods: Vec<(Method, Box<dyn Source>)>,
}

impl Multi {
    /// As the user configured it.
    pub fn configured(installation: &ProviderInstallation) -> Multi {
        Multi { methods: installation.methods.iter().map(|m| (m.clone(), source_of(&m.location))).collect() }
    }

    /// Without a configuration: folders that count by convention (those that exist), registries for what none of them has.
    pub fn implied(folders: &[PathBuf]) -> Multi {
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
        methods.push((direct, Box::new(Registry)));
        Multi { methods }
    }

    /// Only these folders: `-plugin-dir`.
    pub fn folders(folders: &[PathBuf]) -> Multi {
        let locations = folders.iter().map(|f| Location::FilesystemMirror(f.clone()));
        Multi { methods: locations.map(|l| (Method::new(l.clone()), source_of(&l))).collect() }
    }

    fn sources_for(&self, provider: &Provider) -> impl Iterator<Item = &dyn Source> {
        self.methods.iter().filter(|(m, _)| m.applies_to(provider)).map(|(_, s)| s.as_ref())
    }
}

fn source_of(location: &Location) -> Box<dyn Source> {
    match location {
        Location::Direct => Box::new(Registry),
        Location::FilesystemMirror(path) => Box::new(Filesystem::new(path)),
        Location::NetworkMirror(url) => Box::new(NetworkMirror(url.clone())),
    }
}

impl Source for Multi {
    fn versions(&self, provider: &Provider) -> Result<Vec<Version>, SourceError> {
        let mut versions = Vec::new();
        let mut searched = Vec::new();
        for source in self.sources_for(provider) {
            match source.versions(provider) {
                Ok(found) => versions.extend(found),
                Err(SourceError::NotFound { searched: places }) => searched.extend(places),
                Err(other) => return Err(other),
            }
        }
        versions.sort();
        versions.dedup();
        if versions.is_empty() { Err(SourceError::NotFound { searched }) } else { Ok(versions) }
    }

    fn package(&self, provider: &Provider, version: &Version) -> Result<PackageLocation, SourceError> {
        let mut last = SourceError::PlatformNotSupported;
        for source in self.sources_for(provider) {
            match source.package(provider, version) {
                Ok(location) => return Ok(location),
                Err(SourceError::PlatformNotSupported | SourceError::NotFound { .. }) => {}
                Err(other) => last = other,
            }
        }
        Err(last)
    }

    fn describe(&self, provider: &Provider) -> String {
        let all: Vec<String> = self.sources_for(provider).map(|s| s.describe(provider)).collect();
        all.join("\n")
    }
}
