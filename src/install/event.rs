//! Events of the installation of packages.

use std::path::PathBuf;

use model::addr::{self, Provider};
use model::deps::{Constraints, Hash, Version};

use crate::authenticate::Authentication;

/// Events have no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum InstallEvent {
    /// The provider is part of this program: nothing to install. With the version that it behaves like if it stands in for
    /// a public one; `locked`: the one of the lock file, if that is another one.
    BuiltIn {
        provider: Provider,
        version: Option<Version>,
        locked: Option<Version>,
    },
    /// Another program runs it, or a development override has its program: nothing to install.
    Unmanaged {
        provider: Provider,
        overridden: bool,
    },
    /// Its source is asked for versions; `locked`: the one of the lock file, if that is reused.
    QueryStarted {
        provider: Provider,
        constraints: Constraints,
        locked: Option<Version>,
    },
    /// A version is decided on.
    Selected {
        provider: Provider,
        version: Version,
    },
    /// What its source wants users to know.
    Warned {
        provider: Provider,
        warnings: Vec<String>,
    },
    /// The working directory has the package already.
    AlreadyInstalled {
        provider: Provider,
        version: Version,
    },
    /// Another process works on the same package of the shared cache: it is waited for.
    CacheContended {
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
    /// How far the download is: bytes so far, and all if the host says.
    Progress {
        provider: Provider,
        have: u64,
        all: Option<u64>,
    },
    /// The archive is on this machine.
    Downloaded {
        provider: Provider,
        version: Version,
        bytes: u64,
    },
    /// What is known of the archive's origin, before it is unpacked.
    Authenticated {
        provider: Provider,
        version: Version,
        authentication: Authentication,
    },
    /// Unpacked, with the hash of its files.
    Unpacked {
        provider: Provider,
        version: Version,
        hash: Hash,
    },
    /// In its place, whole and checked.
    Fetched {
        provider: Provider,
        version: Version,
        authentication: Authentication,
    },
    /// It is not installed, whichever check or step it was.
    Failed {
        provider: Provider,
        version: Version,
        step: FailedStep,
        why: String,
    },
    /// What the lock file is to hold: hashes taken here, those that the source vouches for, those it held before.
    Locked {
        provider: Provider,
        version: Version,
        local: Vec<Hash>,
        signed: Vec<Hash>,
        prior: Vec<Hash>,
    },
}

/// Where an install ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedStep {
    Source,
    Download,
    Authentication,
    Hash,
    Unpacking,
    Executable,
    Link,
}

/// Events while hashes of other platforms' packages are computed.
#[derive(Clone, Debug, PartialEq)]
pub enum LockEvent {
    FetchStarted {
        provider: Provider,
        version: Version,
        platform: String,
    },
    /// It is here, and what is known of its origin.
    Fetched {
        provider: Provider,
        version: Version,
        platform: String,
        authentication: Authentication,
    },
}

/// What became of the hashes of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracked {
    pub provider: Provider,
    pub platform: String,
    pub change: Change,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The provider was not locked before.
    NewProvider,
    /// There are hashes that were not in the lock file.
    NewHashes,
    None,
}

/// Events while a mirror folder is filled with archives.
#[derive(Clone, Debug, PartialEq)]
pub enum MirrorEvent {
    /// Part of this program: there is no archive.
    BuiltIn {
        provider: Provider,
    },
    Started {
        provider: Provider,
    },
    /// A version is decided on; `locked`: the one of the lock file.
    Selected {
        version: Version,
        locked: bool,
        constraints: Constraints,
    },
    FetchStarted {
        platform: String,
    },
    /// The folder has the very archive that would be fetched.
    AlreadyThere {
        platform: String,
    },
    Authenticated {
        authentication: Authentication,
    },
}

/// Events while modules are installed.
#[derive(Clone, Debug, PartialEq)]
pub enum ModuleEvent {
    /// A package is fetched for a module, or copied if it was fetched for another one. Holds no secrets.
    Downloading {
        path: addr::Module,
        package: String,
        version: Option<Version>,
    },
    /// How far the download of an archive is: bytes so far, and all if the host says. Comes immediately, also before the
    /// `Downloading` of a module whose turn is later.
    Progress {
        path: addr::Module,
        have: u64,
        all: Option<u64>,
    },
    /// The download is over, well or not.
    Downloaded {
        path: addr::Module,
    },
    Installed {
        path: addr::Module,
        dir: PathBuf,
    },
}

impl ModuleEvent {
    /// As people read it. None: it has no line.
    pub fn text(&self) -> Option<String> {
        match self {
            ModuleEvent::Downloading { path, package, version } => {
                let version = version.as_ref().map_or_else(String::new, |version| format!("{version} "));
                Some(format!("Downloading {package} {version}for {}...", path.0.join(".")))
            }
            ModuleEvent::Progress { .. } | ModuleEvent::Downloaded { .. } => None,
            ModuleEvent::Installed { path, dir } => Some(format!("- {} in {}", path.0.join("."), dir.display())),
        }
    }
}
