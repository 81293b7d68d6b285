//! Sources of provider packages.
//!
//! Owns the search for versions and packages. Never downloads, unpacks or checks one.

pub mod demanding;
pub mod filesystem;
pub mod multi;
pub mod network_mirror;
pub mod oci_mirror;
pub mod registry;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use async_trait::async_trait;
use model::addr::Provider;
use model::deps::Version;
use model::deps::hash::{Hash, Scheme};
use model::service::Host;
use net::http::Request;
use url::Url;

use crate::authenticate::{Authentication, Step, Steps};

/// Something that has packages of providers.
#[async_trait]
pub trait Source: Send + Sync {
    /// The versions it has of a provider, for any platform.
    async fn versions(&self, provider: &Provider) -> Result<Available, SourceError>;

    /// The package of one version for a platform, `linux_amd64`.
    async fn package(&self, provider: &Provider, version: &Version, platform: &str) -> Result<Package, SourceError>;

    /// What it is, for people: a folder, "registry example.com".
    fn describe(&self, provider: &Provider) -> String;
}

/// What a source has of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Available {
    /// Sorted, each once.
    pub versions: Vec<Version>,
    /// What the source wants users to know.
    pub warnings: Vec<String>,
}

impl Available {
    pub fn new(mut versions: Vec<Version>, warnings: Vec<String>) -> Available {
        versions.sort();
        versions.dedup();
        Available { versions, warnings }
    }
}

/// An available package, and the checks that it must pass.
pub struct Package {
    pub location: PackageLocation,
    /// Archives are checked with these before they are unpacked.
    pub steps: Steps,
    /// The hashes of all platforms' packages, as far as the source reports them. They are not signed.
    pub reported: BTreeMap<String, Vec<Hash>>,
    /// What the source says and the user's settings let it vouch for.
    pub trusted: Vec<Hash>,
}

impl Package {
    /// With what must be true of it; nothing is said of other platforms.
    pub fn new(location: PackageLocation, steps: Steps) -> Package {
        Package { location, steps, reported: BTreeMap::new(), trusted: Vec::new() }
    }

    /// On this machine's disk, without authentication.
    pub fn local(location: PackageLocation) -> Package {
        Package::new(location, Steps::default())
    }

    /// The hashes that may be locked beside the package's own, `local`: those that a signature vouches for, and those
    /// that the source reports where they belong to signed archives and where what it says of this package is true.
    pub fn lockable(&self, authentication: &Authentication, local: &Hash, platform: &str) -> Vec<Hash> {
        if !authentication.is_signed() {
            // A step has found one of them to be the archive's.
            let verified = *authentication == Authentication::VerifiedChecksum;
            return self.trusted.iter().filter(|_| verified).cloned().collect();
        }
        let mut hashes = self.steps.acceptable_hashes();
        if self.reported.get(platform).is_some_and(|here| here.contains(local)) {
            let is_archive = |hash: &&Hash| hash.scheme() == Some(Scheme::Zh);
            let signed = |package: &&Vec<Hash>| {
                let mut archives = package.iter().filter(is_archive).peekable();
                archives.peek().is_some() && archives.all(|hash| hashes.contains(hash))
            };
            let known: Vec<Hash> = self.reported.values().filter(signed).flatten().cloned().collect();
            hashes.extend(known);
        }
        hashes
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageLocation {
    /// A folder with the package's files.
    Unpacked(PathBuf),
    /// A `.zip` archive.
    Archive(PathBuf),
    /// A `.zip` archive on another machine.
    Remote(Url),
    /// The same, where more than the address is needed to get it.
    Asked(Box<Request>),
}

#[async_trait]
impl Source for Box<dyn Source> {
    async fn versions(&self, provider: &Provider) -> Result<Available, SourceError> {
        (**self).versions(provider).await
    }

    async fn package(&self, provider: &Provider, version: &Version, platform: &str) -> Result<Package, SourceError> {
        (**self).package(provider, version, platform).await
    }

    fn describe(&self, provider: &Provider) -> String {
        (**self).describe(provider)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    /// The run was asked to stop.
    Interrupted,
    /// No place has any version of the provider; with those that were searched.
    NotFound {
        provider: Provider,
        searched: Vec<String>,
    },
    /// The registry does not know it.
    NotInRegistry(Provider),
    /// The host is no registry of providers; perhaps of another version of the protocol.
    NoRegistry {
        host: Host,
        other_version: bool,
    },
    Unreachable {
        host: String,
        why: String,
    },
    Unauthorized {
        host: String,
        had_credentials: bool,
    },
    /// There is such a version, for other platforms only; with the mirror that was asked, if it was one.
    PlatformNotSupported {
        mirror: Option<String>,
    },
    /// The version speaks other plugin protocols; with the nearest version that speaks ours.
    ProtocolNotSupported {
        closest: Option<Version>,
    },
    /// Anything else; for people, without a full stop.
    Failed(String),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::Interrupted => f.write_str("interrupted"),
            SourceError::NotFound { provider, .. } => {
                write!(f, "provider {provider} was not found in any of the search locations")
            }
            SourceError::NotInRegistry(provider) => {
                write!(f, "provider registry {} does not have a provider named {provider}", provider.host)
            }
            SourceError::NoRegistry { host, .. } => {
                write!(f, "host {} does not offer a Terraform provider registry", host.for_display())
            }
            SourceError::Unreachable { host, why } => write!(f, "could not connect to {host}: {why}"),
            SourceError::Unauthorized { host, had_credentials: true } => {
                write!(f, "host {host} rejected the given authentication credentials")
            }
            SourceError::Unauthorized { host, had_credentials: false } => {
                write!(f, "host {host} requires authentication credentials")
            }
            SourceError::PlatformNotSupported { .. } => f.write_str("the package is not available for this platform"),
            SourceError::ProtocolNotSupported { .. } => f.write_str("the provider has no supported plugin protocol"),
            SourceError::Failed(why) => f.write_str(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use gotext::hex::hex;

    use super::*;
    use crate::authenticate::checksum::ArchiveChecksum;

    #[test]
    fn reported_hashes_count_where_they_belong_to_signed_archives() {
        let hash = |text: &str| Hash::parse(text).unwrap();
        let signed = format!("zh:{}", hex(&[1; 32]));
        let mut package = Package::new(
            PackageLocation::Archive(PathBuf::new()),
            Steps(vec![Box::new(ArchiveChecksum { sha256: [1; 32] })]),
        );
        let mut report = |platform: &str, hashes: &[&str]| {
            package.reported.insert(platform.to_owned(), hashes.iter().map(|text| hash(text)).collect());
        };
        report("linux_amd64", &[&signed, "h1:here"]);
        report("darwin_arm64", &[&signed, "h1:there"]);
        report("plan9_mips", &["zh:00", "h1:unsigned"]);
        report("plan9_arm", &["h1:unbound"]);
        let key = Authentication::Community { key_id: "0123456789ABCDEF".into() };
        let locked = |authentication: &Authentication, local: &str| -> Vec<String> {
            let hashes = package.lockable(authentication, &hash(local), "linux_amd64");
            let all: std::collections::BTreeSet<String> = hashes.iter().map(Hash::to_string).collect();
            all.into_iter().collect()
        };
        assert_eq!(locked(&key, "h1:here"), ["h1:here", "h1:there", &signed]);
        assert_eq!(locked(&key, "h1:another"), [&signed[..]], "what is said of this platform is not true");
        assert!(locked(&Authentication::VerifiedChecksum, "h1:here").is_empty());
    }
}
