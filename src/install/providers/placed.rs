//! What becomes of one package: it is in its place, or there is a problem.

use model::deps::Hash;

use crate::event::FailedStep;
use crate::package::PackageError;
use crate::source::SourceError;

/// Why a package is not in place.
pub(super) enum Problem {
    Interrupted,
    Source(SourceError),
    /// The shared cache had it, but it could not be linked; for people.
    FromCache(String),
    /// The step, and why for people.
    Failed(FailedStep, String),
}

impl From<SourceError> for Problem {
    fn from(error: SourceError) -> Problem {
        match error {
            SourceError::Interrupted => Problem::Interrupted,
            other => Problem::Source(other),
        }
    }
}

impl Problem {
    pub(super) fn link(why: impl ToString) -> Problem {
        Problem::Failed(FailedStep::Link, why.to_string())
    }

    pub(super) fn package(step: FailedStep, error: PackageError) -> Problem {
        match error {
            PackageError::Stopped => Problem::Interrupted,
            PackageError::NoExecutable { .. } => Problem::Failed(FailedStep::Executable, error.to_string()),
            other => Problem::Failed(step, other.to_string()),
        }
    }
}

/// A package in its place.
pub(super) struct Placed {
    /// Of its files, taken here.
    pub local: Hash,
    /// What a signature vouches for.
    pub signed: Vec<Hash>,
    /// It was there before, as the lock file has it.
    pub known: bool,
}
