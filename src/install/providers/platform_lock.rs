//! Hashes for the lock file of packages for any platform: each is looked at, none is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use futures_util::StreamExt;
use model::addr::Provider;
use model::deps::{Constraints, Hash, Lock, LockedProvider, Requirements, Version};
use net::http::Client;

use super::SIDE_BY_SIDE;
use super::fetch::blocking;
use super::inspect::Inspection;
use super::placed::Problem;
use super::relay::{Fleeting, Relay, Reporter};
use super::resolve::{decide, need};
use crate::event::{Change, LockEvent, Tracked};
use crate::package::hash;
use crate::source::{Source, SourceError};

/// What to lock.
pub struct PlatformLockInput<'a> {
    pub requirements: &'a Requirements,
    pub lock: &'a Lock,
    pub source: &'a dyn Source,
    pub http: &'a Client,
    /// `linux_amd64` and so on, in the order of the messages.
    pub platforms: &'a [String],
    /// Where downloads go for as long as they are looked at.
    pub folder: &'a Path,
    /// A folder of unpacked packages shared between working directories: what it has and the lock file knows is not fetched.
    pub cache_dir: Option<&'a Path>,
}

impl Fleeting for LockEvent {}

/// The lock with the hashes of every package, and what changed. With errors: None, and nothing is to be kept.
pub async fn lock_platforms(
    input: &PlatformLockInput<'_>,
    report: Reporter<'_, LockEvent>,
) -> (Option<(Lock, Vec<Tracked>)>, Diagnostics) {
    let mut wanted: Vec<_> = input.requirements.0.iter().filter(|(provider, _)| !provider.is_builtin()).collect();
    wanted.sort_by_key(|(provider, _)| provider.to_string());
    let asking = wanted.iter().map(|(provider, constraints)| version(input, provider, constraints));
    let versions: Vec<_> = futures_util::stream::iter(asking).buffered(SIDE_BY_SIDE).collect().await;
    let mut decided = Vec::new();
    let mut problems = Vec::new();
    for ((provider, constraints), version) in wanted.into_iter().zip(versions) {
        match version {
            Ok(version) => decided.push((provider, constraints, version)),
            Err(SourceError::Interrupted) => return (None, interrupted()),
            Err(problem) => problems.push((provider, problem.to_string())),
        }
    }
    if let (false, Some(platform)) = (problems.is_empty(), input.platforms.first()) {
        return (None, not_retrieved(platform, &problems).into());
    }
    let jobs: Vec<_> = input.platforms.iter().flat_map(|p| decided.iter().map(move |(d, _, v)| (p, *d, v))).collect();
    let relay = Relay::new(report, jobs.len());
    let work = jobs.iter().enumerate().map(async |(slot, (platform, provider, version))| {
        let inspection = Inspection { source: input.source, http: input.http, provider, version, platform };
        let result = hashes(input, &inspection, &|event| relay.say(slot, event)).await;
        relay.done(slot);
        result.map_err(|problem| (matches!(problem, Problem::Interrupted), inspection.worded(&problem)))
    });
    let results: Vec<_> = futures_util::stream::iter(work).buffered(SIDE_BY_SIDE).collect().await;
    let mut found: BTreeMap<(&Provider, &str), BTreeSet<Hash>> = BTreeMap::new();
    let mut failed: Vec<(&str, Vec<(&Provider, String)>)> = Vec::new();
    for ((platform, provider, _), result) in jobs.into_iter().zip(results) {
        match result {
            Ok(hashes) => {
                found.insert((provider, platform), hashes);
            }
            Err((true, _)) => return (None, interrupted()),
            Err((false, why)) => match failed.last_mut() {
                Some((last, problems)) if *last == platform => problems.push((provider, why)),
                _ => failed.push((platform, vec![(provider, why)])),
            },
        }
    }
    if !failed.is_empty() {
        return (None, failed.iter().map(|(platform, problems)| not_retrieved(platform, problems)).collect());
    }
    let mut lock = input.lock.clone();
    let mut tracked = Vec::new();
    for (provider, constraints, version) in decided {
        let of_platforms =
            input.platforms.iter().map(|p| (p.as_str(), found.remove(&(provider, p)).unwrap_or_default()));
        let locked = merge(provider, constraints, version, input.lock.get(provider), of_platforms, &mut tracked);
        lock.providers.insert(provider.clone(), locked);
    }
    (Some((lock, tracked)), Diagnostics::new())
}

async fn version(
    input: &PlatformLockInput<'_>,
    provider: &Provider,
    constraints: &Constraints,
) -> Result<Version, SourceError> {
    let need = need(provider, constraints, input.lock.get(provider), false)?;
    let available = input.source.versions(provider).await?;
    decide(&need, constraints, &available)
}

/// All hashes to be locked that are known from one platform's package.
async fn hashes(
    input: &PlatformLockInput<'_>,
    inspection: &Inspection<'_>,
    say: &(dyn Fn(LockEvent) + Sync),
) -> Result<BTreeSet<Hash>, Problem> {
    let (provider, version, platform) = (inspection.provider, inspection.version, inspection.platform);
    let package = || (provider.clone(), version.clone(), platform.to_owned());
    if let Some(cache) = input.cache_dir
        && let Some(locked) = input.lock.get(provider).filter(|locked| locked.version == *version)
    {
        let dir = inspection.cached(cache);
        let known = blocking(move || dir.is_dir().then(|| hash::of_dir(&dir).ok()).flatten()).await?;
        if let Some(known) = known.filter(|known| locked.hashes.contains(known)) {
            return Ok(BTreeSet::from([known]));
        }
    }
    let started = || {
        let (provider, version, platform) = package();
        say(LockEvent::FetchStarted { provider, version, platform });
    };
    let inspected = inspection.run(input.folder, input.cache_dir, &started).await?;
    let (provider, version, platform) = package();
    say(LockEvent::Fetched { provider, version, platform, authentication: inspected.authentication });
    Ok(inspected.lockable.into_iter().chain([inspected.local]).collect())
}

/// Adds what was found on each platform to what is locked.
fn merge<'a>(
    provider: &Provider,
    constraints: &Constraints,
    version: Version,
    locked: Option<&LockedProvider>,
    found: impl Iterator<Item = (&'a str, BTreeSet<Hash>)>,
    tracked: &mut Vec<Tracked>,
) -> LockedProvider {
    let before = locked.map(|locked| &locked.hashes);
    let mut hashes = before.cloned().unwrap_or_default();
    for (platform, of_platform) in found {
        let change = match before {
            None => Change::NewProvider,
            Some(before) if of_platform.is_subset(before) => Change::None,
            Some(_) => Change::NewHashes,
        };
        tracked.push(Tracked { provider: provider.clone(), platform: platform.to_owned(), change });
        hashes.extend(of_platform);
    }
    LockedProvider { version, constraints: constraints.clone(), hashes, range: None }
}

fn not_retrieved(platform: &str, problems: &[(&Provider, String)]) -> Diagnostic {
    let lines: Vec<String> = problems.iter().map(|(provider, why)| format!("- {provider}: {why}")).collect();
    Diagnostic::error(
        "Could not retrieve providers for locking",
        format!(
            "{PROGRAM} failed to fetch the requested providers for {platform} in order to calculate their checksums: some \
             providers could not be installed:\n{}.",
            lines.join("\n")
        ),
    )
}

fn interrupted() -> Diagnostics {
    Diagnostic::error("Locking was canceled by an interrupt signal.", "").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_all_platforms_are_kept() {
        let hashes = |texts: &[&str]| texts.iter().map(|text| Hash::parse(text).unwrap()).collect::<BTreeSet<_>>();
        let provider = Provider::new("example.com", "acme", "foo");
        let version = || Version::new(1, 0, 0);
        let locked = LockedProvider {
            version: version(),
            constraints: Constraints::default(),
            hashes: hashes(&["h1:a", "zh:a"]),
            range: None,
        };
        let found = || [("a", hashes(&["h1:a"])), ("b", hashes(&["h1:b", "zh:a"]))].into_iter();
        let run = |locked: Option<&LockedProvider>| {
            let mut tracked = Vec::new();
            let merged = merge(&provider, &Constraints::default(), version(), locked, found(), &mut tracked);
            (merged.hashes, tracked.iter().map(|t| t.change).collect::<Vec<_>>())
        };
        let all = hashes(&["h1:a", "h1:b", "zh:a"]);
        assert_eq!(run(Some(&locked)), (all.clone(), vec![Change::None, Change::NewHashes]));
        assert_eq!(run(None), (all, vec![Change::NewProvider, Change::NewProvider]));
    }
}
