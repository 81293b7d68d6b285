//! A folder that mirrors registries: `host/namespace/type/version/platform/` unpacked, or
//! `host/namespace/type/terraform-provider-type_version_platform.zip`.

use std::path::{Path, PathBuf};

use crate::model::addr::Provider;
use crate::model::addr::provider::{normal_host, parse_part};
use crate::model::deps::Version;

use super::super::package::platform;
use super::{PackageLocation, Source, SourceError};

pub struct Filesystem {
    base: PathBuf,
}

impl Filesystem {
    pub fn new(base: impl Into<PathBuf>) -> Filesystem {
        Filesystem { base: base.into() }
    }

    fn provider_dir(&self, provider: &Provider) -> PathBuf {
        self.base.join(&*provider.host).join(&*provider.namespace).join(&*provider.kind)
    }

    /// Every provider below the folder, for the mirrors that nobody configured.
    pub fn providers(&self) -> Vec<Provider> {
        let mut found = Vec::new();
        for host in folders(&self.base) {
            let Ok(host_name) = normal_host(&host) else { continue };
            for namespace in folders(&self.base.join(&host)) {
                for kind in folders(&self.base.join(&host).join(&namespace)) {
                    if let (Ok(namespace), Ok(kind)) = (parse_part(&namespace), parse_part(&kind)) {
                        found.push(Provider::new(&host_name, &namespace, &kind));
                    }
                }
            }
        }
        found.sort();
        found
    }

    /// All packages of a provider: version, platform, place. An unreadable folder has none.
    fn packages(&self, provider: &Provider) -> Vec<(Version, String, PackageLocation)> {
        let dir = self.provider_dir(provider);
        let mut packages = Vec::new();
        for name in names(&dir) {
            let path = dir.join(&name);
            if let Some((version, platform)) = archive_name(&name, provider) {
                if path.is_file() {
                    packages.push((version, platform, PackageLocation::Archive(path)));
                }
            } else if let Ok(version) = Version::parse_exact(&name) {
                let platforms = folders(&path).into_iter().filter(|p| is_platform(p));
                packages
                    .extend(platforms.map(|p| (version.clone(), p.clone(), PackageLocation::Unpacked(path.join(p)))));
            }
        }
        packages
    }
}

impl Source for Filesystem {
    fn versions(&self, provider: &Provider) -> Result<Vec<Version>, SourceError> {
        let mut versions: Vec<Version> = self.packages(provider).into_iter().map(|(version, ..)| version).collect();
        versions.sort();
        versions.dedup();
        match versions.is_empty() {
            true => Err(SourceError::NotFound { searched: vec![self.base.display().to_string()] }),
            false => Ok(versions),
        }
    }

    fn package(&self, provider: &Provider, version: &Version) -> Result<PackageLocation, SourceError> {
        let here = platform();
        let mut found: Vec<PackageLocation> = self
            .packages(provider)
            .into_iter()
            .filter(|(v, p, _)| v == version && *p == here)
            .map(|(.., location)| location)
            .collect();
        // What is unpacked already is cheaper.
        found.sort_by_key(|location| matches!(location, PackageLocation::Archive(_)));
        found.into_iter().next().ok_or(SourceError::PlatformNotSupported)
    }

    fn describe(&self, _provider: &Provider) -> String {
        self.base.display().to_string()
    }
}

/// The names in a folder; none if it cannot be read.
fn names(dir: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut names: Vec<String> = entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// The folders in a folder, links to folders too.
fn folders(dir: &Path) -> Vec<String> {
    names(dir).into_iter().filter(|name| dir.join(name).is_dir()).collect()
}

fn is_platform(name: &str) -> bool {
    let good = |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric());
    name.split_once('_').is_some_and(|(os, arch)| good(os) && good(arch))
}

fn archive_name(name: &str, provider: &Provider) -> Option<(Version, String)> {
    let rest = name.strip_suffix(".zip")?.strip_prefix(&format!("terraform-provider-{}_", provider.kind))?;
    let (version, platform) = rest.split_once('_')?;
    Some((Version::parse_exact(version).ok()?, platform.to_owned())).filter(|(_, p)| is_platform(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_and_unpacked_packages_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let provider = Provider::new("example.com", "acme", "foo");
        let base = dir.path().join("example.com/acme/foo");
        std::fs::create_dir_all(base.join("1.0.0").join(platform())).unwrap();
        std::fs::create_dir_all(base.join("1.1.0/plan9_mips")).unwrap();
        std::fs::create_dir_all(base.join("nonsense")).unwrap();
        std::fs::write(base.join(format!("terraform-provider-foo_2.0.0_{}.zip", platform())), "").unwrap();
        let source = Filesystem::new(dir.path());
        let versions: Vec<String> = source.versions(&provider).unwrap().iter().map(Version::to_string).collect();
        assert_eq!(versions, ["1.0.0", "1.1.0", "2.0.0"]);
        assert!(matches!(source.package(&provider, &Version::new(2, 0, 0)), Ok(PackageLocation::Archive(_))));
        assert_eq!(source.package(&provider, &Version::new(1, 1, 0)), Err(SourceError::PlatformNotSupported));
        assert_eq!(source.providers(), [provider]);
        let other = Provider::new("example.com", "acme", "bar");
        assert!(matches!(source.versions(&other), Err(SourceError::NotFound { .. })));
    }
}
