//! What can be heard while packages are installed.

use std::path::PathBuf;

use crate::model::addr::{self, Provider};
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

/// What can be heard while modules are installed.
#[derive(Clone, Debug, PartialEq)]
pub enum ModuleEvent {
    /// A package is fetched for a module, or copied if it was fetched for another one. Holds no secrets.
    Downloading {
        path: addr::Module,
        package: String,
        version: Option<Version>,
    },
    Installed {
        path: addr::Module,
        dir: PathBuf,
    },
}

/// As people read it.
impl std::fmt::Display for ModuleEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ModuleEvent::Downloading { path, package, version } => {
                write!(f, "Downloading {package} ")?;
                if let Some(version) = version {
                    write!(f, "{version} ")?;
                }
                write!(f, "for {}...", path.0.join("."))
            }
            ModuleEvent::Installed { path, dir } => write!(f, "- {} in {}", path.0.join("."), dir.display()),
        }
    }
}
