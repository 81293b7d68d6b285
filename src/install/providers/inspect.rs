//! A package of any platform: fetched, checked and hashed, but not installed.

use std::path::{Path, PathBuf};

use base::name::COMMAND;
use model::addr::Provider;
use model::deps::{Hash, Version};
use net::http::{Client, Request};

use super::download;
use super::fetch::blocking;
use super::placed::Problem;
use crate::authenticate::{Archive, Authentication, Step};
use crate::event::FailedStep;
use crate::package::contents::Limits;
use crate::package::{archive, executable, hash, relative_dir};
use crate::source::{Package, PackageLocation, Source, SourceError};

/// The package to inspect.
pub(super) struct Inspection<'a> {
    pub source: &'a dyn Source,
    pub http: &'a Client,
    pub provider: &'a Provider,
    pub version: &'a Version,
    pub platform: &'a str,
}

/// What is known of a package that was inspected.
pub(super) struct Inspected {
    /// Of its files, taken here.
    pub local: Hash,
    /// Others that may be locked.
    pub lockable: Vec<Hash>,
    pub authentication: Authentication,
}

impl Inspection<'_> {
    /// Inspects the package. Downloads go to `folder`; `keep_in`: a shared folder of unpacked packages that gets it too.
    /// `started` is called once the package is found.
    pub async fn run(
        &self,
        folder: &Path,
        keep_in: Option<&Path>,
        started: &(dyn Fn() + Sync),
    ) -> Result<Inspected, Problem> {
        let package = self.package().await?;
        started();
        let downloaded;
        let (path, sum) = match &package.location {
            PackageLocation::Unpacked(dir) => return self.unpacked(dir.clone()).await,
            PackageLocation::Archive(path) => (path.clone(), None),
            PackageLocation::Remote(url) => {
                downloaded = download::download(self.http, &Request::get(url.clone()), folder, &|_, _| {}).await?;
                downloaded.file_and_checksum()
            }
            PackageLocation::Asked(request) => {
                downloaded = download::download(self.http, request, folder, &|_, _| {}).await?;
                downloaded.file_and_checksum()
            }
        };
        let authentication = authenticate(&package, &path, sum).await?;
        let local = self.hash_of(path, keep_in.map(|cache| self.cached(cache))).await?;
        let lockable = package.lockable(&authentication, &local, self.platform);
        Ok(Inspected { local, lockable, authentication })
    }

    /// The hash of an archive's files, in one pass that also unpacks them if there is a place for them.
    async fn hash_of(&self, path: PathBuf, place: Option<PathBuf>) -> Result<Hash, Problem> {
        let (provider, limits, stop) = (self.provider.clone(), Limits::default(), self.http.stop().clone());
        let looked = blocking(move || match place {
            None => archive::hashes(&path, &limits, &stop),
            Some(place) => archive::stage(&path, &place, &provider, &limits, &stop)?.finish().map(|done| done.hashes),
        });
        let hashes = looked.await?.map_err(|e| Problem::package(FailedStep::Unpacking, e))?;
        Ok(hashes.unpacked)
    }

    /// Where a shared folder has the package.
    pub fn cached(&self, cache: &Path) -> PathBuf {
        cache.join(relative_dir(self.provider, self.version)).with_file_name(self.platform)
    }

    async fn package(&self) -> Result<Package, Problem> {
        if self.http.stop().is_stopping() {
            return Err(Problem::Interrupted);
        }
        Ok(self.source.package(self.provider, self.version, self.platform).await?)
    }

    async fn unpacked(&self, dir: PathBuf) -> Result<Inspected, Problem> {
        executable(&dir, self.provider)
            .map_err(|e| failed(FailedStep::Executable, format!("provider binary not found: {e}")))?;
        let local = blocking(move || hash::of_dir(&dir)).await?.map_err(|e| failed(FailedStep::Hash, e))?;
        Ok(Inspected { local, lockable: Vec::new(), authentication: Authentication::Unauthenticated })
    }

    /// Why there is no such package; for people, without a full stop.
    pub fn worded(&self, problem: &Problem) -> String {
        let Inspection { provider, version, platform, .. } = self;
        match problem {
            Problem::Interrupted => SourceError::Interrupted.to_string(),
            Problem::Source(SourceError::PlatformNotSupported { mirror: None }) => {
                format!("provider {provider} {version} is not available for {platform}")
            }
            Problem::Source(SourceError::PlatformNotSupported { mirror: Some(mirror) }) => {
                format!("provider mirror {mirror} does not have a package of {provider} {version} for {platform}")
            }
            Problem::Source(SourceError::ProtocolNotSupported { .. }) => {
                format!("provider {provider} {version} is not supported by this version of {COMMAND}")
            }
            Problem::Source(other) => other.to_string(),
            Problem::FromCache(why) | Problem::Failed(_, why) => why.clone(),
        }
    }
}

fn failed(step: FailedStep, why: impl ToString) -> Problem {
    Problem::Failed(step, why.to_string())
}

/// Holds an archive against the steps of its package; `sum`: of its bytes, if it was taken already.
pub(super) async fn authenticate(
    package: &Package,
    path: &Path,
    sum: Option<[u8; 32]>,
) -> Result<Authentication, Problem> {
    if package.steps.0.is_empty() {
        return Ok(Authentication::Unauthenticated);
    }
    let sum = match sum {
        Some(sum) => sum,
        None => {
            let path = path.to_path_buf();
            let sum = blocking(move || hash::sha256_of_file(&path)).await?;
            sum.map_err(|e| failed(FailedStep::Authentication, e))?
        }
    };
    let checked = package.steps.check(&Archive { path, sha256: &sum });
    checked.map_err(|e| failed(FailedStep::Authentication, e))
}
