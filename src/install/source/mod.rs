//! Where packages come from.
//!
//! Owns looking for versions and packages. Never unpacks or checks one.

pub mod filesystem;
pub mod multi;
pub mod registry;

use std::path::PathBuf;

use crate::model::addr::Provider;
use crate::model::deps::Version;

/// Something that has packages of providers.
pub trait Source: Send + Sync {
    /// The versions it has of a provider, for any platform; sorted.
    fn versions(&self, provider: &Provider) -> Result<Vec<Version>, SourceError>;

    /// The package of one version for this platform.
    fn package(&self, provider: &Provider, version: &Version) -> Result<PackageLocation, SourceError>;

    /// What it is, for people: a folder, "provider registry example.com".
    fn describe(&self, provider: &Provider) -> String;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageLocation {
    /// A folder with the package's files.
    Unpacked(PathBuf),
    /// A `.zip` archive.
    Archive(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    /// It has no version of the provider; with the places that were searched.
    NotFound { searched: Vec<String> },
    /// It has the version, for other platforms only.
    PlatformNotSupported,
    /// Anything else; for people, without a full stop.
    Failed(String),
}
