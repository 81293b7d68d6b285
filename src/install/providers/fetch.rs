//! One package from where it is to where it belongs: downloaded, checked, unpacked, checked again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gotext::hex::hex;
use model::addr::Provider;
use model::deps::Version;
use model::deps::hash::{Hash, Scheme};
use net::http::{Client, Request};

use super::download::{self, Downloaded};
use super::placed::{Placed, Problem};
use crate::authenticate::{Archive, Authentication, Step};
use crate::event::{FailedStep, InstallEvent};
use crate::package::archive::{self, Staged};
use crate::package::cache::Reservation;
use crate::package::contents::Limits;
use crate::package::stamp::Stamps;
use crate::package::{executable, hash, link, platform};
use crate::source::{Package, PackageLocation};

pub(super) struct Fetch<'a> {
    pub provider: &'a Provider,
    pub version: &'a Version,
    pub locked: &'a BTreeSet<Hash>,
    pub http: &'a Client,
    pub stamps: &'a Arc<Stamps>,
    /// How large the package may be.
    pub limits: Limits,
    pub say: &'a (dyn Fn(InstallEvent) + Sync),
}

/// Where a package goes.
pub(super) enum Destination {
    /// Into the working directory.
    Own(PathBuf),
    Cache(Reservation),
}

impl Destination {
    fn dir(&self) -> &Path {
        match self {
            Destination::Own(dir) => dir,
            Destination::Cache(reservation) => reservation.dir(),
        }
    }
}

/// An archive on this machine.
struct Local {
    path: PathBuf,
    sha256: [u8; 32],
    /// Goes once the archive is unpacked.
    _file: Option<Downloaded>,
}

/// Work that keeps a processor or a disk busy, away from the tasks that wait for the network.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|e| Problem::Failed(FailedStep::Unpacking, e.to_string()))
}

impl Fetch<'_> {
    pub async fn install(&self, package: Package, place: Destination) -> Result<(Placed, Authentication), Problem> {
        let local = match &package.location {
            PackageLocation::Unpacked(dir) => {
                let local = self.link(dir, place).await?;
                return Ok((Placed { local, signed: Vec::new(), known: false }, Authentication::Unauthenticated));
            }
            PackageLocation::Archive(path) => {
                let (path, read) = (path.clone(), path.clone());
                let sum = blocking(move || hash::sha256_of_file(&read)).await?;
                let sha256 = sum.map_err(|e| Problem::Failed(FailedStep::Authentication, e.to_string()))?;
                Local { path, sha256, _file: None }
            }
            PackageLocation::Remote(url) => self.download(&Request::get(url.clone()), place.dir()).await?,
            PackageLocation::Asked(request) => self.download(request, place.dir()).await?,
        };
        let (path, sha256) = (local.path.clone(), local.sha256);
        let (package, checked) = blocking(move || {
            let checked = package.steps.check(&Archive { path: &path, sha256: &sha256 });
            (package, checked)
        })
        .await?;
        let authentication = checked.map_err(|e| Problem::Failed(FailedStep::Authentication, e.to_string()))?;
        (self.say)(InstallEvent::Authenticated {
            provider: self.provider.clone(),
            version: self.version.clone(),
            authentication: authentication.clone(),
        });
        let hash = self.unpack(local, place).await?;
        let signed = package.lockable(&authentication, &hash, &platform());
        Ok((Placed { local: hash, signed, known: false }, authentication))
    }

    /// Writes an archive to a file beside its package's place, which goes when it is dropped.
    async fn download(&self, request: &Request, place: &Path) -> Result<Local, Problem> {
        let folder = place.parent().unwrap_or(Path::new("."));
        let progress = |have, all| (self.say)(InstallEvent::Progress { provider: self.provider.clone(), have, all });
        let done = download::download(self.http, request, folder, &progress).await?;
        let (provider, version) = (self.provider.clone(), self.version.clone());
        (self.say)(InstallEvent::Downloaded { provider, version, bytes: done.bytes });
        Ok(Local { path: done.file.path().to_path_buf(), sha256: done.sha256, _file: Some(done) })
    }

    async fn unpack(&self, local: Local, place: Destination) -> Result<Hash, Problem> {
        let zip_hash = Hash::new(Scheme::Zh, &hex(&local.sha256));
        let (provider, limits, stop) = (self.provider.clone(), self.limits, self.http.stop().clone());
        let target = place.dir().to_path_buf();
        let staged = blocking(move || archive::stage(&local.path, &target, &provider, &limits, &stop)).await?;
        let staged: Staged = staged.map_err(|e| Problem::package(FailedStep::Unpacking, e))?;
        let hash = staged.hashes().unpacked.clone();
        if !self.locked.is_empty() && !self.locked.contains(&hash) && !self.locked.contains(&zip_hash) {
            return Err(Problem::Failed(FailedStep::Hash, self.not_locked("current", "")));
        }
        let placed = match place {
            Destination::Own(_) => staged.finish(),
            Destination::Cache(reservation) => reservation.store(staged, Some(&zip_hash)),
        };
        let unpacked = placed.map_err(|e| Problem::package(FailedStep::Unpacking, e))?;
        self.stamps.note(&unpacked.dir, &hash);
        let (provider, version) = (self.provider.clone(), self.version.clone());
        (self.say)(InstallEvent::Unpacked { provider, version, hash: hash.clone() });
        Ok(hash)
    }

    /// A folder of a mirror: its packages are linked, not copied.
    async fn link(&self, dir: &Path, place: Destination) -> Result<Hash, Problem> {
        let (stamps, from) = (self.stamps.clone(), dir.to_path_buf());
        let local = blocking(move || stamps.hash_of(&from)).await?;
        let local = local.map_err(|e| Problem::Failed(FailedStep::Hash, e.to_string()))?;
        if !self.locked.is_empty() && !self.locked.contains(&local) {
            let perhaps =
                " (this might be because the available checksums are for packages targeting different platforms)";
            return Err(Problem::Failed(FailedStep::Hash, self.not_locked("local", perhaps)));
        }
        let found = executable(dir, self.provider);
        found.map_err(|e| Problem::Failed(FailedStep::Executable, format!("provider binary not found: {e}")))?;
        match place {
            Destination::Own(target) => link::link(dir, &target).map_err(Problem::link)?,
            Destination::Cache(reservation) => {
                reservation.link(dir).map_err(|e| Problem::package(FailedStep::Link, e))?;
            }
        }
        Ok(local)
    }

    fn not_locked(&self, which: &str, perhaps: &str) -> String {
        format!(
            "the {which} package for {} {} doesn't match any of the checksums previously recorded in the dependency lock \
             file{perhaps}; for more information: \
             https://developer.hashicorp.com/terraform/language/files/dependency-lock#checksum-verification",
            self.provider, self.version
        )
    }
}
