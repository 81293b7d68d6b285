//! One package from where it is to where it belongs: downloaded, checked, unpacked, checked again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::http::{Client, Request};
use crate::install::authenticate::{Archive, Authentication, Step};
use crate::install::event::{FailedStep, InstallEvent};
use crate::install::package::stamp::Stamps;
use crate::install::package::{archive, executable, hash, link, platform};
use crate::install::source::{Package, PackageLocation};
use crate::model::addr::Provider;
use crate::model::deps::Version;
use crate::model::deps::hash::{Hash, Scheme};

use super::download::{self, Downloaded};
use super::execute::{Placed, Problem};

pub(super) struct Fetch<'a> {
    pub provider: &'a Provider,
    pub version: &'a Version,
    pub locked: &'a BTreeSet<Hash>,
    pub http: &'a Client,
    pub stamps: &'a Arc<Stamps>,
    pub say: &'a (dyn Fn(InstallEvent) + Sync),
}

/// Work that keeps a processor or a disk busy, away from the tasks that wait for the network.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|e| Problem::Failed(FailedStep::Unpacking, e.to_string()))
}

impl Fetch<'_> {
    pub async fn install(&self, package: Package, place: &Path) -> Result<(Placed, Authentication), Problem> {
        let mut downloaded = None;
        let mut keep = |done: Downloaded| downloaded.insert(done).found();
        let (path, sum) = match &package.location {
            PackageLocation::Unpacked(dir) => {
                let local = self.link(dir, place).await?;
                return Ok((Placed { local, signed: Vec::new(), known: false }, Authentication::Unauthenticated));
            }
            PackageLocation::Archive(path) => (path.clone(), None),
            PackageLocation::Remote(url) => keep(self.download(&Request::new(url.clone()), place).await?),
            PackageLocation::Asked(request) => keep(self.download(request, place).await?),
        };
        let needs_sum = !package.steps.0.is_empty() || !self.locked.is_empty();
        let sum = match sum {
            None if needs_sum => {
                let path = path.clone();
                let sum = blocking(move || hash::sha256_of_file(&path)).await?;
                Some(sum.map_err(|e| Problem::Failed(FailedStep::Authentication, e.to_string()))?)
            }
            known => known,
        };
        let mut authentication = Authentication::Unauthenticated;
        if let Some(sum) = &sum {
            let checked = package.steps.check(&Archive { path: &path, sha256: sum });
            authentication = checked.map_err(|e| Problem::Failed(FailedStep::Authentication, e.to_string()))?;
        }
        (self.say)(InstallEvent::Authenticated {
            provider: self.provider.clone(),
            version: self.version.clone(),
            authentication: authentication.clone(),
        });
        let local = self.unpack(path, place, sum.map(|sum| Hash::new(Scheme::Zh, &hash::hex(&sum)))).await?;
        let signed = package.lockable(&authentication, &local, &platform());
        Ok((Placed { local, signed, known: false }, authentication))
    }

    /// Writes an archive to a file beside its package's place, which goes when it is dropped.
    async fn download(&self, request: &Request, place: &Path) -> Result<Downloaded, Problem> {
        let folder = place.parent().unwrap_or(Path::new("."));
        let progress = |have, all| (self.say)(InstallEvent::Progress { provider: self.provider.clone(), have, all });
        let done = download::download(self.http, request, folder, &progress).await?;
        let (provider, version) = (self.provider.clone(), self.version.clone());
        (self.say)(InstallEvent::Downloaded { provider, version, bytes: done.bytes });
        Ok(done)
    }

    async fn unpack(&self, path: PathBuf, place: &Path, zip_hash: Option<Hash>) -> Result<Hash, Problem> {
        let zip_is_locked = zip_hash.is_some_and(|hash| self.locked.contains(&hash));
        let from = path.clone();
        let local = blocking(move || hash::of_archive(&from)).await?;
        let local = local.map_err(|e| Problem::Failed(FailedStep::Unpacking, e.to_string()))?;
        if !self.locked.is_empty() && !self.locked.contains(&local) && !zip_is_locked {
            return Err(Problem::Failed(FailedStep::Hash, self.not_locked("current", "")));
        }
        let to = place.to_path_buf();
        let unpacked = blocking(move || archive::unpack(&path, &to)).await?;
        unpacked.map_err(|e| Problem::Failed(FailedStep::Unpacking, e.to_string()))?;
        (self.say)(InstallEvent::Unpacked {
            provider: self.provider.clone(),
            version: self.version.clone(),
            hash: local.clone(),
        });
        self.check_executable(place)?;
        Ok(local)
    }

    /// A folder that somebody else keeps: what is in it is used where it is.
    async fn link(&self, dir: &Path, place: &Path) -> Result<Hash, Problem> {
        let (stamps, from) = (self.stamps.clone(), dir.to_path_buf());
        let local = blocking(move || stamps.hash_of(&from)).await?;
        let local = local.map_err(|e| Problem::Failed(FailedStep::Hash, e.to_string()))?;
        if !self.locked.is_empty() && !self.locked.contains(&local) {
            let perhaps =
                " (this might be because the available checksums are for packages targeting different platforms)";
            return Err(Problem::Failed(FailedStep::Hash, self.not_locked("local", perhaps)));
        }
        link::link(dir, place).map_err(Problem::link)?;
        self.check_executable(place)?;
        Ok(local)
    }

    fn check_executable(&self, place: &Path) -> Result<(), Problem> {
        let found = executable(place, self.provider);
        found
            .map(|_| ())
            .map_err(|e| Problem::Failed(FailedStep::Executable, format!("provider binary not found: {e}")))
    }

    fn not_locked(&self, which: &str, perhaps: &str) -> String {
        format!(
            "the {which} package for {} {} doesn't match any of the checksums previously recorded in the dependency lock \
             file{perhaps}; for more information: \
             https://developer.hashicorp.com/terraform/language/files/dependency-lock#checksum-verification",
            self.provider.for_display(),
            self.version
        )
    }
}
