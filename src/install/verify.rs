//! Before any provider starts: does the lock file fit the configuration, and are the locked packages in place?

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fmt, io};

use base::diag::{Diagnostic, Diagnostics};
use base::name::{COMMAND, PROGRAM};
use model::addr::Provider;
use model::deps::{Hash, Lock, LockedProvider, Requirements, Version};

use super::package::stamp::Stamps;
use super::package::{relative_dir, runnable};
use super::providers::PACKAGES_DIR;

/// A package that may be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledPackage {
    pub version: Version,
    pub dir: PathBuf,
    pub executable: PathBuf,
    /// What caches of the package's schema are keyed by.
    pub hash: Hash,
}

/// The summary where the lock file does not fit the configuration.
pub const INCONSISTENT_LOCK: &str = "Inconsistent dependency lock file";

/// Reports requirements that the lock file does not meet. `unmanaged` are not locked.
pub fn check_lock(requirements: &Requirements, lock: &Lock, unmanaged: &BTreeSet<Provider>) -> Option<Diagnostic> {
    let problems = unmet(requirements, lock, unmanaged)?;
    let advice = match lock.is_empty() {
        true => {
            format!(
                "To make the initial dependency selections that will initialize the dependency lock file, run:\n  {COMMAND} init"
            )
        }
        false => {
            format!(
                "To update the locked dependency selections to match a changed configuration, run:\n  {COMMAND} init -upgrade"
            )
        }
    };
    let detail = format!(
        "The following dependency selections recorded in the lock file are inconsistent with the current \
         configuration:{problems}\n\n{advice}"
    );
    Some(Diagnostic::error(INCONSISTENT_LOCK, detail))
}

/// As [`check_lock`] for a saved plan, whose lock file must also have had the same versions and hashes.
pub fn check_planned_lock(
    requirements: &Requirements,
    planned: &Lock,
    lock: &Lock,
    unmanaged: &BTreeSet<Provider>,
) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    if let Some(problems) = unmet(requirements, lock, unmanaged) {
        let detail = format!(
            "The following dependency selections recorded in the lock file are inconsistent with the configuration in the \
             saved plan:{problems}\n\nA saved plan can be applied only to the same configuration it was created from. \
             Create a new plan from the updated configuration."
        );
        diagnostics.error(INCONSISTENT_LOCK, detail);
    }
    if !lock.same_packages(planned) {
        diagnostics.error(
            INCONSISTENT_LOCK,
            "The given plan file was created with a different set of external dependency selections than the current \
             configuration. A saved plan can be applied only to the same configuration it was created from.\n\nCreate a new \
             plan from the updated configuration.",
        );
    }
    diagnostics
}

/// The requirements that the lock file does not meet, as a list.
fn unmet(requirements: &Requirements, lock: &Lock, unmanaged: &BTreeSet<Provider>) -> Option<String> {
    let mut problems = Vec::new();
    let mut required: Vec<_> =
        requirements.0.iter().map(|(provider, all)| (provider.to_string(), provider, all)).collect();
    required.sort_by(|a, b| a.0.cmp(&b.0));
    for (name, provider, constraints) in required {
        if provider.is_builtin() || unmanaged.contains(provider) {
            continue;
        }
        let problem = match lock.get(provider) {
            None => "required by this configuration but no version is selected".to_owned(),
            Some(locked) if !constraints.allows(&locked.version) => format!(
                "locked version selection {} doesn't match the updated version constraints \"{constraints}\"",
                locked.version
            ),
            Some(_) => continue,
        };
        problems.push(format!("\n  - provider {name}: {problem}"));
    }
    (!problems.is_empty()).then(|| problems.concat())
}

/// Why a locked package cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageProblem {
    provider: Provider,
    version: Version,
    /// The folder of all packages.
    base: PathBuf,
    pub kind: ProblemKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    Missing,
    /// Its files do not have a hash that the lock file knows.
    NotLocked,
    /// So too, and they had one when they were last looked at.
    Changed {
        dir: PathBuf,
    },
    Unreadable(String),
    /// It has no executable, or one without execute permission.
    NotRunnable(String),
}

impl fmt::Display for PackageProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PackageProblem { provider, version, base, kind } = self;
        let base = base.display();
        match kind {
            ProblemKind::Missing => write!(f, "there is no package for {provider} {version} cached in {base}"),
            ProblemKind::NotLocked | ProblemKind::Changed { .. } => {
                write!(
                    f,
                    "the cached package for {provider} {version} (in {base}) does not match any of the checksums recorded in \
                     the dependency lock file"
                )?;
                match kind {
                    ProblemKind::Changed { dir } => {
                        write!(f, "; files in {} were changed after it was installed", dir.display())
                    }
                    _ => Ok(()),
                }
            }
            ProblemKind::Unreadable(why) => {
                write!(f, "failed to verify checksum of {provider} {version} package cached in {base}: {why}")
            }
            ProblemKind::NotRunnable(why) => f.write_str(why),
        }
    }
}

/// The packages of the required providers, and what is wrong with those that cannot be run. Packages are hashed only if
/// their files changed since they last were.
pub fn find_packages(
    requirements: &Requirements,
    lock: &Lock,
    data_dir: &Path,
) -> (BTreeMap<Provider, InstalledPackage>, BTreeMap<Provider, PackageProblem>) {
    let (mut packages, mut problems) = (BTreeMap::new(), BTreeMap::new());
    let stamps = Stamps::load(data_dir);
    let base = data_dir.join(PACKAGES_DIR);
    let of_packages = requirements.0.keys().filter(|p| !p.is_builtin());
    let locked: Vec<_> = of_packages.filter_map(|p| Some((p, lock.get(p)?))).collect();
    let dir = |(provider, locked): &(&Provider, &LockedProvider)| base.join(relative_dir(provider, &locked.version));
    let dirs: Vec<PathBuf> = locked.iter().map(dir).collect();
    let hashes = hash_all(&dirs, &stamps);
    for ((provider, locked), (dir, hash)) in locked.into_iter().zip(hashes) {
        match check(provider, locked, dir, hash, &stamps) {
            Ok(package) => drop(packages.insert(provider.clone(), package)),
            Err(kind) => {
                let (provider, version) = (provider.clone(), locked.version.clone());
                let problem = PackageProblem { provider: provider.clone(), version, base: base.clone(), kind };
                problems.insert(provider, problem);
            }
        }
    }
    stamps.save();
    (packages, problems)
}

/// The folders with the hashes of what is in them, None where there is nothing. Those that must be read are read side by side.
fn hash_all<'a>(dirs: &'a [PathBuf], stamps: &Stamps) -> Vec<(&'a Path, Option<io::Result<Hash>>)> {
    std::thread::scope(|scope| {
        let start = |dir: &'a PathBuf| match stamps.known(dir) {
            Some(hash) => Either::Known(Some(Ok(hash))),
            None if !dir.is_dir() => Either::Known(None),
            None => Either::Reading(scope.spawn(|| stamps.hash_of(dir))),
        };
        let started: Vec<_> = dirs.iter().map(|dir| (dir, start(dir))).collect();
        let finish = |hash| match hash {
            Either::Known(hash) => hash,
            Either::Reading(thread) => {
                Some(thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that reads it failed"))))
            }
        };
        started.into_iter().map(|(dir, hash)| (dir.as_path(), finish(hash))).collect()
    })
}

enum Either<'scope> {
    Known(Option<io::Result<Hash>>),
    Reading(std::thread::ScopedJoinHandle<'scope, io::Result<Hash>>),
}

fn check(
    provider: &Provider,
    locked: &LockedProvider,
    dir: &Path,
    hash: Option<io::Result<Hash>>,
    stamps: &Stamps,
) -> Result<InstalledPackage, ProblemKind> {
    let hash = hash.ok_or(ProblemKind::Missing)?.map_err(|e| ProblemKind::Unreadable(e.to_string()))?;
    if !locked.hashes.is_empty() && !locked.hashes.contains(&hash) {
        let changed = stamps.was(dir).iter().any(|hash| locked.hashes.contains(hash));
        return Err(if changed { ProblemKind::Changed { dir: dir.to_owned() } } else { ProblemKind::NotLocked });
    }
    let executable = runnable(dir, provider).map_err(|e| ProblemKind::NotRunnable(e.to_string()))?;
    Ok(InstalledPackage { version: locked.version.clone(), dir: dir.to_owned(), executable, hash })
}

/// The locked packages that cannot be run, in the words of `validate`.
pub fn corrupted(problems: &BTreeMap<Provider, PackageProblem>) -> Diagnostic {
    let texts: Vec<String> = problems.iter().map(|(provider, problem)| format!("{provider}: {problem}")).collect();
    let summary = match &texts[..] {
        [one] => one.clone(),
        all => format!("missing or corrupted provider plugins:\n  - {}", all.join("\n  - ")),
    };
    Diagnostic::error(summary, "")
}

/// The packages that cannot be run, as one error. `in_automation`: no user is there to run a command.
pub fn not_installed(problems: &BTreeMap<Provider, PackageProblem>, in_automation: bool) -> Diagnostic {
    let lines: Vec<String> =
        problems.iter().map(|(provider, problem)| format!("\n  - {provider}: {problem}")).collect();
    let advice = match in_automation {
        true => format!("You must install the required plugins before running {PROGRAM} operations."),
        false => format!("To download the plugins required for this configuration, run:\n  {COMMAND} init"),
    };
    Diagnostic::error(
        "Required plugins are not installed",
        format!(
            "The installed provider plugins are not consistent with the packages selected in the dependency lock \
             file:{}\n\n{PROGRAM} uses external plugins to integrate with a variety of different infrastructure services. {advice}",
            lines.concat()
        ),
    )
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use model::deps::Constraints;

    use super::*;

    const PROGRAM: &str = "terraform-provider-foo_v1.0.0";

    /// A data directory with one package, and what of it is locked.
    fn installed(mode: u32) -> (tempfile::TempDir, PathBuf, Requirements, Lock) {
        let data = tempfile::tempdir().unwrap();
        let (provider, version) = (Provider::default_for("foo"), Version::parse("1.0.0").unwrap());
        let dir = data.path().join(PACKAGES_DIR).join(relative_dir(&provider, &version));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(PROGRAM), "#!/bin/sh\n").unwrap();
        fs::set_permissions(dir.join(PROGRAM), fs::Permissions::from_mode(mode)).unwrap();
        let hash = crate::package::hash::of_dir(&dir).unwrap();
        // As an installation leaves it.
        let stamps = Stamps::load(data.path());
        stamps.note(&dir, &hash);
        stamps.save();
        let (mut requirements, mut lock) = (Requirements::default(), Lock::default());
        requirements.add(provider.clone(), Constraints::default());
        let hashes = [hash].into();
        let locked = LockedProvider { version, constraints: Constraints::default(), hashes, range: None };
        lock.providers.insert(provider, locked);
        (data, dir, requirements, lock)
    }

    /// What is wrong, with `BASE` for the folder of packages.
    fn problem(data: &Path, requirements: &Requirements, lock: &Lock) -> Option<(ProblemKind, String)> {
        let (packages, problems) = find_packages(requirements, lock, data);
        assert_eq!(packages.len() + problems.len(), 1);
        let base = data.join(PACKAGES_DIR).display().to_string();
        problems.into_values().next().map(|p| (p.kind.clone(), p.to_string().replace(&base, "BASE")))
    }

    #[test]
    fn missing_changed_and_not_runnable_are_three_problems() {
        let (data, dir, requirements, lock) = installed(0o755);
        let look = || problem(data.path(), &requirements, &lock);
        let name = "registry.terraform.io/hashicorp/foo";
        let not_locked = format!(
            "the cached package for {name} 1.0.0 (in BASE) does not match any of the checksums recorded in the dependency \
             lock file"
        );
        assert_eq!(look(), None);
        fs::write(dir.join(PROGRAM), "#!/bin/xh\n").unwrap();
        // Said each time, not only when it is found out.
        for _ in 0..2 {
            let (kind, text) = look().unwrap();
            assert_eq!(kind, ProblemKind::Changed { dir: dir.clone() });
            let place = dir.strip_prefix(data.path().join(PACKAGES_DIR)).unwrap().display();
            assert_eq!(text, format!("{not_locked}; files in BASE/{place} were changed after it was installed"));
        }
        fs::remove_file(data.path().join(crate::package::stamp::STAMP_FILE)).unwrap();
        assert_eq!(look(), Some((ProblemKind::NotLocked, not_locked)));
        fs::remove_dir_all(&dir).unwrap();
        let missing = format!("there is no package for {name} 1.0.0 cached in BASE");
        assert_eq!(look(), Some((ProblemKind::Missing, missing)));

        let (data, dir, requirements, lock) = installed(0o644);
        let (kind, _) = problem(data.path(), &requirements, &lock).unwrap();
        let why = format!("run {}: the file is not executable", dir.join(PROGRAM).display());
        assert_eq!(kind, ProblemKind::NotRunnable(why));
    }

    /// Recorded from the reference, 1.11.4.
    #[test]
    fn saved_plans_need_the_selections_that_they_were_made_with() {
        let lock = |entries: &[(&str, &str, &str)]| Lock {
            providers: entries
                .iter()
                .map(|(name, version, hash)| {
                    let locked = LockedProvider {
                        version: Version::parse(version).unwrap(),
                        constraints: Constraints::default(),
                        hashes: [Hash::parse(&format!("h1:{hash}")).unwrap()].into(),
                        range: None,
                    };
                    (Provider::default_for(name), locked)
                })
                .collect(),
        };
        let planned = lock(&[("a", "1.0.0", "x"), ("b", "1.0.0", "x")]);
        let mut requirements = Requirements::default();
        requirements.add(Provider::default_for("a"), Constraints::parse("1.0.0").unwrap());
        requirements.add(Provider::default_for("b"), Constraints::default());
        let other = "The given plan file was created with a different set of external dependency selections than the current \
                     configuration. A saved plan can be applied only to the same configuration it was created from.\n\nCreate \
                     a new plan from the updated configuration.";
        let unmet = |list: &str| {
            format!(
                "The following dependency selections recorded in the lock file are inconsistent with the configuration in the \
                 saved plan:{list}\n\nA saved plan can be applied only to the same configuration it was created from. Create \
                 a new plan from the updated configuration."
            )
        };
        let none = "\n  - provider registry.terraform.io/hashicorp/a: required by this configuration but no version is \
                    selected\n  - provider registry.terraform.io/hashicorp/b: required by this configuration but no version \
                    is selected";
        let newer = "\n  - provider registry.terraform.io/hashicorp/a: locked version selection 1.1.0 doesn't match the \
                     updated version constraints \"1.0.0\"";
        for (now, expected) in [
            (planned.clone(), vec![]),
            (Lock::default(), vec![unmet(none), other.to_owned()]),
            (lock(&[("a", "1.0.0", "x"), ("b", "1.1.0", "x")]), vec![other.to_owned()]),
            (lock(&[("a", "1.1.0", "x"), ("b", "1.0.0", "x")]), vec![unmet(newer), other.to_owned()]),
            (lock(&[("a", "1.0.0", "x"), ("b", "1.0.0", "y")]), vec![other.to_owned()]),
            (lock(&[("a", "1.0.0", "x"), ("b", "1.0.0", "x"), ("c", "1.0.0", "x")]), vec![other.to_owned()]),
        ] {
            let found = check_planned_lock(&requirements, &planned, &now, &BTreeSet::new());
            assert!(found.iter().all(|d| d.summary == INCONSISTENT_LOCK));
            let details: Vec<&str> = found.iter().map(|d| d.detail.as_str()).collect();
            assert_eq!(details, expected);
        }
    }

    #[test]
    fn one_broken_package_needs_no_list() {
        let gone = |name: &str| PackageProblem {
            provider: Provider::default_for(name),
            version: Version::parse("1.0.0").unwrap(),
            base: PathBuf::new(),
            kind: ProblemKind::NotRunnable("gone".to_owned()),
        };
        let of = |names: &[&str]| {
            let problems = names.iter().map(|name| (Provider::default_for(name), gone(name))).collect();
            corrupted(&problems).summary
        };
        assert_eq!(of(&["a"]), "registry.terraform.io/hashicorp/a: gone");
        let list = "missing or corrupted provider plugins:\n  - registry.terraform.io/hashicorp/a: gone\n  - \
                    registry.terraform.io/hashicorp/b: gone";
        assert_eq!(of(&["b", "a"]), list);
    }
}
