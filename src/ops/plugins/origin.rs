//! Where a plugin comes from.

use std::collections::BTreeMap;
use std::path::PathBuf;

use base::diag::Diagnostics;
use plugin::reattach::Reattach;

/// The summary of the error for a missing provider.
pub const MISSING_PROVIDER: &str = "Missing required provider";

/// How a provider is run.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Part of this program.
    BuiltIn,
    /// A package, by its program and the hash of its content if that is known and checked.
    Package { program: PathBuf, hash: Option<String> },
    /// Running already, started by its developer.
    Reattached(Reattach),
    /// It is not available; the errors.
    Missing(Diagnostics),
}

/// A program of a provisioner on disk, in place of a built-in one.
pub type ProvisionerPrograms = BTreeMap<String, PathBuf>;
