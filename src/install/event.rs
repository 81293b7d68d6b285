//! What can be heard while packages are installed.

use crate::model::addr::Provider;
use crate::model::deps::{Constraints, Version};

#[derive(Clone, Debug, PartialEq)]
pub enum InstallEvent {
    /// The provider is part of this program: nothing to install.
    BuiltIn {
        provider: Provider,
    },
    /// Its source is asked for versions; `locked`: for the one of the lock file.
    QueryStarted {
        provider: Provider,
        constraints: Constraints,
        locked: bool,
    },
    /// The working directory has the package already.
    AlreadyInstalled {
        provider: Provider,
        version: Version,
    },
    /// It is linked from the shared cache.
    LinkedFromCache {
        provider: Provider,
        version: Version,
    },
    FetchStarted {
        provider: Provider,
        version: Version,
    },
    Fetched {
        provider: Provider,
        version: Version,
        authentication: Authentication,
    },
}

/// What is known of a package's origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// From a folder: nothing but its own checksum is known.
    Unauthenticated,
}

impl std::fmt::Display for Authentication {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("unauthenticated")
    }
}
