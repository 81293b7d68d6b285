//! Where packages come from.
//!
//! Owns looking for versions and packages. Never downloads, unpacks or checks one.

pub mod demanding;
pub mod filesystem;
pub mod multi;
pub mod network_mirror;
pub mod oci_access;
pub mod oci_mirror;
pub mod registry;

use std::fmt;
use std::path::PathBuf;

use async_trait::async_trait;
use url::Url;

use crate::base::http::Request;
use crate::install::authenticate::Steps;
use crate::model::addr::Provider;
use crate::model::deps::Version;
use crate::model::service::Host;

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

/// A package that may be had, and what must be true of it.
pub struct Package {
    pub location: PackageLocation,
    /// Archives are checked with these before they are unpacked.
    pub steps: Steps,
}

impl Package {
    /// On this machine's disk, where nobody vouches for it.
    pub fn local(location: PackageLocation) -> Package {
        Package { location, steps: Steps::default() }
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
            SourceError::ProtocolNotSupported { .. } => f.write_str("the provider speaks no plugin protocol of ours"),
            SourceError::Failed(why) => f.write_str(why),
        }
    }
}
