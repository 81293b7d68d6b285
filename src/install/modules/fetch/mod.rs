//! Fetches a package by its address to a new folder.
//!
//! Owns the methods, one file each, and their shared parameters. Never knows modules: a package is a set of files.

mod address;
pub mod archive;
mod aws_credentials;
mod bucket;
mod checksum;
mod folder;
mod git;
mod hg;
mod netrc;
mod oci;
mod web;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use address::{Address, percent_decoded};
use archive::ArchiveKind;
pub use archive::ModuleLimits;
use base::env::{self, Environment};
use base::limits::Limit;
use base::secret::redacted;
use bucket::Bucket;
use net::http::{Client, Failure, FailureKind, Progress};

use crate::oci::OciClient;

/// Why a package did not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchError {
    Interrupted,
    /// For people; holds no secrets.
    Failed(String),
}

impl FetchError {
    fn new(text: impl Into<String>) -> FetchError {
        FetchError::Failed(text.into())
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchError::Interrupted => f.write_str("interrupted"),
            FetchError::Failed(text) => f.write_str(text),
        }
    }
}

impl From<Failure> for FetchError {
    fn from(failure: Failure) -> FetchError {
        match failure.kind {
            FailureKind::Stopped => FetchError::Interrupted,
            _ => FetchError::Failed(failure.to_string()),
        }
    }
}

impl From<std::io::Error> for FetchError {
    fn from(error: std::io::Error) -> FetchError {
        FetchError::Failed(error.to_string())
    }
}

/// What came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetched {
    Files,
    /// A link to a folder of the user's, which is not ours to check.
    Link,
}

/// Gets packages; shared by all that a command gets.
pub struct Fetcher {
    pub http: Client,
    pub environment: Environment,
    pub limits: ModuleLimits,
    oci: Arc<OciClient>,
}

impl Fetcher {
    pub fn new(http: Client, environment: Environment, oci: Arc<OciClient>) -> Fetcher {
        let mib = environment.non_empty(env::TERRANE_MODULE_SIZE_LIMIT).and_then(|text| text.parse::<u64>().ok());
        let limits = mib.map_or_else(ModuleLimits::default, |mib| ModuleLimits {
            bytes: mib.saturating_mul(1 << 20),
            ..ModuleLimits::default()
        });
        Fetcher { http, environment, limits, oci }
    }

    /// Brings the package at a normal address to `target`, whose parent folder exists and is on the disk where the package
    /// is to stay. `progress`: how far the download of an archive is.
    pub async fn fetch(&self, package: &str, target: &Path, progress: Progress<'_>) -> Result<Fetched, FetchError> {
        self.fetch_led(package, target, 0, progress).await
    }

    /// `led`: how many hosts have said by now that the package is elsewhere.
    async fn fetch_led(
        &self,
        package: &str,
        target: &Path,
        led: usize,
        progress: Progress<'_>,
    ) -> Result<Fetched, FetchError> {
        let mut address = Address::parse(package)?;
        let archive = address.take("archive");
        let names_kind = archive.clone().and_then(|name| ArchiveKind::of(Some(name), "")).is_some();
        let kind = ArchiveKind::of(archive, &address.url);
        let checksum = address.take("checksum");
        let shown = redacted(&address.to_string());
        let in_folder = |error: FetchError| match error {
            FetchError::Failed(why) => FetchError::Failed(format!("error downloading '{shown}': {why}")),
            interrupted => interrupted,
        };
        let method = address.method.clone();
        let single = match method.as_str() {
            "file" | "http" | "https" | "s3" | "gcs" => kind,
            "oci" if names_kind => return Err(FetchError::new(oci::ARCHIVE_ARGUMENT)),
            "git" | "hg" | "oci" => None,
            other => return Err(FetchError::new(format!("download not supported for scheme '{other}'"))),
        };
        if let Some(kind) = single {
            let file = self.file(&address, target, progress).await?;
            if let Some(wanted) = &checksum {
                self.check_file(wanted, file.path(), &address).await?;
            }
            self.unpack(kind, file.path(), target).await?;
            return Ok(Fetched::Files);
        }
        if checksum.is_some() {
            return Err(FetchError::new("checksum cannot be specified for directory download"));
        }
        match method.as_str() {
            "file" => folder::link(&address, target).map_err(in_folder),
            "git" => git::fetch(self, address, target).await.map_err(in_folder).map(|()| Fetched::Files),
            "hg" => hg::fetch(self, address, target).await.map_err(in_folder).map(|()| Fetched::Files),
            "oci" => oci::fetch(self, address, target, progress).await.map_err(in_folder).map(|()| Fetched::Files),
            "s3" | "gcs" => {
                let bucket = Bucket::open(self, &address).await.map_err(in_folder)?;
                bucket.folder(self, target).await.map_err(in_folder).map(|()| Fetched::Files)
            }
            _ => Box::pin(web::follow(self, &address, target, led, progress)).await.map_err(in_folder),
        }
    }

    async fn unpack(&self, kind: ArchiveKind, file: &Path, target: &Path) -> Result<(), FetchError> {
        let (path, place, limits) = (file.to_owned(), target.to_owned(), self.limits);
        let unpacked = tokio::task::spawn_blocking(move || archive::unpack(kind, &path, &place, limits)).await;
        unpacked.map_err(|e| FetchError::new(e.to_string()))?
    }

    /// How much is downloaded.
    fn limit(&self) -> Limit {
        Limit { bytes: self.limits.bytes, setting: Some(env::TERRANE_MODULE_SIZE_LIMIT) }
    }

    /// The one file that an address names, in a temporary place beside `target` if it has to be fetched.
    async fn file(&self, address: &Address, target: &Path, progress: Progress<'_>) -> Result<OneFile, FetchError> {
        if address.method == "file" {
            return folder::file(address).map(OneFile::There);
        }
        let bucket = match address.method.as_str() {
            "s3" | "gcs" => Some(Bucket::open(self, address).await?),
            _ => None,
        };
        let request = match &bucket {
            Some(bucket) => bucket.object().await?,
            None => web::request(self, address)?,
        };
        let beside = target.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new().prefix("download-").tempfile_in(beside)?;
        let shown = redacted(request.url.as_str());
        let noted = |have: u64, all: Option<u64>| {
            progress(have, all);
            if all == Some(have) || have % (16 << 20) < 16 << 10 {
                tracing::debug!("modules: {have} of {all:?} bytes of {shown}");
            }
        };
        let answer = self.http.download(&request, file.as_file_mut(), self.limit(), &noted).await?;
        match (answer.status.as_u16(), &bucket) {
            (200, _) => Ok(OneFile::Fetched(file)),
            (403, Some(bucket)) => Err(bucket.refused()),
            (status, _) => Err(FetchError::new(format!("bad response code: {status}"))),
        }
    }

    async fn check_file(&self, wanted: &str, file: &Path, address: &Address) -> Result<(), FetchError> {
        let name = address.url.rsplit('/').next().unwrap_or_default().to_owned();
        let wanted = match wanted.strip_prefix("file:") {
            None => checksum::Wanted::parse(wanted)?,
            Some(list) => {
                let list = Address::parse(list)?;
                let answer = self.http.send(&web::request(self, &list)?).await?;
                if answer.status.as_u16() != 200 {
                    return Err(FetchError::new(format!(
                        "Error downloading checksum file: bad response code: {}",
                        answer.status.as_u16()
                    )));
                }
                checksum::Wanted::in_list(&answer.text(), &name)?
            }
        };
        let file = file.to_owned();
        let checked = tokio::task::spawn_blocking(move || wanted.check(&file)).await;
        checked.map_err(|e| FetchError::new(e.to_string()))?
    }
}

enum OneFile {
    /// The user's own.
    There(std::path::PathBuf),
    Fetched(tempfile::NamedTempFile),
}

impl OneFile {
    fn path(&self) -> &Path {
        match self {
            OneFile::There(path) => path,
            OneFile::Fetched(file) => file.path(),
        }
    }
}
