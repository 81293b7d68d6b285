//! Installing what was decided: several providers at a time, each checked before it is used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use futures_util::StreamExt;
use model::addr::Provider;
use model::deps::hash::Scheme;
use model::deps::{Hash, Lock, LockedProvider, Version};
use model::version::compatible_version;
use net::http::Client;

use super::fetch::{self, Destination, Fetch};
use super::placed::{Placed, Problem};
use super::relay::{Relay, Reporter};
use super::resolve::{InstallPlan, Selection};
use super::{PACKAGES_DIR, SIDE_BY_SIDE, download};
use crate::authenticate::{Archive, Authentication, Step, checksum};
use crate::event::{FailedStep, InstallEvent};
use crate::package::cache::{Cache, Reservation};
use crate::package::contents::Limits;
use crate::package::stamp::Stamps;
use crate::package::{link, platform, relative_dir, runnable};
use crate::source::{Package, Source, SourceError};

/// Where to install to.
pub struct InstallInput<'a> {
    pub plan: &'a InstallPlan,
    pub source: &'a dyn Source,
    pub http: &'a Client,
    /// `.terraform` of the working directory.
    pub data_dir: &'a Path,
    /// A folder of packages shared between working directories.
    pub cache: Option<&'a Cache>,
    /// Use what the cache has even if the lock file knows no hash of it.
    pub cache_may_break_lock: bool,
    pub stamps: Arc<Stamps>,
    /// How large packages may be.
    pub limits: Limits,
}

/// Puts every selected package in its place and checks it. The lock holds what succeeded.
pub async fn install(input: &InstallInput<'_>, report: Reporter<'_>) -> (Lock, Diagnostics) {
    let selections: Vec<(&Provider, &Selection)> = input.plan.selections.iter().collect();
    let relay = Relay::new(report, selections.len());
    let work = selections.iter().enumerate().map(async |(slot, (provider, selection))| {
        let say = |event| relay.say(slot, event);
        let work = Work { input, provider, selection, say: &say };
        let result = work.run().await;
        let result = result.map(|placed| lock(provider, selection, placed, &say));
        if let Err(Problem::Failed(step, why)) = &result {
            let (provider, version) = ((*provider).clone(), selection.version.clone());
            say(InstallEvent::Failed { provider, version, step: *step, why: why.clone() });
        }
        relay.done(slot);
        result
    });
    let results: Vec<_> = futures_util::stream::iter(work).buffered(SIDE_BY_SIDE).collect().await;
    let mut lock = Lock { providers: input.plan.kept.clone() };
    let mut diags = Diagnostics::new();
    for ((provider, selection), result) in selections.into_iter().zip(results) {
        match result {
            Ok(locked) => {
                lock.providers.insert(provider.clone(), locked);
            }
            Err(problem) => diags.extend(worded(provider, selection, problem)),
        }
    }
    input.stamps.save();
    (lock, diags)
}

/// What the lock file is to hold of a provider.
fn lock(provider: &Provider, selection: &Selection, placed: Placed, say: &dyn Fn(InstallEvent)) -> LockedProvider {
    let mut hashes = selection.locked_hashes.clone();
    if !placed.known {
        say(InstallEvent::Locked {
            provider: provider.clone(),
            version: selection.version.clone(),
            local: vec![placed.local.clone()],
            signed: placed.signed.clone(),
            prior: hashes.iter().cloned().collect(),
        });
    }
    hashes.insert(placed.local);
    hashes.extend(placed.signed);
    LockedProvider {
        version: selection.version.clone(),
        constraints: selection.constraints.clone(),
        hashes,
        range: None,
    }
}

/// One provider on its way.
struct Work<'a> {
    pub input: &'a InstallInput<'a>,
    pub provider: &'a Provider,
    pub selection: &'a Selection,
    pub say: &'a (dyn Fn(InstallEvent) + Sync),
}

impl Work<'_> {
    async fn run(&self) -> Result<Placed, Problem> {
        if self.input.http.stop().is_stopping() {
            return Err(Problem::Interrupted);
        }
        let target = self.input.data_dir.join(PACKAGES_DIR).join(relative_dir(self.provider, self.version()));
        target.parent().into_iter().for_each(download::sweep);
        if let Some(local) = self.usable(&target).await {
            self.say_of(|provider, version| InstallEvent::AlreadyInstalled { provider, version });
            return Ok(Placed { local, signed: Vec::new(), known: true });
        }
        match self.input.cache {
            Some(cache) => self.install_from_cache(cache, &target).await,
            None => {
                let package = self.package().await?;
                self.say_of(|provider, version| InstallEvent::FetchStarted { provider, version });
                self.fetch(package, Destination::Own(target)).await
            }
        }
    }

    /// Links the package from the shared cache, once it is there.
    async fn install_from_cache(&self, cache: &Cache, target: &Path) -> Result<Placed, Problem> {
        let linked = |source: &Path| {
            link::link(source, target).map_err(|e| Problem::FromCache(e.to_string()))?;
            self.say_of(|provider, version| InstallEvent::LinkedFromCache { provider, version });
            Ok::<(), Problem>(())
        };
        let cached = cache.package_dir(self.provider, self.version());
        cached.parent().into_iter().for_each(download::sweep);
        if let Some(local) = self.cached(&cached).await {
            linked(&cached)?;
            return Ok(Placed { local, signed: Vec::new(), known: false });
        }
        let contended = || self.say_of(|provider, version| InstallEvent::CacheContended { provider, version });
        let reserved = cache.reserve(self.provider, self.version(), self.input.http.stop(), contended).await;
        let reservation = reserved.map_err(|e| Problem::package(FailedStep::Link, e))?;
        // Another process may have been faster.
        if let Some(local) = self.cached(&cached).await {
            linked(&cached)?;
            return Ok(Placed { local, signed: Vec::new(), known: false });
        }
        let package = self.package().await?;
        if let Some(placed) = self.as_good_as_fetched(&reservation, &package) {
            linked(&cached)?;
            return Ok(placed);
        }
        self.say_of(|provider, version| InstallEvent::FetchStarted { provider, version });
        let placed = self.fetch(package, Destination::Cache(reservation)).await?;
        link::link(&cached, target).map_err(Problem::link)?;
        Ok(placed)
    }

    /// The package of the cache whose archive is the very one that the source would send, by everything that the source
    /// vouches for: it need not be sent again.
    fn as_good_as_fetched(&self, reservation: &Reservation, package: &Package) -> Option<Placed> {
        let (local, archive) = reservation.origin(self.provider)?;
        let sha256 = checksum::parse(archive.value())?;
        let locked = &self.selection.locked_hashes;
        if !locked.is_empty() && !locked.contains(&local) && !locked.contains(&archive) {
            return None;
        }
        let found = package.steps.check(&Archive { path: reservation.dir(), sha256: &sha256 }).ok()?;
        if found == Authentication::Unauthenticated {
            return None;
        }
        let signed = package.lockable(&found, &local, &platform());
        Some(Placed { local, signed, known: false })
    }

    async fn package(&self) -> Result<Package, Problem> {
        Ok(self.input.source.package(self.provider, self.version(), &platform()).await?)
    }

    async fn fetch(&self, package: Package, place: Destination) -> Result<Placed, Problem> {
        let fetch = Fetch {
            provider: self.provider,
            version: self.version(),
            locked: &self.selection.locked_hashes,
            http: self.input.http,
            stamps: &self.input.stamps,
            limits: self.input.limits,
            say: self.say,
        };
        let (placed, authentication) = fetch.install(package, place).await?;
        self.say_of(|provider, version| InstallEvent::Fetched { provider, version, authentication });
        Ok(placed)
    }

    /// The hash of a package that is there already, if the lock file knows it.
    async fn usable(&self, dir: &Path) -> Option<Hash> {
        if self.selection.locked_hashes.is_empty() {
            return None;
        }
        self.hash_of(dir).await.filter(|hash| self.selection.locked_hashes.contains(hash))
    }

    /// As `usable`, for the shared cache: the user may not care for what is locked.
    async fn cached(&self, dir: &Path) -> Option<Hash> {
        match self.input.cache_may_break_lock {
            true => self.hash_of(dir).await,
            false => self.usable(dir).await,
        }
    }

    async fn hash_of(&self, dir: &Path) -> Option<Hash> {
        if !dir.is_dir() || runnable(dir, self.provider).is_err() {
            return None;
        }
        let (stamps, dir) = (self.input.stamps.clone(), PathBuf::from(dir));
        fetch::blocking(move || stamps.hash_of(&dir)).await.ok()?.ok()
    }

    fn version(&self) -> &Version {
        &self.selection.version
    }

    fn say_of(&self, make: impl FnOnce(Provider, Version) -> InstallEvent) {
        (self.say)(make(self.provider.clone(), self.version().clone()));
    }
}

/// The locked providers whose installed package matches the lock file: they need no requests.
pub async fn present(lock: &Lock, data_dir: &Path, stamps: &Arc<Stamps>) -> BTreeMap<Provider, Hash> {
    let look = lock.providers.iter().map(async |(provider, locked)| {
        let dir = data_dir.join(PACKAGES_DIR).join(relative_dir(provider, &locked.version));
        if !locked.hashes.iter().any(|hash| hash.scheme() == Some(Scheme::H1)) || !dir.is_dir() {
            return None;
        }
        runnable(&dir, provider).ok()?;
        let stamps = stamps.clone();
        let hash = fetch::blocking(move || stamps.hash_of(&dir)).await.ok()?.ok()?;
        locked.hashes.contains(&hash).then(|| (provider.clone(), hash))
    });
    let found: Vec<_> = futures_util::stream::iter(look).buffered(SIDE_BY_SIDE).collect().await;
    found.into_iter().flatten().collect()
}

fn worded(provider: &Provider, selection: &Selection, problem: Problem) -> Option<Diagnostic> {
    let (shown, version) = (provider.for_display(), &selection.version);
    let failed = |why: &dyn std::fmt::Display| {
        Diagnostic::error("Failed to install provider", format!("Error while installing {shown} v{version}: {why}"))
    };
    Some(match problem {
        // Said once, for all of them.
        Problem::Interrupted | Problem::Source(SourceError::Interrupted) => return None,
        Problem::Source(SourceError::PlatformNotSupported { mirror }) => wrong_platform(provider, version, mirror),
        Problem::Source(SourceError::ProtocolNotSupported { closest }) => wrong_protocol(provider, selection, closest),
        Problem::Source(other) => failed(&other),
        Problem::Failed(_, why) => failed(&why),
        Problem::FromCache(why) => Diagnostic::error(
            "Failed to install provider from shared cache",
            format!("Error while importing {shown} v{version} from the shared cache directory: {why}."),
        ),
    })
}

const INCOMPATIBLE_VERSION: &str = "Incompatible provider version";

fn wrong_platform(provider: &Provider, version: &Version, mirror: Option<String>) -> Diagnostic {
    let platform = platform();
    let detail = match mirror {
        None => format!(
            "Provider {provider} v{version} does not have a package available for your current platform, {platform}.\n\n\
             Provider releases are separate from {PROGRAM} CLI releases, so not all providers are available for all platforms. \
             Other versions of this provider may have different platforms supported."
        ),
        Some(mirror) => format!(
            "Your chosen provider mirror at {mirror} does not have a {provider} v{version} package available for your current \
             platform, {platform}.\n\nProvider releases are separate from {PROGRAM} CLI releases, so this provider might not \
             support your current platform. Alternatively, the mirror itself might have only a subset of the plugin packages \
             available in the origin registry, at {}.",
            provider.host
        ),
    };
    Diagnostic::error(INCOMPATIBLE_VERSION, detail)
}

fn wrong_protocol(provider: &Provider, selection: &Selection, closest: Option<Version>) -> Diagnostic {
    let (shown, version) = (provider.for_display(), &selection.version);
    let detail = match closest {
        None => format!("No compatible versions of provider {provider} were found."),
        Some(closest) => {
            let (advice, end) = match *version > closest {
                true => (
                    format!("You need to downgrade to v{closest} or earlier. Select it with the following constraint:"),
                    format!(
                        "Alternatively, upgrade to the latest version of {PROGRAM} for compatibility with newer provider releases."
                    ),
                ),
                false => (
                    format!(
                        "Provider version {closest} is the latest compatible version. Select it with the following version \
                         constraint:"
                    ),
                    String::new(),
                ),
            };
            let text = format!(
                "Provider {shown:?} v{version} is not compatible with {PROGRAM} {language}.\n{advice}\n\tversion = \
                 {:?}\n\n{PROGRAM} checked all of the plugin versions matching the given constraint:\n\t{}\n\nConsult the \
                 documentation for this provider for more information on compatibility between provider and {PROGRAM} \
                 versions.\n{end}",
                closest.to_string(),
                selection.constraints,
                language = compatible_version()
            );
            text
        }
    };
    Diagnostic::error(INCOMPATIBLE_VERSION, detail)
}
