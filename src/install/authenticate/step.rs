//! Steps: each finds out one thing about an archive.

use std::path::Path;

use model::deps::Hash;

use super::error::AuthenticationError;
use super::trust::Authentication;

/// An archive on disk, before it is unpacked.
#[derive(Clone, Copy, Debug)]
pub struct Archive<'a> {
    pub path: &'a Path,
    /// Of the archive's bytes, taken while they arrived.
    pub sha256: &'a [u8; 32],
}

/// One thing to find out about an archive.
pub trait Step: Send + Sync {
    /// What is known of the archive after this step.
    fn check(&self, archive: &Archive<'_>) -> Result<Authentication, AuthenticationError>;

    /// The hashes of packages, for any platform, that are as good as the archive if this step succeeds: they may be locked.
    fn acceptable_hashes(&self) -> Vec<Hash> {
        Vec::new()
    }
}

/// Several steps that must all succeed, in this order; the best of what they found counts, and the hashes of the last one
/// that has any. Without steps nothing is known.
#[derive(Default)]
pub struct Steps(pub Vec<Box<dyn Step>>);

impl Step for Steps {
    fn check(&self, archive: &Archive<'_>) -> Result<Authentication, AuthenticationError> {
        let mut best = Authentication::Unauthenticated;
        for step in &self.0 {
            best = step.check(archive)?.max(best);
        }
        Ok(best)
    }

    fn acceptable_hashes(&self) -> Vec<Hash> {
        self.0.iter().rev().map(|step| step.acceptable_hashes()).find(|hashes| !hashes.is_empty()).unwrap_or_default()
    }
}
