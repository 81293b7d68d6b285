//! A folder of archives that serves as a mirror, on this machine as it is or behind any web server: archives as their
//! registries have them, and the documents that say which there are.
//!
//! Files are written atomically. The format of the documents is the protocol of network mirrors and must not change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::atomic;
use base::diag::{Diagnostic, Diagnostics};
use base::files::named;
use futures_util::StreamExt;
use model::addr::Provider;
use model::deps::{Constraints, Lock, Requirements, Version};
use net::http::{Client, Request};
use serde::Serialize;

use super::fetch::blocking;
use super::inspect::{Inspection, authenticate};
use super::placed::Problem;
use super::relay::{Fleeting, Relay, Reporter};
use super::{SIDE_BY_SIDE, download};
use crate::authenticate::Authentication;
use crate::event::{FailedStep, MirrorEvent};
use crate::package::archive;
use crate::source::filesystem::{Filesystem, archive_file};
use crate::source::{Package, PackageLocation, Source, SourceError};

/// What to put into which folder.
pub struct MirrorInput<'a> {
    pub requirements: &'a Requirements,
    /// Versions that are decided already.
    pub lock: &'a Lock,
    pub source: &'a dyn Source,
    pub http: &'a Client,
    /// `linux_amd64` and so on, in the order of the messages.
    pub platforms: &'a [String],
    pub target: &'a Path,
}

impl Fleeting for MirrorEvent {}

/// One piece of work, with the message before it.
struct Job<'a> {
    before: Vec<MirrorEvent>,
    /// None: there is nothing to do, or something is wrong already.
    package: Option<(&'a Provider, Version, &'a str)>,
    problem: Option<Diagnostic>,
}

const NOT_INDEXED: &str = "Failed to update indexes";

/// Brings the archives of all required providers to the folder, then makes its documents anew.
pub async fn mirror(input: &MirrorInput<'_>, report: Reporter<'_, MirrorEvent>) -> Diagnostics {
    let mut wanted: Vec<_> = input.requirements.0.iter().collect();
    wanted.sort_by_key(|(provider, _)| provider.to_string());
    let asking = wanted.iter().map(|(provider, constraints)| decided(input, provider, constraints));
    let versions: Vec<_> = futures_util::stream::iter(asking).buffered(SIDE_BY_SIDE).collect().await;
    let jobs: Vec<Job<'_>> =
        wanted.into_iter().zip(versions).flat_map(|((p, c), version)| jobs(input, p, c, version)).collect();
    let relay = Relay::new(report, jobs.len());
    let work = jobs.into_iter().enumerate().map(async |(slot, job)| {
        let say = |event| relay.say(slot, event);
        job.before.into_iter().for_each(&say);
        let mut problem = job.problem;
        if let Some((provider, version, platform)) = &job.package {
            let inspection = Inspection { source: input.source, http: input.http, provider, version, platform };
            problem = place_archive(input.target, &inspection, &say).await.err();
        }
        relay.done(slot);
        problem
    });
    let results: Vec<_> = futures_util::stream::iter(work).buffered(SIDE_BY_SIDE).collect().await;
    let mut diags: Diagnostics = results.into_iter().flatten().collect();
    if input.http.stop().is_stopping() {
        return Diagnostic::error("Mirroring was canceled by an interrupt signal.", "").into();
    }
    // The documents list the complete archives, also after errors.
    diags.extend(index(input.target).await);
    diags
}

/// A version, and whether it is the locked one. The error is for people.
async fn decided(
    input: &MirrorInput<'_>,
    provider: &Provider,
    constraints: &Constraints,
) -> Result<(Version, bool), String> {
    if let Some(locked) = input.lock.get(provider) {
        return Ok((locked.version.clone(), true));
    }
    if provider.is_builtin() {
        return Err(String::new());
    }
    let available = input.source.versions(provider).await.map_err(|e| e.to_string())?;
    let newest = constraints.newest(&available.versions).cloned();
    newest
        .map(|version| (version, false))
        .ok_or_else(|| format!("no releases match the given constraints {constraints}"))
}

fn jobs<'a>(
    input: &MirrorInput<'a>,
    provider: &'a Provider,
    constraints: &Constraints,
    version: Result<(Version, bool), String>,
) -> Vec<Job<'a>> {
    let job = |before| Job { before, package: None, problem: None };
    if provider.is_builtin() {
        return vec![job(vec![MirrorEvent::BuiltIn { provider: provider.clone() }])];
    }
    let mut before = vec![MirrorEvent::Started { provider: provider.clone() }];
    let (version, locked) = match version {
        Ok(decided) => decided,
        Err(why) => {
            let detail = format!("Failed to download {provider} from its origin registry: {why}.");
            let problem = Some(Diagnostic::error("Provider not available", detail));
            return vec![Job { problem, ..job(before) }];
        }
    };
    before.push(MirrorEvent::Selected { version: version.clone(), locked, constraints: constraints.clone() });
    let each = input.platforms.iter().map(|platform| {
        let package = Some((provider, version.clone(), platform.as_str()));
        Job { package, ..job(std::mem::take(&mut before)) }
    });
    each.collect()
}

/// Brings one archive to its place, unless it is there.
async fn place_archive(
    target: &Path,
    inspection: &Inspection<'_>,
    say: &(dyn Fn(MirrorEvent) + Sync),
) -> Result<(), Diagnostic> {
    let Inspection { provider, version, platform, .. } = inspection;
    let failed = |summary: &str, problem: Problem| {
        let why = inspection.worded(&problem);
        Diagnostic::error(summary, format!("Failed to download {provider} v{version} for {platform}: {why}."))
    };
    let fetching = || say(MirrorEvent::FetchStarted { platform: (*platform).to_owned() });
    let package = match inspection.source.package(provider, version, platform).await {
        Ok(package) => package,
        Err(problem) => {
            fetching();
            return Err(failed("Provider release not available", problem.into()));
        }
    };
    let folder = Filesystem::new(target).provider_dir(provider);
    let path = folder.join(archive_file(provider, version, platform));
    if let Some(authentication) = already_there(&package, &path).await {
        say(MirrorEvent::AlreadyThere { platform: (*platform).to_owned() });
        say(MirrorEvent::Authenticated { authentication });
        return Ok(());
    }
    fetching();
    let PackageLocation::Remote(url) = &package.location else {
        let why = SourceError::Failed("its source has no archive of it".to_owned());
        return Err(failed("Provider release not available", why.into()));
    };
    let unplaced = |problem| failed("Cannot download provider release", problem);
    let downloaded =
        download::download(inspection.http, &Request::get(url.clone()), &folder, &|_, _| {}).await.map_err(unplaced)?;
    match authenticate(&package, downloaded.file.path(), Some(downloaded.sha256)).await {
        Ok(authentication) => say(MirrorEvent::Authenticated { authentication }),
        Err(problem) => {
            let why = inspection.worded(&problem);
            let detail = format!("Failed to authenticate {provider} v{version} for {platform}: {why}.");
            return Err(Diagnostic::error("Invalid provider package", detail));
        }
    }
    let kept = blocking(move || keep(downloaded.file, &path)).await;
    kept.and_then(|kept| kept.map_err(|e| Problem::Failed(FailedStep::Link, e.to_string()))).map_err(unplaced)
}

/// What is known of an archive that is in its place, if it is the one that its registry has.
async fn already_there(package: &Package, path: &Path) -> Option<Authentication> {
    if package.steps.0.is_empty() || !path.is_file() {
        return None;
    }
    authenticate(package, path, None).await.ok()
}

/// Gives a downloaded file its name; every user may read it.
fn keep(file: tempfile::NamedTempFile, path: &Path) -> std::io::Result<()> {
    atomic::readable(file.as_file())?;
    file.as_file().sync_all().map_err(|e| named(e, "write", path))?;
    file.persist(path).map_err(|e| named(e.error, "write", path))?;
    Ok(())
}

#[derive(Serialize)]
struct MirrorIndex {
    versions: BTreeMap<String, Empty>,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct MirrorVersion {
    archives: BTreeMap<String, ArchiveEntry>,
}

#[derive(Serialize)]
struct ArchiveEntry {
    hashes: [String; 1],
    url: String,
}

/// Writes the documents of all providers with archives in the folder, including those of earlier runs.
async fn index(target: &Path) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let mirror = Filesystem::new(target);
    for provider in mirror.providers() {
        let folder = mirror.provider_dir(&provider);
        let archives =
            mirror.packages(&provider).into_iter().filter_map(|(version, platform, location)| match location {
                // Documents speak of what is beside them.
                PackageLocation::Archive(path) if path.parent() == Some(&folder) => Some((version, platform, path)),
                PackageLocation::Archive(_) => None,
                PackageLocation::Unpacked(_) | PackageLocation::Remote(_) | PackageLocation::Asked(_) => None,
            });
        let hashing = archives.map(|(version, platform, path)| async {
            let from = path.clone();
            let hash = blocking(move || archive::hashes_of(&from)).await;
            let hash = hash.and_then(|hashes| hashes.map_err(|e| Problem::Failed(FailedStep::Hash, e.to_string())));
            let hash = hash.map(|hashes| hashes.archive);
            (version, platform, path, hash)
        });
        let hashed: Vec<_> = futures_util::stream::iter(hashing).buffered(SIDE_BY_SIDE).collect().await;
        let mut documents: BTreeMap<String, MirrorVersion> = BTreeMap::new();
        for (version, platform, path, hash) in hashed {
            let hash = match hash {
                Ok(hash) => hash,
                Err(Problem::Failed(_, why)) => {
                    let detail =
                        format!("Failed to determine a hash value for {provider} v{version} on {platform}: {why}.");
                    diags.error(NOT_INDEXED, detail);
                    continue;
                }
                Err(_) => continue,
            };
            let url = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let document = documents.entry(version.to_string()).or_insert(MirrorVersion { archives: BTreeMap::new() });
            document.archives.insert(platform, ArchiveEntry { hashes: [hash.to_string()], url });
        }
        if let Err((path, why)) = write_documents(&folder, &documents) {
            diags.error(NOT_INDEXED, format!("Failed to write {}: {why}.", path.display()));
        }
    }
    diags
}

/// The list of versions last: what it names is there.
fn write_documents(
    folder: &Path,
    documents: &BTreeMap<String, MirrorVersion>,
) -> Result<(), (PathBuf, std::io::Error)> {
    if documents.is_empty() {
        return Ok(());
    }
    let write = |name: &str, text: serde_json::Result<String>| {
        let path = folder.join(name);
        let written = text.map_err(std::io::Error::other).and_then(|text| match std::fs::read(&path) {
            Ok(before) if before == text.as_bytes() => Ok(()),
            _ => atomic::write(&path, text.as_bytes()),
        });
        written.map_err(|e| (path, e))
    };
    for (version, document) in documents {
        write(&format!("{version}.json"), serde_json::to_string_pretty(document))?;
    }
    let index = MirrorIndex { versions: documents.keys().map(|version| (version.clone(), Empty {})).collect() };
    write("index.json", serde_json::to_string_pretty(&index))
}
