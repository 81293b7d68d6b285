//! A folder that mirrors registries: `host/namespace/type/version/platform/` unpacked, or
//! `host/namespace/type/terraform-provider-type_version_platform.zip`.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use model::addr::Provider;
use model::addr::provider::{normal_host, parse_namespace, parse_part};
use model::deps::Version;

use super::{Available, Package, PackageLocation, Source, SourceError};

pub struct Filesystem {
    base: PathBuf,
}

impl Filesystem {
    pub fn new(base: impl Into<PathBuf>) -> Filesystem {
        Filesystem { base: base.into() }
    }

    /// The folders of a provider: names of folders are case-insensitive, as addresses are.
    fn provider_dirs(&self, provider: &Provider) -> Vec<PathBuf> {
        let below = |dirs: Vec<PathBuf>, is: &dyn Fn(&str) -> bool| -> Vec<PathBuf> {
            let inner =
                |dir: PathBuf| folders(&dir).into_iter().filter(|name| is(name)).map(move |name| dir.join(name));
            dirs.into_iter().flat_map(inner).collect()
        };
        let part = |wanted: &str, name: &str| parse_part(name).is_ok_and(|part| part == wanted);
        let hosts = below(vec![self.base.clone()], &|name| normal_host(name).is_ok_and(|host| *host == *provider.host));
        let namespaces = below(hosts, &|name| part(&provider.namespace, name));
        below(namespaces, &|name| part(&provider.kind, name))
    }

    /// Where a provider's packages are by its address as it is written here.
    pub fn provider_dir(&self, provider: &Provider) -> PathBuf {
        self.base.join(&*provider.host).join(&*provider.namespace).join(&*provider.kind)
    }

    /// Every provider below the folder, for the implied mirrors.
    pub fn providers(&self) -> Vec<Provider> {
        let mut found = Vec::new();
        for host in folders(&self.base) {
            let Ok(host_name) = normal_host(&host) else { continue };
            for namespace in folders(&self.base.join(&host)) {
                for kind in folders(&self.base.join(&host).join(&namespace)) {
                    if let (Ok(namespace), Ok(kind)) = (parse_namespace(&namespace), parse_part(&kind)) {
                        found.push(Provider::new(&host_name, &namespace, &kind));
                    }
                }
            }
        }
        found.sort();
        found
    }

    fn unreadable(&self, what: &str, e: &std::io::Error) -> SourceError {
        let base = self.base.display();
        let why = match e.kind() {
            std::io::ErrorKind::NotFound => "no such file or directory".to_owned(),
            std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => e.to_string(),
        };
        SourceError::Failed(format!("cannot search {base}: {what} {base}: {why}"))
    }

    /// All packages of a provider: version, platform, place. An unreadable folder has none.
    pub fn packages(&self, provider: &Provider) -> Vec<(Version, String, PackageLocation)> {
        let mut packages = Vec::new();
        let dirs = self.provider_dirs(provider);
        for (dir, name) in dirs.iter().flat_map(|dir| names(dir).into_iter().map(move |name| (dir, name))) {
            let path = dir.join(&name);
            if let Some((version, platform)) = archive_name(&name, provider) {
                if path.is_file() {
                    packages.push((version, platform, PackageLocation::Archive(path)));
                }
            } else if let Some(version) = folder_version(&name) {
                let platforms = folders(&path).into_iter().filter(|p| is_platform(p));
                packages
                    .extend(platforms.map(|p| (version.clone(), p.clone(), PackageLocation::Unpacked(path.join(p)))));
            }
        }
        packages
    }
}

#[async_trait]
impl Source for Filesystem {
    async fn versions(&self, provider: &Provider) -> Result<Available, SourceError> {
        // Nothing at all was named by an empty text.
        if !self.base.as_os_str().is_empty() {
            std::fs::symlink_metadata(&self.base).map_err(|e| self.unreadable("lstat", &e))?;
        }
        let versions: Vec<Version> = self.packages(provider).into_iter().map(|(version, ..)| version).collect();
        match versions.is_empty() {
            true => Err(SourceError::NotFound { provider: provider.clone(), searched: vec![self.describe(provider)] }),
            false => Ok(Available::new(versions, Vec::new())),
        }
    }

    async fn package(&self, provider: &Provider, version: &Version, platform: &str) -> Result<Package, SourceError> {
        let all = self.packages(provider).into_iter();
        let here = all.filter(|(v, p, _)| v == version && p == platform).map(|(.., location)| location);
        // What is unpacked already is cheaper.
        let best = here.min_by_key(|location| matches!(location, PackageLocation::Archive(_)));
        best.map(Package::local).ok_or(SourceError::PlatformNotSupported { mirror: None })
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

/// The version that a folder is named by; `1.2` stands for `1.2.0`.
fn folder_version(name: &str) -> Option<Version> {
    let short = name.split(['-', '+']).next().unwrap_or("").split('.').count();
    let whole = match short {
        1 | 2 if name.len() == name.find(['-', '+']).unwrap_or(name.len()) => {
            format!("{name}{}", ".0".repeat(3 - short))
        }
        _ => name.to_owned(),
    };
    Version::parse_exact(&whole).ok()
}

/// The name of an archive's file.
pub fn archive_file(provider: &Provider, version: &Version, platform: &str) -> String {
    format!("terraform-provider-{}_{version}_{platform}.zip", provider.kind)
}

fn archive_name(name: &str, provider: &Provider) -> Option<(Version, String)> {
    let rest = name.strip_suffix(".zip")?.strip_prefix(&format!("terraform-provider-{}_", provider.kind))?;
    let (version, platform) = rest.split_once('_')?;
    Some((Version::parse_exact(version).ok()?, platform.to_owned())).filter(|(_, p)| is_platform(p))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::platform;

    #[tokio::test]
    async fn names_of_folders_are_read_as_addresses() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["example.com/acme/foo/1.0.0", "Example.COM/Acme/FOO/2.0", "example.com/acme/foobar/3.0.0"] {
            std::fs::create_dir_all(dir.path().join(path).join(platform())).unwrap();
        }
        let source = Filesystem::new(dir.path());
        let found = source.versions(&Provider::new("example.com", "acme", "foo")).await.unwrap();
        assert_eq!(found.versions.iter().map(Version::to_string).collect::<Vec<_>>(), ["1.0.0", "2.0.0"]);
    }

    #[tokio::test]
    async fn packed_and_unpacked_packages_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let provider = Provider::new("example.com", "acme", "foo");
        let base = dir.path().join("example.com/acme/foo");
        std::fs::create_dir_all(base.join("1.0.0").join(platform())).unwrap();
        std::fs::create_dir_all(base.join("1.1.0/plan9_mips")).unwrap();
        std::fs::create_dir_all(base.join("nonsense")).unwrap();
        std::fs::write(base.join(format!("terraform-provider-foo_2.0.0_{}.zip", platform())), "").unwrap();
        let source = Filesystem::new(dir.path());
        let found = source.versions(&provider).await.unwrap();
        assert_eq!(found.versions.iter().map(Version::to_string).collect::<Vec<_>>(), ["1.0.0", "1.1.0", "2.0.0"]);
        let package = source.package(&provider, &Version::new(2, 0, 0), &platform()).await.unwrap();
        assert!(matches!(package.location, PackageLocation::Archive(_)));
        let missing = source.package(&provider, &Version::new(1, 1, 0), &platform()).await.err();
        assert_eq!(missing, Some(SourceError::PlatformNotSupported { mirror: None }));
        assert_eq!(source.providers(), std::slice::from_ref(&provider));
        let other = Provider::new("example.com", "acme", "bar");
        assert!(matches!(source.versions(&other).await, Err(SourceError::NotFound { .. })));
        let nowhere = Filesystem::new("/nonexist").versions(&provider).await;
        let why = "cannot search /nonexist: lstat /nonexist: no such file or directory";
        assert_eq!(nowhere, Err(SourceError::Failed(why.into())));
    }
}
